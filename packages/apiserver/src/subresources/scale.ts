// `/scale`: how many replicas there shall be, whatever the kind calls them (KB 45, 58).

import {
  cloneJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import {
  ageOf,
  apiVersionOf,
  failures,
  parentManagedFields,
  printLabelSelector,
  renderTable,
  scaleManagedFields,
  selectorFromObject,
  validateMetadata,
  pathSegmentNames,
  type ReplicasPaths,
} from "@keelson/kube";

import type { AnswerFormat } from "../encoding/answer-format.ts";
import { objectOf } from "../encoding/object-text.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import type { ResourceExchange } from "../http/exchange.ts";
import { metadataOf, metadataText, nameOf, ownMetadata, uidOf } from "../object-metadata.ts";
import type { Answerers } from "../resource-dispatch.ts";
import type { Resource, Subresource } from "../resources/resource.ts";
import { patcherOf, patchRequest } from "../verbs/patch.ts";
import { checkName, checkNamespace, sentObject } from "../verbs/sent-object.ts";
import { formatFor, type Verb, type Verbs } from "../verbs/verb.ts";
import { writeOptions, writeRequest } from "../verbs/write-options.ts";
import { updateObject } from "../writes/update-object.ts";
import { keyOf, ruleContext } from "../writes/write-request.ts";
import { scaleResource } from "./scale-resource.ts";

const get: Verb = async (verbs, exchange) => {
  const { resource, info, signal } = exchange;
  const { namespace, name } = info;
  const row = await verbs.store.get(keyOf({ resource, namespace, name }), signal);
  return answer(verbs, exchange, scaleOf(resource, objectOf(resource, row)));
};

const update: Verb = async (verbs, exchange) => {
  const options = writeOptions(exchange, "UpdateOptions");
  const scales = { ...exchange, resource: scaleResource(exchange.resource) };
  const sent = sentObject(verbs, scales, options);
  checkNamespace(scales, sent);
  checkName(scales, sent);
  const fields = scales.resource.model.fieldManager("scale");
  const { manager, isDryRun } = options;
  return write(verbs, exchange, {
    change: (scale) => {
      const { now } = ruleContext(verbs);
      return fields.update(scale, cloneJson(sent), { manager, now });
    },
    options: { manager, isDryRun },
  });
};

const patch: Verb = async (verbs, exchange) => {
  const scales = { ...exchange, resource: scaleResource(exchange.resource) };
  const request = patchRequest(scales);
  const change = patcherOf(verbs, scales, request);
  return write(verbs, exchange, { change, options: request.options });
};

/** The verbs of `/scale`, of any kind that has it. */
export const scale: Answerers = { get, update, patch };

interface ScaleWrite {
  readonly change: (scale: JsonObject) => JsonObject;
  readonly options: { readonly manager: string; readonly isDryRun: boolean };
}

/** Writes the parent through its scale. */
async function write(
  verbs: Verbs,
  exchange: ResourceExchange,
  { change, options }: ScaleWrite,
): Promise<Answer> {
  const { resource, info, signal } = exchange;
  const request = { ...writeRequest(exchange, options), subresource: "" };
  const written = await updateObject(
    verbs,
    request,
    {
      change: (live) => {
        if (live === undefined) throw failures.notFound(about(resource), info.name);
        return changedParent(resource, live, change);
      },
      mayCreate: false,
      isUnconditional: true,
    },
    signal,
  );
  return answer(verbs, exchange, scaleOf(resource, objectOf(resource, written)));
}

function changedParent(
  resource: Resource,
  live: JsonObject,
  change: (scale: JsonObject) => JsonObject,
): MutableJsonObject {
  const paths = replicasPaths(resource);
  const before = scaleOf(resource, live);
  const managedFields = scaleManagedFields(metadataOf(live)["managedFields"], paths);
  const { metadata } = before as { metadata: JsonObject };
  const managed: JsonObject = {
    ...before,
    metadata: managedFields === undefined ? metadata : { ...metadata, managedFields },
  };
  const after = change(managed);
  const replicas = replicasIn(after);
  const errors = [
    ...validateMetadata(metadataOf(after), {
      isNamespaced: resource.isNamespaced,
      nameRule: pathSegmentNames,
    }),
    // A custom kind has rules of its own for its number.
    ...(replicas < 0 && !resource.isCustom
      ? [
          {
            type: "FieldValueInvalid" as const,
            field: "spec.replicas",
            value: replicas,
            detail: "must be greater than or equal to 0",
          },
        ]
      : []),
  ];
  if (errors.length > 0) {
    throw failures.invalid({ group: "autoscaling", kind: "Scale" }, nameOf(live), errors);
  }
  const uid = uidOf(after);
  if (uid !== "" && uid !== uidOf(live)) {
    throw failures.conflict(
      about(resource),
      nameOf(live),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(live)}`,
    );
  }
  const parent = cloneJson(live);
  setAt(parent, pathsOf(resource).specReplicasPath, replicas);
  const own = ownMetadata(parent);
  own["resourceVersion"] = metadataText(after, "resourceVersion");
  const apiVersion = apiVersionOf(resource);
  const owners = parentManagedFields(
    metadataOf(live)["managedFields"],
    metadataOf(after)["managedFields"],
    { paths, apiVersion },
  );
  if (owners === undefined) delete own["managedFields"];
  else own["managedFields"] = owners as MutableJsonObject[];
  return parent;
}

function answer(verbs: Verbs, exchange: ResourceExchange, value: JsonObject): Answer {
  const format = formatFor(exchange);
  const shaped = format.shape === "table" ? scaleTable(value, format, verbs.clock.now()) : value;
  return {
    code: 200,
    contentType: contentTypeOf(format.mediaType),
    body: writeValue(shaped, format, verbs.codec),
  };
}

const shared = { format: "", description: "", priority: 0 } as const;
const columns = [
  { ...shared, name: "Name", type: "string" },
  { ...shared, name: "Desired", type: "integer" },
  { ...shared, name: "Available", type: "integer" },
  { ...shared, name: "Age", type: "string" },
];

function scaleTable(
  object: JsonObject,
  { includeObject, metaVersion }: AnswerFormat,
  nowMs: number,
): JsonObject {
  const cells = [
    nameOf(object),
    replicasIn(object),
    numberAt(object, "status.replicas"),
    ageOf(metadataText(object, "creationTimestamp"), nowMs),
  ];
  return renderTable({
    columns,
    rows: [{ cells, object }],
    metadata: { resourceVersion: metadataText(object, "resourceVersion") },
    includeObject,
    version: metaVersion,
  });
}

/** The scale of an object. */
function scaleOf(resource: Resource, object: JsonObject): JsonObject {
  const paths = pathsOf(resource);
  const replicas = numberAt(object, paths.specReplicasPath);
  const selector = selectorText(object, paths.labelSelectorPath);
  const metadata: Record<string, Json> = {};
  for (const name of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
    const text = metadataText(object, name);
    if (text !== "") metadata[name] = text;
  }
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(selector === "" ? {} : { selector }),
    },
  };
}

function selectorText(object: JsonObject, path: string | undefined): string {
  if (path === undefined) return "";
  const value = valueAt(object, path);
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return "";
  const isLabelSelector = "matchLabels" in value || "matchExpressions" in value;
  // A replication controller has the labels themselves.
  const selector = selectorFromObject(isLabelSelector ? value : { matchLabels: value });
  return selector === undefined ? "" : printLabelSelector(selector);
}

function pathsOf({ subresources }: Resource): NonNullable<Subresource["scale"]> {
  const paths = subresources.find(({ name }) => name === "scale")?.scale;
  if (paths === undefined) throw new Error("the kind has no scale");
  return paths;
}

function replicasPaths(resource: Resource): ReplicasPaths {
  const path = steps(pathsOf(resource).specReplicasPath);
  return new Map([[apiVersionOf(resource), path]]);
}

function steps(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const step of steps(path)) {
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

function numberAt(object: JsonObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}

function setAt(object: MutableJsonObject, path: string, value: number): void {
  const names = steps(path);
  const last = names.pop() ?? "";
  let target = object;
  for (const name of names) {
    const inner = target[name];
    if (isJsonObject(inner)) target = inner;
    else {
      const made: MutableJsonObject = {};
      target[name] = made;
      target = made;
    }
  }
  target[last] = value;
}

function replicasIn(scale: JsonObject): number {
  return numberAt(scale, "spec.replicas");
}

function about({ group, plural }: Resource): { readonly group: string; readonly resource: string } {
  return { group, resource: `${plural}/scale` };
}
