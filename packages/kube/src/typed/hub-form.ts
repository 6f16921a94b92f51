// What the way through the server's own form changes: an API server in Go converts every object to a form without
// version and back, and a few fields do not come back as they went.

import { isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { MutableJson, MutableJsonObject } from "@keelson/base";

import type { GoStruct } from "../kinds/go-struct.ts";
import { encodeText } from "../go-text/base64.ts";
import { quote } from "../go-text/quote.ts";
import { autoscalerAnnotations } from "./convert/autoscaler.ts";
import { TypedDecodeError } from "./decode-error.ts";
import { isUnset, objectAt, objectsAt } from "./defaults/default-rule.ts";
import { compileWalk, type NamedType, type StructRule } from "./struct-walk.ts";

/** What the conversions change in an object of a kind; undefined if nothing. */
export function hubForm(
  kind: NamedType,
  structOf: (type: string) => GoStruct,
): StructRule<unknown> | undefined {
  return compileWalk<unknown>(kind.type, { structOf, ruleAt: ({ type }) => rules.get(type) });
}

const rules: ReadonlyMap<string, StructRule<unknown>> = new Map(
  Object.entries({
    "core.v1.Pod": (pod) => {
      dropAnnotations(pod, initContainerAnnotations);
      const spec = objectAt(pod, "spec");
      const seconds = spec?.["terminationGracePeriodSeconds"];
      const isNegative =
        (typeof seconds === "number" || typeof seconds === "bigint") && seconds < 0;
      if (spec !== undefined && isNegative) spec["terminationGracePeriodSeconds"] = 1;
    },
    "core.v1.PodTemplateSpec": (template) => dropAnnotations(template, initContainerAnnotations),
    "core.v1.PodSpec": (spec) => {
      const account = isUnset(spec, "serviceAccountName")
        ? spec["serviceAccount"]
        : spec["serviceAccountName"];
      // Two names for one field; the newer one counts.
      if (account !== undefined) {
        spec["serviceAccountName"] = account;
        spec["serviceAccount"] = account;
      }
      spec["securityContext"] ??= {};
    },
    "core.v1.PodStatus": (status) =>
      alignFirst(status, {
        single: "podIP",
        several: "podIPs",
        read: (item) => (isJsonObject(item) ? item["ip"] : undefined),
        write: (ip) => ({ ip }),
      }),
    "core.v1.NodeSpec": (spec) =>
      alignFirst(spec, {
        single: "podCIDR",
        several: "podCIDRs",
        read: (range) => range,
        write: (range) => range,
      }),
    "core.v1.Secret": (secret) => {
      const texts = objectAt(secret, "stringData");
      if (texts === undefined) return;
      delete secret["stringData"];
      const data = objectAt(secret, "data") ?? {};
      for (const [key, text] of Object.entries(texts)) {
        setMember(data, key, encodeText(typeof text === "string" ? text : ""));
      }
      if (Object.keys(data).length > 0) secret["data"] = data;
    },
    "apps.v1.Deployment": (deployment) => {
      const annotations = objectAt(deployment, "metadata", "annotations");
      const revision = annotations?.[rollbackAnnotation];
      if (annotations === undefined || typeof revision !== "string") return;
      if (revision === "") {
        dropAnnotations(deployment, [rollbackAnnotation]);
        return;
      }
      annotations[rollbackAnnotation] = canonicalInteger(
        revision,
        `failed to parse annotation[${rollbackAnnotation}]=${revision} as int64: `,
      );
    },
    "apps.v1.DaemonSet": (daemonSet) => {
      const metadata = objectAt(daemonSet, "metadata");
      if (metadata === undefined) return;
      const annotations = objectAt(metadata, "annotations") ?? {};
      const generation = annotations[templateAnnotation];
      annotations[templateAnnotation] =
        typeof generation === "string" ? canonicalInteger(generation, "") : "0";
      metadata["annotations"] = annotations;
    },
    "apps.v1.RollingUpdateDeployment": zeroLimits,
    "apps.v1.RollingUpdateDaemonSet": zeroLimits,
    "apps.v1.StatefulSetSpec": (spec) => {
      for (const claim of objectsAt(spec, "volumeClaimTemplates")) {
        claim["kind"] = "PersistentVolumeClaim";
        claim["apiVersion"] = "v1";
      }
    },
    "autoscaling.v2.HorizontalPodAutoscaler": (autoscaler) =>
      dropAnnotations(autoscaler, Object.values(autoscalerAnnotations)),
    "apiextensions.v1.CustomResourceConversion": (conversion) => {
      const webhook = objectAt(conversion, "webhook");
      if (webhook === undefined || objectAt(webhook, "clientConfig") !== undefined) return;
      if (!isJsonArray(webhook["conversionReviewVersions"])) delete conversion["webhook"];
    },
  } satisfies Readonly<Record<string, StructRule<unknown>>>),
);

const initContainerAnnotations = [
  "pod.beta.kubernetes.io/init-containers",
  "pod.alpha.kubernetes.io/init-containers",
  "pod.beta.kubernetes.io/init-container-statuses",
  "pod.alpha.kubernetes.io/init-container-statuses",
];
/** Fields of old versions, which v1 shows as annotations. */
export const rollbackAnnotation = "deprecated.deployment.rollback.to";
export const templateAnnotation = "deprecated.daemonset.template.generation";

function dropAnnotations(object: MutableJsonObject, names: readonly string[]): void {
  const metadata = objectAt(object, "metadata");
  const annotations = objectAt(metadata, "annotations");
  if (metadata === undefined || annotations === undefined) return;
  let isChanged = false;
  for (const name of names) {
    if (!Object.hasOwn(annotations, name)) continue;
    delete annotations[name];
    isChanged = true;
  }
  if (isChanged && Object.keys(annotations).length === 0) delete metadata["annotations"];
}

/** No pointers in the server's own form: nothing becomes zero. */
function zeroLimits(rolling: MutableJsonObject): void {
  rolling["maxUnavailable"] ??= 0;
  rolling["maxSurge"] ??= 0;
}

interface Pair {
  readonly single: string;
  readonly several: string;
  /** The value of an item of the list, and the item for a value. */
  readonly read: (item: MutableJson) => MutableJson | undefined;
  readonly write: (value: string) => MutableJson;
}

/** A field for one value and a list for several: the first of the list is the one; where they differ, the one counts. */
function alignFirst(struct: MutableJsonObject, { single, several, read, write }: Pair): void {
  const value = struct[single];
  const list = struct[several];
  const item = isJsonArray(list) ? list[0] : undefined;
  const first = item === undefined ? undefined : read(item);
  if (typeof value === "string" && value !== "" && value !== first) {
    struct[several] = [write(value)];
  } else if (first !== undefined && first !== "") {
    struct[single] = first;
  }
}

/** A 64-bit integer in Go's own text; anything else ends the decoding. */
function canonicalInteger(text: string, prefix: string): string {
  const failure = (why: string): TypedDecodeError =>
    new TypedDecodeError(`${prefix}strconv.ParseInt: parsing ${quote(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw failure("invalid syntax");
  const digits = text.replace(/^([+-]?)0+(?=\d)/, "$1").replace(/^\+/, "");
  if (digits.length > 20) throw failure("value out of range");
  const integer = BigInt(digits);
  if (BigInt.asIntN(64, integer) !== integer) throw failure("value out of range");
  return String(integer);
}
