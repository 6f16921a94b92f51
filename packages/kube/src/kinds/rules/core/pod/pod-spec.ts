// What a Pod is to be: the spec of a Pod and of every template of one.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../../object/member.ts";
import {
  flagOf,
  has,
  maybeNumber,
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
import { forbiddenField } from "../../../../status/field-error.ts";
import { checkLabels } from "../../label-selectors.ts";
import { checkChoice } from "../../meta/checks.ts";
import type { Place } from "../../place.ts";
import { int32Max, rangeProblems } from "../../text-problems.ts";
import { showInternal } from "../../internal-form.ts";
import { checkAffinity } from "./affinity.ts";
import { mirrorKey } from "./annotations.ts";
import type { ContainerSurroundings } from "./container.ts";
import { checkContainers, checkEphemeralContainers, checkInitContainers } from "./containers.ts";
import { checkDnsConfig, checkHostAliases, checkHostnameOverride } from "./dns.ts";
import { allContainers } from "./each-container.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkPodResources, checkResources, claimNames } from "./resources.ts";
import { checkHostUsers, checkPodSecurityContext } from "./security-context.ts";
import { checkTolerations } from "./tolerations.ts";
import { checkTopologySpread } from "./topology-spread.ts";
import { checkVolumes } from "./volumes.ts";
import { checkForeignOptions, checkHostProcess } from "./windows-options.ts";

interface PodSpecRuleOptions {
  readonly options: PodRuleOptions;
  /** The metadata of the Pod; a template's does not count. */
  readonly metadata?: JsonObject;
}

export function checkPodSpec(
  spec: JsonObject,
  at: Place,
  { options, metadata }: PodSpecRuleOptions,
): void {
  const gracePeriod = maybeNumber(spec, "terminationGracePeriodSeconds");
  if (gracePeriod === undefined) at.child("terminationGracePeriodSeconds").required();
  const podName = metadata === undefined ? "" : textOf(metadata, "name");
  const pod: ContainerSurroundings = {
    options,
    volumes: checkVolumes(spec, at.child("volumes"), { options, podName }),
    claims: claimNames(spec),
    restartPolicy: textOf(spec, "restartPolicy"),
    gracePeriod,
    isHostUsers: spec["hostUsers"] !== false,
  };
  checkResourceClaims(spec, at.child("resourceClaims"), metadata);
  checkContainers(spec, at.child("containers"), pod);
  checkInitContainers(spec, at.child("initContainers"), pod);
  checkEphemeralContainers(spec, at.child("ephemeralContainers"), pod);
  checkPodResources(spec, at.child("resources"), pod);
  if (flagOf(spec, "hostNetwork")) checkHostNetworkPorts(spec, at.child("containers"), options);
  checkNeededChoice(spec, at, "restartPolicy", ["Always", "OnFailure", "Never"]);
  checkNeededChoice(spec, at, "dnsPolicy", [
    "ClusterFirstWithHostNet",
    "ClusterFirst",
    "Default",
    "None",
  ]);
  checkLabels(objectOf(spec, "nodeSelector"), at.child("nodeSelector"));
  checkPodSecurityContext(spec, at.child("securityContext"), options);
  checkAffinity(spec, at.child("affinity"), options);
  checkDnsConfig(spec, at.child("dnsConfig"));
  checkGates(spec, at);
  checkTopologySpread(spec, at.child("topologySpreadConstraints"), options);
  checkHostProcess(spec, at);
  checkHostUsers(spec, at, options);
  checkHostnameOverride(spec, at);
  for (const name of ["serviceAccountName", "nodeName"]) checkName(spec, at, name);
  const deadline = maybeNumber(spec, "activeDeadlineSeconds");
  if (deadline !== undefined) {
    const shown = memberOf(spec, "activeDeadlineSeconds") ?? deadline;
    at.child("activeDeadlineSeconds").invalidEach(shown, rangeProblems(deadline, 1, int32Max));
  }
  for (const name of ["hostname", "subdomain"]) {
    const value = textOf(spec, name);
    if (value !== "") at.child(name).invalidEach(value, dnsLabelProblems(value));
  }
  checkTolerations(objectsOf(spec, "tolerations"), at.child("tolerations"), options);
  checkHostAliases(spec, at.child("hostAliases"));
  checkName(spec, at, "priorityClassName");
  const runtimeClass = maybeText(spec, "runtimeClassName");
  if (runtimeClass !== undefined) {
    at.child("runtimeClassName").invalidEach(runtimeClass, dnsSubdomainProblems(runtimeClass));
  }
  if (has(spec, "preemptionPolicy")) {
    checkNeededChoice(spec, at, "preemptionPolicy", ["PreemptLowerPriority", "Never"]);
  }
  const overhead = maybeObject(spec, "overhead");
  if (overhead !== undefined) {
    checkResources({ limits: overhead }, at.child("overhead"), pod);
  }
  checkOs(spec, at);
  checkFileKeys(spec, at);
}

function checkResourceClaims(spec: JsonObject, at: Place, metadata: JsonObject | undefined): void {
  const names = new Set<string>();
  for (const [index, claim] of objectsOf(spec, "resourceClaims").entries()) {
    if (metadata !== undefined && has(objectOf(metadata, "annotations"), mirrorKey)) {
      at.add([forbiddenField("[]", "static pods do not support resource claims")]);
      continue;
    }
    const place = at.item(index);
    const name = textOf(claim, "name");
    if (name === "") place.child("name").required();
    else if (names.has(name)) place.child("name").duplicate(name);
    else {
      place.child("name").invalidEach(name, dnsLabelProblems(name));
      names.add(name);
    }
    const [own, template] = [
      maybeText(claim, "resourceClaimName"),
      maybeText(claim, "resourceClaimTemplateName"),
    ];
    const shown = (): string => showInternal("core.PodResourceClaim", claim);
    if (own !== undefined && template !== undefined) {
      place.invalidShown(
        shown(),
        "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
      );
    }
    if (own === undefined && template === undefined) {
      place.invalidShown(
        shown(),
        "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
      );
    }
    if (own !== undefined) {
      place.child("resourceClaimName").invalidEach(own, dnsSubdomainProblems(own));
    }
    if (template !== undefined) {
      place
        .child("resourceClaimTemplateName")
        .invalidEach(template, dnsSubdomainProblems(template));
    }
  }
}

function checkHostNetworkPorts(spec: JsonObject, at: Place, { isPod }: PodRuleOptions): void {
  for (const [index, container] of objectsOf(spec, "containers").entries()) {
    for (const [position, port] of objectsOf(container, "ports").entries()) {
      const host = numberOf(port, "hostPort");
      if ((isPod || host !== 0) && host !== numberOf(port, "containerPort")) {
        at.item(index)
          .child("ports")
          .item(position)
          .child("hostPort")
          .invalid(host, "must match `containerPort` when `hostNetwork` is true");
      }
    }
  }
}

function checkGates(spec: JsonObject, at: Place): void {
  for (const [index, gate] of objectsOf(spec, "readinessGates").entries()) {
    const type = textOf(gate, "conditionType");
    at.child("readinessGates")
      .item(index)
      .child("conditionType")
      .invalidEach(type, labelKeyProblems(type));
  }
  const seen = new Set<string>();
  for (const [index, gate] of objectsOf(spec, "schedulingGates").entries()) {
    const name = textOf(gate, "name");
    const place = at.child("schedulingGates").item(index);
    place.invalidEach(name, labelKeyProblems(name));
    if (seen.has(name)) place.duplicate(name);
    seen.add(name);
  }
}

function checkOs(spec: JsonObject, at: Place): void {
  const os = maybeObject(spec, "os");
  if (os === undefined) return;
  const name = textOf(os, "name");
  if (name === "") at.child("os").child("name").required();
  else if (name === "linux" || name === "windows") checkForeignOptions(spec, at, name);
  else at.child("os").notSupported(name, ["linux", "windows"]);
}

/** Variables from files: the volume must be one that a container can write. */
function checkFileKeys(spec: JsonObject, at: Place): void {
  const volumes = new Map(
    objectsOf(spec, "volumes").map((volume) => [textOf(volume, "name"), volume]),
  );
  for (const { container, list, index } of allContainers(spec)) {
    for (const [position, variable] of objectsOf(container, "env").entries()) {
      const from = maybeObject(variable, "valueFrom");
      const file = from === undefined ? undefined : maybeObject(from, "fileKeyRef");
      if (file === undefined) continue;
      const name = textOf(file, "volumeName");
      const volume = volumes.get(name);
      const place = at
        .child(list)
        .item(index)
        .child("env")
        .item(position)
        .child("valueFrom")
        .child("fileKeyRef")
        .child("volumeName");
      if (volume === undefined) place.notFound(name);
      else if (!has(volume, "emptyDir")) {
        place.invalid(name, "referenced volume must be of type emptyDir");
      }
    }
  }
}

/** Reports a member that is empty or none of a few. */
function checkNeededChoice(spec: JsonObject, at: Place, name: string, of: readonly string[]): void {
  const choice = textOf(spec, name);
  checkChoice(choice === "" ? undefined : choice, at.child(name), { of, isNeeded: true });
}

function checkName(spec: JsonObject, at: Place, name: string): void {
  const value = textOf(spec, name);
  if (value !== "") at.child(name).invalidEach(value, dnsSubdomainProblems(value));
}
