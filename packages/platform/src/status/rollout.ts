// What the objects that run an app, and lead to it, say of themselves.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import type { Finding } from "./conditions.ts";

/** Undefined: there is none, or none that could be read. */
export function deploymentFinding(deployment: DynamicObject | undefined): Finding {
  if (deployment === undefined) {
    return { status: "False", reason: "Missing", message: "the Deployment is not there yet" };
  }
  const { name = "", generation = 0 } = deployment.metadata;
  const what = `Deployment ${name}`;
  const status = objectOf(deployment["status"]);
  const desired = numberOf(objectOf(deployment["spec"])["replicas"], 1);
  const updated = numberOf(status["updatedReplicas"]);
  const available = numberOf(status["availableReplicas"]);
  const total = numberOf(status["replicas"]);
  if (numberOf(status["observedGeneration"]) < generation) {
    return { status: "False", reason: "RollingOut", message: `${what} has not been looked at yet` };
  }
  const progressing = conditionOf(status, "Progressing");
  if (progressing["reason"] === "ProgressDeadlineExceeded") {
    return {
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `${what} does not get ready: ${textOf(progressing["message"])}`,
    };
  }
  if (updated === desired && available === desired && total === desired) {
    return { status: "True", reason: "Available", message: `${what} has ${desired} pods ready` };
  }
  return {
    status: "False",
    reason: "RollingOut",
    message: `${what} has ${updated} of ${desired} pods updated, ${available} available`,
  };
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
