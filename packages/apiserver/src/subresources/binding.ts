// `pods/binding`: a scheduler gives a pod its node.

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import { failures, memberOf } from "@keelson/kube";

import type { ResourceExchange } from "../http/exchange.ts";
import {
  isTerminating,
  metadataOf,
  metadataText,
  ownMetadata,
  uidOf,
  nameOf,
} from "../object-metadata.ts";
import type { Answerers } from "../resource-dispatch.ts";
import type { Registry } from "../resources/registry.ts";
import { updateObject } from "../writes/update-object.ts";
import { ruleContext } from "../writes/write-request.ts";
import type { Answer } from "../http/answer.ts";
import type { Verbs } from "../verbs/verb.ts";
import { writeOptions, writeRequest } from "../verbs/write-options.ts";
import { creationFormat, namedBody, sentBody, successAnswer, type BodyKind } from "./body.ts";

/** The verbs of `pods/binding`. */
export function binding(kind: BodyKind): Answerers {
  return { create: (verbs, exchange) => bind(verbs, exchange, kind) };
}

/** The same by the older way: a `bindings` resource of its own, where the body names the pod. */
export function legacyBinding(registry: Registry, kind: BodyKind): Answerers {
  return {
    create: (verbs, exchange) => {
      const resource = registry.find("", "v1", "pods");
      if (resource === undefined) throw failures.resourceNotFound();
      // What there is to warn of is said when the body is read again, to bind.
      const options = { fieldValidation: "Ignore" } as const;
      const name = nameOf(sentBody(verbs, exchange, { kind, options }));
      return bind(verbs, { ...exchange, resource, info: { ...exchange.info, name } }, kind);
    },
  };
}

async function bind(verbs: Verbs, exchange: ResourceExchange, kind: BodyKind): Promise<Answer> {
  const format = creationFormat(exchange);
  const options = writeOptions(exchange, "CreateOptions");
  const binding = namedBody(verbs, exchange, { kind, options });
  const node = targetOf(binding);
  const revision = metadataText(binding, "resourceVersion");
  const { now } = ruleContext(verbs);
  await updateObject(
    verbs,
    { ...writeRequest(exchange, options), subresource: "binding" },
    {
      change: (live) => {
        if (live === undefined) throw failures.notFound(pods, exchange.info.name);
        const pod = bound(exchange, live, { binding, node, now });
        if (revision !== "") ownMetadata(pod)["resourceVersion"] = revision;
        return pod;
      },
      mayCreate: false,
      uid: uidOf(binding),
      isUnconditional: true,
    },
    exchange.signal,
  );
  return successAnswer(verbs, format);
}

const pods = { group: "", resource: "pods" };

function targetOf(binding: JsonObject): string {
  const target = memberOf(binding, "target");
  const kind = isJsonObject(target) ? memberOf(target, "kind") : undefined;
  const name = isJsonObject(target) ? memberOf(target, "name") : undefined;
  if (kind !== undefined && kind !== "" && kind !== "Node") {
    throw failures.invalid({ group: "", kind: "Binding" }, metadataText(binding, "name"), [
      {
        type: "FieldValueNotSupported",
        field: "target.kind",
        value: kind,
        detail: 'supported values: "Node", "<empty>"',
      },
    ]);
  }
  if (typeof name !== "string" || name === "") {
    throw failures.invalid({ group: "", kind: "Binding" }, metadataText(binding, "name"), [
      { type: "FieldValueRequired", field: "target.name", detail: "" },
    ]);
  }
  return name;
}

function bound(
  { info }: ResourceExchange,
  live: JsonObject,
  {
    binding,
    node,
    now,
  }: { readonly binding: JsonObject; readonly node: string; readonly now: string },
): MutableJsonObject {
  const refuse = (why: string): Error =>
    failures.conflict({ group: "", resource: "pods/binding" }, info.name, why);
  if (isTerminating(live)) {
    throw refuse(`pod ${info.name} is being deleted, cannot be assigned to a host`);
  }
  const pod = cloneJson(live);
  const spec = pod["spec"];
  if (!isJsonObject(spec)) throw refuse(`pod ${info.name} has no spec`);
  const { nodeName, schedulingGates } = spec;
  if (typeof nodeName === "string" && nodeName !== "") {
    throw refuse(`pod ${info.name} is already assigned to node ${JSON.stringify(nodeName)}`);
  }
  if (isJsonArray(schedulingGates) && schedulingGates.length > 0) {
    throw refuse(`pod ${info.name} has non-empty .spec.schedulingGates`);
  }
  spec["nodeName"] = node;
  for (const name of ["annotations", "labels"]) {
    const added = memberOf(metadataOf(binding), name);
    if (!isJsonObject(added)) continue;
    const own = ownMetadata(pod)[name];
    ownMetadata(pod)[name] = { ...(isJsonObject(own) ? own : {}), ...cloneJson(added) };
  }
  setScheduled(pod, now);
  return pod;
}

function setScheduled(pod: MutableJsonObject, now: string): void {
  const status = isJsonObject(pod["status"]) ? pod["status"] : {};
  const conditions = isJsonArray(status["conditions"]) ? status["conditions"] : [];
  const others = conditions.filter((one) => !isJsonObject(one) || one["type"] !== "PodScheduled");
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  pod["status"] = { ...status, conditions: [...others, scheduled] };
}
