// What of a Pod that runs may change through endpoints of its own: containers to look into it, and what its
// containers may use.

import {
  cloneJson,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import {
  annotationsOf,
  has,
  listOf,
  maybeObject,
  objectOf,
  objectsOf,
  takeMember,
  textOf,
  writableObject,
  writableOrMade,
} from "../../../../object/members.ts";
import type { KindRules } from "../../../kind-rules.ts";
import { showInternalLines } from "../../internal-form.ts";
import { Place } from "../../place.ts";
import { semanticEqual } from "../../semantic-equal.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { mirrorKey } from "./annotations.ts";
import { dropDisabledFields } from "./dropped-fields.ts";
import { checkPod } from "./check-pod.ts";
import { optionsForUpdate } from "./pod-options.ts";
import { checkAnnotationUpdates } from "./pod-update.ts";
import { qosClass } from "./qos.ts";

/** A Pod at `/ephemeralcontainers`, which is updated as a status is: its spec is the old one but for that list. */
export const podEphemeralContainersRules: KindRules = {
  prepareForStatusUpdate: dropDisabled,
  validateStatusUpdate: (pod, old) => {
    const at = Place.root("spec");
    const options = { ...optionsForUpdate(old), isPod: true };
    checkPod(pod, at, options);
    checkAnnotationUpdates(pod, old, { at, options });
    if (isStatic(old)) return onlyForbidden("static pods do not support ephemeral containers");
    checkKeptContainers(pod, old, at.child("ephemeralContainers"));
    return at.errors;
  },
};

/** A Pod at `/resize`, which is updated as a status is: of the spec that was sent only sizes are taken. */
export const podResizeRules: KindRules = {
  prepareForStatusUpdate: (pod, old) => {
    keepAllButSizes(writableOrMade(pod, "spec"), objectOf(old, "spec"), pod);
    dropDisabled(pod, old);
  },
  validateStatusUpdate: (pod, old) => {
    const at = Place.root("spec");
    const [spec, before] = [objectOf(pod, "spec"), objectOf(old, "spec")];
    checkPod(pod, at, { ...optionsForUpdate(old), isPod: true });
    if (isStatic(old)) return onlyForbidden("static pods cannot be resized");
    if (textOf(objectOf(before, "os"), "name") === "windows") {
      return onlyForbidden("windows pods cannot be resized");
    }
    const oldClass = textOf(objectOf(old, "status"), "qosClass");
    if ((oldClass === "" ? qosClass(before) : oldClass) !== qosClass(spec)) {
      const shown = textOf(objectOf(pod, "status"), "qosClass");
      at.invalid(shown, "Pod QOS Class may not change as a result of resizing");
    }
    if (!isResizeSupported(old)) at.forbidden("Pod running on node without support for resize");
    checkPodSize(spec, before, at);
    if (listOf(objectOf(old, "status"), "nodeAllocatableResourceClaimStatuses").length > 0) {
      at.forbidden("pods with node allocatable resource claims cannot be resized");
    }
    if (isOrderKept(spec, before, at)) checkContainerSizes(spec, before, at);
    if (at.errors.length === 0 && hasOtherSize(spec, before)) at.forbidden(onlySizes);
    return at.errors;
  },
};

const onlySizes = "only cpu and memory resources are mutable";
const sizes: readonly string[] = ["cpu", "memory"];
const lists = ["containers", "initContainers"] as const;

function dropDisabled(pod: MutableJsonObject, old: JsonObject): void {
  const spec = writableObject(pod, "spec");
  if (spec !== undefined) dropDisabledFields(spec, objectOf(old, "spec"));
}

function isStatic(pod: JsonObject): boolean {
  return has(annotationsOf(pod), mirrorKey);
}

/** The real server then says nothing else, and of no place. */
function onlyForbidden(detail: string): Place["errors"] {
  return [{ type: "FieldValueForbidden", field: "[]", detail }];
}

function checkKeptContainers(pod: JsonObject, old: JsonObject, at: Place): void {
  const listed = objectsOf(objectOf(pod, "spec"), "ephemeralContainers");
  const byName = new Map(listed.map((container) => [textOf(container, "name"), container]));
  for (const before of objectsOf(objectOf(old, "spec"), "ephemeralContainers")) {
    const name = textOf(before, "name");
    const now = byName.get(name);
    const existing = `existing ephemeral containers ${quote(name)}`;
    if (now === undefined) at.forbidden(`${existing} may not be removed\n`);
    else if (!semanticEqual(now, before)) {
      const [from = "", to = ""] = [before, now].map((own) =>
        showInternalLines("core.EphemeralContainer", own),
      );
      at.forbidden(`${existing} may not be changed\n${unifiedDiff(from, to)}`);
    }
  }
}

/** Where containers came, went or changed places the spec stays as it was sent, so that the rules can say so. */
function keepAllButSizes(spec: MutableJsonObject, old: JsonObject, pod: MutableJsonObject): void {
  const isAsMany = lists.every(
    (list) => objectsOf(spec, list).length === objectsOf(old, list).length,
  );
  if (!isAsMany) return;
  const kept = cloneJson(old);
  takeMember(kept, spec, "resources");
  for (const list of lists) kept[list] = sizedContainers(spec, old, list);
  for (const list of lists) if (!has(old, list)) delete kept[list];
  pod["spec"] = kept;
}

function sizedContainers(spec: JsonObject, old: JsonObject, list: string): MutableJson[] {
  const [containers, before] = [objectsOf(spec, list), objectsOf(old, list)];
  const nameAt = (index: number): string => textOf(before[index] ?? {}, "name");
  if (containers.some((container, index) => textOf(container, "name") !== nameAt(index))) {
    return cloneJson(containers) as MutableJson[];
  }
  return before.map((container, index) => {
    const copy = cloneJson(container);
    for (const name of ["resources", "resizePolicy"])
      takeMember(copy, containers[index] ?? {}, name);
    return copy;
  });
}

/** By what its node has said of a container that runs. */
function isResizeSupported(old: JsonObject): boolean {
  const running = objectsOf(objectOf(old, "status"), "containerStatuses").find((own) =>
    has(objectOf(own, "state"), "running"),
  );
  return running === undefined || has(running, "resources");
}

function checkPodSize(spec: JsonObject, old: JsonObject, at: Place): void {
  const [now, before] = [maybeObject(spec, "resources"), maybeObject(old, "resources")];
  if (!isSized(now) && !isSized(before)) return;
  if (before !== undefined && now === undefined) {
    at.child("resources").forbidden("pod-level resources cannot be removed");
    return;
  }
  for (const kind of before === undefined ? [] : (["requests", "limits"] as const)) {
    if (isRemoved(objectOf(now ?? {}, kind), objectOf(before ?? {}, kind))) {
      at.child("resources").child(kind).forbidden(`pod-level resource ${kind} cannot be removed`);
    }
  }
  if (!isSameButSizes(now, before)) at.forbidden(`${onlySizes} at pod-level`);
}

function isSized(resources: JsonObject | undefined): boolean {
  return ["requests", "limits"].some(
    (kind) => Object.keys(objectOf(resources ?? {}, kind)).length > 0,
  );
}

function isRemoved(amounts: JsonObject, old: JsonObject): boolean {
  return Object.keys(old).some((name) => !has(amounts, name));
}

/** Whether resources are the old ones but for how much of processor and memory. */
function isSameButSizes(now: JsonObject | undefined, before: JsonObject | undefined): boolean {
  const rest = (resources: JsonObject | undefined, kind: string): JsonObject =>
    Object.fromEntries(
      Object.entries(objectOf(resources ?? {}, kind)).filter(([name]) => !sizes.includes(name)),
    );
  const isSame = ["requests", "limits"].every((kind) =>
    semanticEqual({ [kind]: rest(now, kind) }, { [kind]: rest(before, kind) }),
  );
  return isSame && semanticEqual(listOf(now ?? {}, "claims"), listOf(before ?? {}, "claims"));
}

function isOrderKept(spec: JsonObject, old: JsonObject, at: Place): boolean {
  let isKept = true;
  for (const list of lists) {
    const [containers, before] = [objectsOf(spec, list), objectsOf(old, list)];
    if (containers.length !== before.length) {
      isKept = false;
      at.child(list).forbidden(`${list} may not be added or removed on resize`);
      continue;
    }
    for (const [index, container] of before.entries()) {
      if (textOf(container, "name") === textOf(containers[index] ?? {}, "name")) continue;
      isKept = false;
      const detail = `${list} may not be renamed or reordered on resize`;
      at.child(list).item(index).child("name").forbidden(detail);
    }
  }
  return isKept;
}

function checkContainerSizes(spec: JsonObject, old: JsonObject, at: Place): void {
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, before] of objectsOf(old, list).entries()) {
      const now = objectsOf(spec, list)[index] ?? {};
      for (const kind of ["requests", "limits"] as const) {
        const [amounts, was] = [now, before].map((own) =>
          objectOf(objectOf(own, "resources"), kind),
        );
        if (!isRemoved(amounts ?? {}, was ?? {})) continue;
        const place = at.child(list).item(index).child("resources").child(kind);
        place.forbidden(`resource ${kind} cannot be removed`);
      }
    }
  }
  for (const list of lists) {
    for (const [index, before] of objectsOf(old, list).entries()) {
      const now = objectsOf(spec, list)[index] ?? {};
      if (list === "containers") {
        if (!hasOnlyNewSizes(now, before)) at.forbidden(onlySizes);
      } else checkInitSize(now, before, at.child(list).item(index));
    }
  }
}

function checkInitSize(container: JsonObject, old: JsonObject, at: Place): void {
  if (!hasOnlyNewSizes(container, old)) {
    at.forbidden("only cpu and memory resources for init or sidecar containers are mutable");
  }
  if (semanticEqual(container, old) || textOf(container, "restartPolicy") === "Always") return;
  for (const policy of objectsOf(container, "resizePolicy")) {
    if (textOf(policy, "restartPolicy") !== "RestartContainer") continue;
    at.forbidden(
      "non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    );
  }
}

/** Claims are never the same: the real server leaves them out of what it compares with the old ones. */
function hasOnlyNewSizes(container: JsonObject, old: JsonObject): boolean {
  const [now, before] = [objectOf(container, "resources"), objectOf(old, "resources")];
  return (
    listOf(before, "claims").length === 0 &&
    isSameButSizes({ ...now, claims: [] }, before) &&
    semanticEqual(listOf(container, "resizePolicy"), listOf(old, "resizePolicy"))
  );
}

/** Resources of the Pod itself that say nothing still differ from none. */
function hasOtherSize(spec: JsonObject, old: JsonObject): boolean {
  const [now, before] = [maybeObject(spec, "resources"), maybeObject(old, "resources")];
  if (isSized(now) || isSized(before)) return false;
  return !semanticEqual(now, before);
}
