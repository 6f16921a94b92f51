// The bodies that register a target and change one.

import { isJsonObject, writeJson, type Clock, type Json, type JsonObject } from "@keelson/base";
import { BadKubeconfig, loadKubeconfig } from "@keelson/client";
import { labelKeyProblems, labelValueProblems } from "@keelson/kube";
import type { Fields } from "../resources/read-fields.ts";
import { clusterIdProblems } from "../resources/resource-body.ts";
import type { StoredAccess } from "./stored-access.ts";

/** What a body says of a target. Undefined: nothing. */
export interface TargetBody {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly agent: boolean | undefined;
  readonly labels: JsonObject | undefined;
  readonly paused: boolean | undefined;
}

/** The longest kubeconfig, in characters. */
const kubeconfigMax = 512 * 1024;

/** Throws `VALIDATION_FAILED` with all that is wrong. */
export function readNewTarget(fields: Fields): TargetBody & { readonly clusterId: string } {
  const clusterId = fields.text("cluster_id", clusterIdProblems);
  const body = readBody(fields);
  const { kubeconfig, agent = false } = body;
  if (kubeconfig === undefined && !agent && !fields.has("kubeconfig")) {
    wrong(fields, "kubeconfig", "is required, except for a target with agent: true");
  }
  if (kubeconfig !== undefined && agent) {
    wrong(fields, "agent", "excludes kubeconfig: the worker inside the cluster has its own");
  }
  if (body.context !== undefined && kubeconfig === undefined) {
    wrong(fields, "context", "is one of the kubeconfig, which is missing");
  }
  fields.refuseOthers();
  fields.throwIfWrong();
  return { ...body, clusterId };
}

/** Throws `VALIDATION_FAILED` with all that is wrong. */
export function readTargetChange(fields: Fields, clusterId: string): TargetBody {
  const body = readBody(fields);
  const named = fields.any("cluster_id");
  if (named !== undefined && named !== clusterId) {
    wrong(fields, "cluster_id", `must be ${clusterId}, as in the address`);
  }
  if (body.kubeconfig !== undefined && body.agent === true) {
    wrong(fields, "agent", "excludes kubeconfig: the worker inside the cluster has its own");
  }
  fields.refuseOthers();
  const isEmpty = Object.values(body).every((value) => value === undefined);
  if (isEmpty && fields.problems.length === 0) {
    wrong(fields, "body", "must have kubeconfig, context, agent, labels or paused");
  }
  fields.throwIfWrong();
  return body;
}

/** Where an access leads to. Throws `VALIDATION_FAILED` about the kubeconfig, or about the context in it. */
export async function serverOf(
  { source, context, trust }: StoredAccess,
  fields: Fields,
  clock: Clock,
): Promise<string> {
  try {
    const chosen = context === undefined ? {} : { context };
    const { server } = await loadKubeconfig(source, { clock, trust, ...chosen });
    return withoutUser(server);
  } catch (error) {
    if (!(error instanceof BadKubeconfig)) throw error;
    const place = error.field === undefined ? "kubeconfig" : `kubeconfig.${error.field}`;
    wrong(fields, place, error.message);
  }
  fields.throwIfWrong();
  return "";
}

/** A password may stand in an address, and is never sent: it must not be shown either. */
function withoutUser(server: string): string {
  const url = new URL(server);
  if (url.username === "" && url.password === "") return server;
  url.username = "";
  url.password = "";
  return url.href;
}

function readBody(fields: Fields): TargetBody {
  return {
    kubeconfig: readKubeconfig(fields),
    context: fields.optionalText("context", () => []),
    agent: fields.optionalBoolean("agent"),
    labels: readLabels(fields),
    paused: fields.optionalBoolean("paused"),
  };
}

/** A text, or the object that it would be. */
function readKubeconfig(fields: Fields): string | undefined {
  const value = fields.any("kubeconfig");
  if (value === undefined) return undefined;
  const text = isJsonObject(value) ? writeJson(value) : value;
  if (typeof text !== "string" || text === "") {
    return wrong(fields, "kubeconfig", "must be a kubeconfig, as a text or an object");
  }
  if (text.length > kubeconfigMax) {
    return wrong(fields, "kubeconfig", `must be no more than ${kubeconfigMax} characters`);
  }
  return text;
}

function readLabels(fields: Fields): JsonObject | undefined {
  const value: Json | undefined = fields.any("labels");
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return wrong(fields, "labels", "must be an object of texts");
  for (const [key, label] of Object.entries(value)) {
    const [problem] =
      typeof label === "string"
        ? [...labelKeyProblems(key), ...labelValueProblems(label)]
        : ["must be a text"];
    if (problem !== undefined) wrong(fields, `labels.${key}`, problem);
  }
  return value;
}

function wrong(fields: Fields, field: string, message: string): undefined {
  fields.problems.push({ field, message });
}
