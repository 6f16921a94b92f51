// The three lists of containers of a Pod.

import type { JsonObject } from "@keelson/base";

import {
  has,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  listOf,
  textOf,
} from "../../../../object/members.ts";
import type { Place } from "../../place.ts";
import { checkContainer, checkImageSpaces, type ContainerSurroundings } from "./container.ts";
import { checkLifecycle, checkProbes } from "./probes.ts";

export function checkContainers(spec: JsonObject, at: Place, pod: ContainerSurroundings): void {
  const containers = objectsOf(spec, "containers");
  if (containers.length === 0) {
    at.required();
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    if (at.isFull) break;
    const place = at.item(index);
    checkContainer(container, place, pod);
    const name = textOf(container, "name");
    if (names.has(name)) place.child("name").duplicate(name);
    names.add(name);
    checkLifecycle(container, place, pod.gracePeriod);
    checkProbes(container, place, pod.gracePeriod);
    checkRestartRules(container, place);
  }
  checkHostPorts(containers, at);
}

export function checkInitContainers(spec: JsonObject, at: Place, pod: ContainerSurroundings): void {
  const containers = objectsOf(spec, "initContainers");
  if (containers.length === 0) return;
  const names = new Set(
    objectsOf(spec, "containers").map((container) => textOf(container, "name")),
  );
  for (const [index, container] of containers.entries()) {
    if (at.isFull) break;
    const place = at.item(index);
    checkContainer(container, place, pod);
    checkInitRestart(container, place);
    const name = textOf(container, "name");
    if (names.has(name)) place.child("name").duplicate(name);
    else if (name !== "") names.add(name);
    checkHostPorts([container], at);
    const isSidecar = textOf(container, "restartPolicy") === "Always";
    if (isSidecar) {
      checkLifecycle(container, place, pod.gracePeriod);
      checkProbes(container, place, pod.gracePeriod);
      continue;
    }
    for (const member of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
      if (has(container, member)) {
        place
          .child(member)
          .forbidden("may not be set for init containers without restartPolicy=Always");
      }
    }
    if (pod.options.allowRestartOnInitResize) continue;
    for (const [position, policy] of objectsOf(container, "resizePolicy").entries()) {
      if (textOf(policy, "restartPolicy") === "RestartContainer") {
        place
          .child("resizePolicy")
          .item(position)
          .child("restartPolicy")
          .invalid(
            "RestartContainer",
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          );
      }
    }
  }
}

export function checkEphemeralContainers(
  spec: JsonObject,
  at: Place,
  pod: ContainerSurroundings,
): void {
  const containers = objectsOf(spec, "ephemeralContainers");
  if (containers.length === 0) return;
  const others = new Set(
    ["containers", "initContainers"].flatMap((list) =>
      objectsOf(spec, list).map((container) => textOf(container, "name")),
    ),
  );
  const names = new Set(others);
  for (const [index, container] of containers.entries()) {
    if (at.isFull) break;
    const place = at.item(index);
    checkContainer(container, place, pod);
    checkImageSpaces(container, place);
    const name = textOf(container, "name");
    if (names.has(name)) place.child("name").duplicate(name);
    names.add(name);
    const target = textOf(container, "targetContainerName");
    if (target !== "" && !others.has(target)) place.child("targetContainerName").notFound(target);
    const detail = "cannot be set for an Ephemeral Container";
    for (const member of notEphemeral) {
      const isSet =
        member === "resources"
          ? Object.keys(objectOf(container, member)).length > 0
          : has(container, member);
      if (isSet) place.child(member).forbidden(detail);
    }
    for (const [position, mount] of objectsOf(container, "volumeMounts").entries()) {
      for (const member of ["subPath", "subPathExpr"]) {
        if (textOf(mount, member) !== "") {
          place.child("volumeMounts").item(position).child(member).forbidden(detail);
        }
      }
    }
  }
}

/** What containers that are added later cannot have, in the order of the real server's struct. */
const notEphemeral: readonly string[] = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];

const restartPolicies: readonly string[] = ["Always", "Never", "OnFailure"];
const restartActions: readonly string[] = ["Restart", "RestartAllContainers"];

function checkInitRestart(container: JsonObject, at: Place): void {
  if (has(container, "restartPolicy")) checkRestartRules(container, at);
  else if (listOf(container, "restartPolicyRules").length > 0) {
    at.child("restartPolicy").required("must specify restartPolicy when restart rules are used");
  }
}

function checkRestartRules(container: JsonObject, at: Place): void {
  const policy = maybeText(container, "restartPolicy");
  const rules = objectsOf(container, "restartPolicyRules");
  if (policy === undefined) {
    if (rules.length === 0) return;
    at.child("restartPolicy").required("must specify restartPolicy when restart rules are used");
  } else if (!restartPolicies.includes(policy)) {
    at.child("restartPolicy").notSupported(policy, restartPolicies);
  }
  if (rules.length > 20) at.child("restartPolicyRules").tooMany(rules.length, 20);
  for (const [index, rule] of rules.entries()) {
    const place = at.child("restartPolicyRules").item(index);
    const action = textOf(rule, "action");
    if (!restartActions.includes(action))
      place.child("action").notSupported(action, restartActions);
    const codes = maybeObject(rule, "exitCodes");
    if (codes === undefined) {
      place.child("exitCodes").required("must be specified");
      continue;
    }
    const operator = textOf(codes, "operator");
    if (operator !== "In" && operator !== "NotIn") {
      place.child("exitCodes").child("operator").notSupported(operator, ["In", "NotIn"]);
    }
    const { length } = listOf(codes, "values");
    if (length > 255) place.child("exitCodes").child("values").tooMany(length, 255);
  }
}

/** Reports ports of the host that two containers want. */
function checkHostPorts(containers: readonly JsonObject[], at: Place): void {
  let seen: Set<string> | undefined;
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of objectsOf(container, "ports").entries()) {
      const number = numberOf(port, "hostPort");
      if (number === 0) continue;
      const key = `${textOf(port, "protocol")}/${textOf(port, "hostIP")}/${number}`;
      seen ??= new Set();
      if (seen.has(key)) {
        at.item(index).child("ports").item(position).child("hostPort").duplicate(key);
      }
      seen.add(key);
    }
  }
}
