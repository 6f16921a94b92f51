// What every container must be: of a Pod, before it, or added to it.

import type { JsonObject } from "@keelson/base";

import { trimSpace } from "../../../../go-text/trim-space.ts";
import {
  has,
  maybeObject,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../../object/members.ts";
import { dnsLabelProblems } from "../../../../object/names.ts";
import type { Place } from "../../place.ts";
import { portNameProblems, portProblems } from "../../text-problems.ts";
import { checkEnv, checkEnvFrom } from "./env.ts";
import { checkMounts } from "./mounts.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkPullPolicy } from "./pull-policy.ts";
import { checkResources } from "./resources.ts";
import { checkSecurityContext } from "./security-context.ts";
import type { Volumes } from "./volumes.ts";

/** What the rules of a container know of its Pod. */
export interface ContainerSurroundings {
  readonly options: PodRuleOptions;
  readonly volumes: Volumes;
  readonly claims: ReadonlySet<string>;
  readonly restartPolicy: string;
  readonly gracePeriod: number | undefined;
  readonly isHostUsers: boolean;
}

export const protocols: readonly string[] = ["SCTP", "TCP", "UDP"];

export function checkContainer(container: JsonObject, at: Place, pod: ContainerSurroundings): void {
  const name = textOf(container, "name");
  if (name === "") at.child("name").required();
  else {
    const problems = dnsLabelProblems(name);
    if (problems.length > 0) at.child("name").invalidEach(name, problems);
  }
  if (textOf(container, "image") === "") at.child("image").required();
  const policy = textOf(container, "terminationMessagePolicy");
  if (policy === "") at.child("terminationMessagePolicy").required();
  else if (policy !== "File" && policy !== "FallbackToLogsOnError") {
    at.child("terminationMessagePolicy").notSupported(policy, ["File", "FallbackToLogsOnError"]);
  }
  checkPorts(container, at);
  checkEnv(container, at);
  checkEnvFrom(container, at);
  checkMounts(container, at, pod.volumes);
  checkPullPolicy(textOf(container, "imagePullPolicy"), at.child("imagePullPolicy"));
  checkResources(objectOf(container, "resources"), at.child("resources"), pod);
  if (has(container, "resizePolicy")) {
    checkResizePolicy(container, at.child("resizePolicy"), pod);
  }
  const security = maybeObject(container, "securityContext");
  if (security !== undefined) checkSecurityContext(security, at.child("securityContext"), pod);
}

/** Reports an image with spaces around it: refused in Pods, let through in templates. */
export function checkImageSpaces(container: JsonObject, at: Place): void {
  const image = textOf(container, "image");
  if (image !== trimSpace(image)) {
    at.child("image").invalid(image, "must not have leading or trailing whitespace");
  }
}

function checkPorts(container: JsonObject, at: Place): void {
  const ports = objectsOf(container, "ports");
  if (ports.length === 0) return;
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const place = at.child("ports").item(index);
    const name = textOf(port, "name");
    if (name !== "") {
      const problems = portNameProblems(name);
      if (problems.length > 0) place.child("name").invalidEach(name, problems);
      else if (names.has(name)) place.child("name").duplicate(name);
      else names.add(name);
    }
    const number = numberOf(port, "containerPort");
    if (number === 0) place.child("containerPort").required();
    else if (!isPort(number))
      place.child("containerPort").invalidEach(number, portProblems(number));
    const host = numberOf(port, "hostPort");
    if (host !== 0 && !isPort(host)) place.child("hostPort").invalidEach(host, portProblems(host));
    const protocol = textOf(port, "protocol");
    if (protocol === "TCP") continue;
    if (protocol === "") place.child("protocol").required();
    else if (!protocols.includes(protocol))
      place.child("protocol").notSupported(protocol, protocols);
  }
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65_535;
}

function checkResizePolicy(container: JsonObject, at: Place, pod: ContainerSurroundings): void {
  const seen = new Set<string>();
  for (const [index, policy] of objectsOf(container, "resizePolicy").entries()) {
    const resource = textOf(policy, "resourceName");
    if (seen.has(resource)) at.item(index).duplicateWord(resource);
    seen.add(resource);
    if (resource === "") at.required();
    else if (resource !== "cpu" && resource !== "memory")
      at.notSupported(resource, ["cpu", "memory"]);
    const restart = textOf(policy, "restartPolicy");
    if (restart === "") at.required();
    else if (restart !== "NotRequired" && restart !== "RestartContainer") {
      at.notSupported(restart, ["NotRequired", "RestartContainer"]);
    }
    if (pod.restartPolicy === "Never" && restart !== "NotRequired") {
      at.invalid(restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}
