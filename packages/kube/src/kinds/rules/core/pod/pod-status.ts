// What a node may say of a Pod.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import { memberOf } from "../../../../object/member.ts";
import {
  has,
  listOf,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../../object/members.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
} from "../../../../object/names.ts";
import { checkAddress, isDualStack, parseAddress } from "../../addresses.ts";
import { showInternal } from "../../internal-form.ts";
import type { Place } from "../../place.ts";
import { idProblems } from "../../text-problems.ts";
import { containerStatusLists } from "./each-container.ts";

export function checkPodStatus(pod: JsonObject, old: JsonObject, at: Place): void {
  const [spec, status] = [objectOf(pod, "spec"), objectOf(pod, "status")];
  const [oldSpec, before] = [objectOf(old, "spec"), objectOf(old, "status")];
  checkConditions(status, at.child("conditions"));
  checkNominatedNode(status, before, at.child("nominatedNodeName"), {
    isBound: textOf(oldSpec, "nodeName") !== "",
  });
  checkGeneration(status, at);
  if (textOf(status, "qosClass") !== textOf(before, "qosClass")) {
    at.child("qosClass").invalidWord(textOf(status, "qosClass"), "field is immutable");
  }
  for (const list of containerStatusLists)
    checkTransitions(status, before, { at: at.child(list), list, spec: oldSpec });
  checkClaimStatuses(status, at.child("resourceClaimStatuses"), spec);
  checkExtendedClaim(status, at.child("extendedResourceClaimStatus"), spec);
  checkAddresses(status, before, at);
  const os = maybeText(objectOf(spec, "os"), "name") ?? "linux";
  for (const list of containerStatusLists) checkUsers(status, at.child(list), { list, os });
  checkHealth(status, at.child("containerStatuses"), {
    list: "containerStatuses",
    containers: objectsOf(spec, "containers"),
  });
  checkHealth(status, at.child("initContainerStatuses"), {
    list: "initContainerStatuses",
    containers: objectsOf(spec, "initContainers"),
  });
  for (const [index, own] of objectsOf(status, "ephemeralContainerStatuses").entries()) {
    if (listOf(own, "allocatedResourcesStatus").length > 0) {
      at.child("ephemeralContainerStatuses")
        .item(index)
        .child("allocatedResourcesStatus")
        .forbidden("must not be specified in container status");
    }
  }
}

function checkConditions(status: JsonObject, at: Place): void {
  for (const [index, condition] of objectsOf(status, "conditions").entries()) {
    checkGeneration(condition, at.item(index));
    const type = textOf(condition, "type");
    if (["PodScheduled", "Ready", "Initialized"].includes(type)) continue;
    at.item(index).child("Type").invalidEach(type, labelKeyProblems(type));
  }
}

function checkGeneration(holder: JsonObject, at: Place): void {
  const generation = numberOf(holder, "observedGeneration");
  if (generation < 0) {
    at.child("observedGeneration").invalid(generation, "must be a non-negative integer");
  }
}

function checkNominatedNode(
  status: JsonObject,
  old: JsonObject,
  at: Place,
  { isBound }: { readonly isBound: boolean },
): void {
  const name = textOf(status, "nominatedNodeName");
  if (name === "" || name === textOf(old, "nominatedNodeName")) return;
  at.invalidEach(name, dnsSubdomainProblems(name));
  if (isBound) at.forbidden("may not be set on pods that are already bound to a node");
}

interface Transition {
  readonly at: Place;
  readonly list: (typeof containerStatusLists)[number];
  readonly spec: JsonObject;
}

/** Reports containers that have ended and run again although nothing lets them. */
function checkTransitions(
  status: JsonObject,
  old: JsonObject,
  { at, list, spec }: Transition,
): void {
  const isEphemeral = list === "ephemeralContainerStatuses";
  if (!isEphemeral && mayAllRestart(spec)) return;
  const containers = objectsOf(
    spec,
    list === "containerStatuses" ? "containers" : "initContainers",
  );
  const byName = firstByName(containers);
  const running = new Set(
    objectsOf(status, list)
      .filter((own) => !has(objectOf(own, "state"), "terminated"))
      .map((own) => textOf(own, "name")),
  );
  for (const [index, before] of objectsOf(old, list).entries()) {
    const ended = maybeObject(objectOf(before, "state"), "terminated");
    const name = textOf(before, "name");
    if (ended === undefined || !running.has(name)) continue;
    const container = byName.get(name);
    const isAllowed =
      !isEphemeral &&
      container !== undefined &&
      shouldRestart(container, spec, numberOf(ended, "exitCode"));
    if (!isAllowed) {
      at.item(index).child("state").forbidden("may not be transitioned to non-terminated state");
    }
  }
}

/** Of two with one name the first counts. */
function firstByName(containers: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  return new Map(containers.toReversed().map((own) => [textOf(own, "name"), own]));
}

function mayAllRestart(spec: JsonObject): boolean {
  return ["initContainers", "containers"].some((list) =>
    objectsOf(spec, list).some((container) =>
      objectsOf(container, "restartPolicyRules").some(
        (rule) => textOf(rule, "action") === "RestartAllContainers",
      ),
    ),
  );
}

function shouldRestart(container: JsonObject, spec: JsonObject, exitCode: number): boolean {
  const own = maybeText(container, "restartPolicy");
  if (own !== undefined) {
    const rule = objectsOf(container, "restartPolicyRules").find((candidate) => {
      const codes = maybeObject(candidate, "exitCodes");
      if (codes === undefined) return false;
      const isListed = listOf(codes, "values").some((code) => Number(code) === exitCode);
      return textOf(codes, "operator") === "In" ? isListed : !isListed;
    });
    if (["Restart", "RestartAllContainers"].includes(textOf(rule ?? {}, "action"))) return true;
  }
  const policy = ["Always", "OnFailure", "Never"].includes(own ?? "")
    ? own
    : textOf(spec, "restartPolicy");
  return policy === "OnFailure" ? exitCode !== 0 : policy !== "Never";
}

function checkClaimStatuses(status: JsonObject, at: Place, spec: JsonObject): void {
  const claims = new Set(objectsOf(spec, "resourceClaims").map((claim) => textOf(claim, "name")));
  const seen = new Set<string>();
  for (const [index, own] of objectsOf(status, "resourceClaimStatuses").entries()) {
    const name = textOf(own, "name");
    const place = at.item(index);
    if (!claims.has(name)) {
      place.child("name").invalid(name, "must match the name of an entry in `spec.resourceClaims`");
    }
    if (seen.has(name)) place.child("name").duplicate(name);
    seen.add(name);
    const claim = maybeText(own, "resourceClaimName");
    if (claim !== undefined) {
      place.child("resourceClaimName").invalidWordEach(claim, dnsSubdomainProblems(claim));
    }
  }
}

function checkExtendedClaim(status: JsonObject, at: Place, spec: JsonObject): void {
  const claim = maybeObject(status, "extendedResourceClaimStatus");
  if (claim === undefined) return;
  const containers = new Map(
    ["initContainers", "containers"].flatMap((list) =>
      objectsOf(spec, list).map((container) => [textOf(container, "name"), container] as const),
    ),
  );
  const mappings = objectsOf(claim, "requestMappings");
  const place = at.child("requestMappings");
  if (mappings.length === 0) place.required("at least one request mapping is required");
  const seen = new Set<string>();
  for (const [index, mapping] of mappings.entries()) {
    const parts = ["containerName", "resourceName", "requestName"] as const;
    const [container = "", resource = "", request = ""] = parts.map((part) =>
      textOf(mapping, part),
    );
    const own = containers.get(container);
    if (own === undefined) {
      place
        .item(index)
        .child("containerName")
        .invalid(
          container,
          "must match the name of an entry in spec.initContainers.name or spec.containers.name",
        );
    } else if (!has(objectOf(objectOf(own, "resources"), "requests"), resource)) {
      place
        .item(index)
        .child("resourceName")
        .invalid(
          resource,
          "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
        );
    }
    at.child("requestName").invalidEach(request, dnsLabelProblems(request));
    const key = JSON.stringify([container, resource, request]);
    if (seen.has(key)) {
      for (const part of parts) place.item(index).child(part).duplicate(textOf(mapping, part));
    }
    seen.add(key);
  }
  const name = textOf(claim, "resourceClaimName");
  if (name === "") at.child("resourceClaimName").required();
  else at.child("resourceClaimName").invalidEach(name, dnsSubdomainProblems(name));
}

function checkAddresses(status: JsonObject, old: JsonObject, at: Place): void {
  const ipsOf = (holder: JsonObject, list: string): readonly string[] =>
    objectsOf(holder, list).map((own) => textOf(own, "ip"));
  for (const [list, type] of [
    ["podIPs", "core.PodIP"],
    ["hostIPs", "core.HostIP"],
  ] as const) {
    const addresses = ipsOf(status, list);
    if (list === "hostIPs" && addresses.length > 0 && textOf(status, "hostIP") !== addresses[0]) {
      at.child(list)
        .item(0)
        .child("ip")
        .invalid(addresses[0] ?? "", "must be equal to `hostIP`");
    }
    const existing = new Set(ipsOf(old, list));
    for (const [index, address] of addresses.entries()) {
      checkAddress(address, at.child(list).item(index), { existing });
    }
    if (addresses.length < 2) continue;
    const parsed = addresses.map(parseAddress);
    const wrong = parsed.indexOf(undefined);
    if (wrong >= 0) {
      at.child(list).internal(
        `failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]}`,
      );
    }
    if (wrong >= 0 || !isDualStack(parsed) || addresses.length > 2) {
      const shown = objectsOf(status, list).map((own) => showInternal(type, own));
      at.child(list).invalidShown(
        `[${shown.join(",")}]`,
        "may specify no more than one IP for each IP family",
      );
    }
  }
}

function checkUsers(
  status: JsonObject,
  at: Place,
  { list, os }: { readonly list: string; readonly os: string },
): void {
  for (const [index, own] of objectsOf(status, list).entries()) {
    const linux = maybeObject(objectOf(own, "user"), "linux");
    if (linux === undefined) continue;
    const place = at.item(index).child("user").child("linux");
    if (os === "windows") place.forbidden("cannot be set for a windows pod");
    if (os !== "linux") continue;
    for (const name of ["uid", "gid"]) {
      const id = numberOf(linux, name);
      place.child(name).invalidEach(memberOf(linux, name) ?? id, idProblems(id));
    }
    for (const [position, group] of listOf(linux, "supplementalGroups").entries()) {
      place
        .child("supplementalGroups")
        .item(position)
        .invalidEach(group, idProblems(Number(group)));
    }
  }
}

const healths: readonly string[] = ["Healthy", "Unhealthy", "Unknown"];
const messageBytesMax = 1024;

function checkHealth(
  status: JsonObject,
  at: Place,
  { list, containers }: { readonly list: string; readonly containers: readonly JsonObject[] },
): void {
  const byName = firstByName(containers);
  for (const [index, own] of objectsOf(status, list).entries()) {
    const container = byName.get(textOf(own, "name"));
    const claimed = container === undefined ? undefined : claimsOf(container);
    for (const [position, resource] of objectsOf(own, "allocatedResourcesStatus").entries()) {
      const place = at.item(index).child("allocatedResourcesStatus").item(position);
      if (container !== undefined && claimed !== undefined) {
        checkAllocated(textOf(resource, "name"), place, { container, claimed });
      }
      const seen = new Set<string>();
      for (const [which, health] of objectsOf(resource, "resources").entries()) {
        checkResourceHealth(health, place.child("resources").item(which), seen);
      }
    }
  }
}

/** The claims of a container, as its status names them. */
function claimsOf(container: JsonObject): ReadonlySet<string> {
  const claims = objectsOf(objectOf(container, "resources"), "claims");
  return new Set(
    claims.map((claim) => {
      const request = textOf(claim, "request");
      return `claim:${textOf(claim, "name")}${request === "" ? "" : `/${request}`}`;
    }),
  );
}

function checkAllocated(
  name: string,
  at: Place,
  { container, claimed }: { readonly container: JsonObject; readonly claimed: ReadonlySet<string> },
): void {
  if (!name.startsWith("claim:")) {
    if (!has(objectOf(objectOf(container, "resources"), "requests"), name)) {
      at.child("name").invalid(name, "must match one of the container's resource requests");
    }
    return;
  }
  if (!claimed.has(name)) {
    at.child("name").invalid(
      name,
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
    );
  }
}

function checkResourceHealth(resource: JsonObject, at: Place, seen: Set<string>): void {
  const health = textOf(resource, "health");
  if (!healths.includes(health)) at.child("health").notSupported(health, healths);
  const message = maybeText(resource, "message");
  if (message === "") at.child("message").required("must be non-empty if specified");
  else if (message !== undefined && byteLength(message) > messageBytesMax) {
    at.child("message").tooLong(messageBytesMax);
  }
  const id = textOf(resource, "resourceID");
  if (seen.has(id)) at.child("resourceID").duplicateWord(id);
  seen.add(id);
}
