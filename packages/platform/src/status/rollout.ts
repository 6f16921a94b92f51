// What the objects that run an app, and lead to it, say of themselves.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import { isReason } from "../kinds/status.ts";
import type { Finding } from "./conditions.ts";

/** What a pod says that does not start. */
export interface PodTrouble {
  /** The cluster's own word: `CrashLoopBackOff`. */
  readonly reason: string;
  readonly message: string;
  readonly pod: string;
  readonly container: string;
}

/** Undefined: there is none, or none that could be read. */
export function deploymentFinding(
  deployment: DynamicObject | undefined,
  trouble?: PodTrouble,
): Finding {
  if (deployment === undefined) {
    return { status: "False", reason: "Missing", message: "the Deployment is not there yet" };
  }
  const { name = "", generation = 0 } = deployment.metadata;
  const what = `Deployment ${name}`;
  const status = objectOf(deployment["status"]);
  const { replicas, paused } = objectOf(deployment["spec"]);
  const desired = numberOf(replicas, 1);
  const updated = numberOf(status["updatedReplicas"]);
  const available = numberOf(status["availableReplicas"]);
  const total = numberOf(status["replicas"]);
  if (numberOf(status["observedGeneration"]) < generation) {
    return { status: "False", reason: "RollingOut", message: `${what} has not been looked at yet` };
  }
  const isReady = updated === desired && available === desired && total === desired;
  const refusal = isReady ? undefined : rootFinding(trouble, what);
  if (refusal !== undefined) return refusal;
  if (paused === true && !isReady) {
    return {
      status: "False",
      reason: "Paused",
      message: `${what} has ${updated} of ${desired} pods updated and is paused: kubectl rollout resume deployment/${name}`,
    };
  }
  const refused = isReady ? "" : refusedPods(status);
  const progressing = conditionOf(status, "Progressing");
  if (progressing["reason"] === "ProgressDeadlineExceeded") {
    const also = `${refused === "" ? "" : `; ${refused}`}${alsoSaid(trouble)}`;
    return {
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `${what} does not get ready: ${textOf(progressing["message"])}${also}`,
    };
  }
  if (refused !== "") {
    return {
      status: "False",
      reason: "FailedCreate",
      message: `${what} cannot make its pods: ${refused}${alsoSaid(trouble)}`,
    };
  }
  if (isReady && desired === 0) {
    return {
      status: "True",
      reason: "ScaledToZero",
      message: `${what} was scaled to 0, which its autoscaler leaves alone: kubectl scale deployment/${name} --replicas=1`,
    };
  }
  if (isReady) {
    const ready = desired === 1 ? "its pod" : `its ${desired} pods`;
    return { status: "True", reason: "Available", message: `${what} has ${ready} ready` };
  }
  return {
    status: "False",
    // Whoever runs the pods says what it likes; the message has all of it.
    reason: trouble !== undefined && isReason(trouble.reason) ? trouble.reason : "RollingOut",
    message: `${what} has ${updated} of ${desired} pods updated, ${available} available${alsoSaid(trouble)}`,
  };
}

/** Why pods were not even made: a quota, say, or whoever admits them. Empty: nobody refused. */
function refusedPods(status: JsonObject): string {
  const failure = conditionOf(status, "ReplicaFailure");
  const isRefused = failure["status"] === "True" && failure["reason"] === "FailedCreate";
  return isRefused ? textOf(failure["message"]) : "";
}

/** Of an image that has to wait; the pod that migrates for it may say why that takes long. */
export function waitingFinding(waitsFor: string, trouble: PodTrouble | undefined): Finding {
  // The image is refused where it migrates as it would be where it runs.
  return (
    rootFinding(trouble, `pod ${trouble?.pod ?? ""}`) ?? {
      status: "False",
      reason: "Waiting",
      message: `${waitsFor}${alsoSaid(trouble)}`,
    }
  );
}

/** Of an image that may not run at all, since it runs as root; undefined where that is not the trouble. */
function rootFinding(trouble: PodTrouble | undefined, what: string): Finding | undefined {
  if (trouble === undefined || !isRootRefused(trouble)) return undefined;
  return {
    status: "False",
    reason: "ImageRunsAsRoot",
    message: `the image of container ${trouble.container} runs as root, which ${what} does not allow: build it with a USER that is a number other than 0, or set spec.runAsUser`,
  };
}

/** As the kubelet says it of a container that must not be root; the reason is one that it has for much else too. */
function isRootRefused({ reason, message }: PodTrouble): boolean {
  return (
    reason === "CreateContainerConfigError" &&
    /will run as root|non-numeric user|runAsNonRoot/.test(message)
  );
}

function alsoSaid(trouble: PodTrouble | undefined): string {
  if (trouble === undefined) return "";
  const { pod, container, reason, message } = trouble;
  const said = message === "" ? reason : `${reason}, ${message}`;
  return `; container ${container} of pod ${pod}: ${said}`;
}

export function ingressFinding(ingress: DynamicObject | undefined): Finding {
  if (ingress === undefined) {
    return { status: "False", reason: "Missing", message: "the Ingress is not there yet" };
  }
  const what = `Ingress ${ingress.metadata.name ?? ""}`;
  const { ingress: addresses } = objectOf(objectOf(ingress["status"])["loadBalancer"]);
  if (Array.isArray(addresses) && addresses.length > 0) {
    return { status: "True", reason: "Routed", message: `${what} has an address` };
  }
  return {
    status: "Unknown",
    reason: "NoAddress",
    message: `no controller has reported an address for ${what}`,
  };
}

function conditionOf({ conditions }: JsonObject, type: string): JsonObject {
  const found = Array.isArray(conditions)
    ? conditions.find((one) => isJsonObject(one as Json) && (one as JsonObject)["type"] === type)
    : undefined;
  return objectOf(found as Json | undefined);
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function numberOf(value: Json | undefined, otherwise = 0): number {
  return value === undefined ? otherwise : Number(value);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
