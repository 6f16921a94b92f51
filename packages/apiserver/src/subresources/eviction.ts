// `pods/eviction`: a deletion that asks the pod's disruption budget first.

import { cloneJson, isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import {
  failures,
  matchesLabels,
  memberOf,
  selectorFromObject,
  StatusError,
  type Labels,
} from "@keelson/kube";

import { integerAt, objectAt } from "../fields.ts";
import { objectOf } from "../encoding/object-text.ts";
import type { ResourceExchange } from "../http/exchange.ts";
import {
  isTerminating,
  labelsOf,
  metadataNumber,
  metadataText,
  nameOf,
} from "../object-metadata.ts";
import type { Answerers } from "../resource-dispatch.ts";
import type { Resource } from "../resources/resource.ts";
import type { Registry } from "../resources/registry.ts";
import type { Verb, Verbs } from "../verbs/verb.ts";
import { writeOptions, writeRequest } from "../verbs/write-options.ts";
import { deleteObject } from "../writes/delete-object.ts";
import { deleteOptionsFrom, type DeleteOptions } from "../writes/delete-options.ts";
import { updateObject } from "../writes/update-object.ts";
import { keyOf, ruleContext, storageOf } from "../writes/write-request.ts";
import { creationFormat, namedBody, successAnswer, type BodyKind } from "./body.ts";

/** How many evictions that a budget has not confirmed may be under way. */
const disruptedPodsMax = 2_000;

/** The verbs of `pods/eviction`. */
export function eviction(registry: Registry, kind: BodyKind): Answerers {
  const create: Verb = async (verbs, exchange) => {
    const { resource, info, signal } = exchange;
    const format = creationFormat(exchange);
    const creation = writeOptions(exchange, "CreateOptions");
    const { isDryRun } = creation;
    const sent = namedBody(verbs, exchange, { kind, options: creation });
    const asked = memberOf(sent, "deleteOptions");
    const options = deleteOptionsFrom(isJsonObject(asked) ? asked : {});
    const own: DeleteOptions = { ...options, isDryRun: isDryRun || options.isDryRun };
    const row = await verbs.store.get(
      keyOf({ resource, namespace: info.namespace, name: info.name }),
      signal,
    );
    const pod = objectOf(resource, row);
    const expected = canIgnoreBudget(pod)
      ? isOver(pod)
        ? undefined
        : metadataText(pod, "resourceVersion")
      : await askBudget(verbs, { exchange, registry, pod, isDryRun: own.isDryRun });
    const request = writeRequest(exchange, { manager: "", isDryRun: own.isDryRun });
    const withExpected =
      expected === undefined || own.resourceVersion !== undefined
        ? own
        : { ...own, resourceVersion: expected };
    await deleteObject(verbs, { ...request, subresource: "" }, withExpected, signal);
    return successAnswer(verbs, format);
  };
  return { create };
}

/** A pod that runs nothing, or not yet, disrupts nobody by going. */
function canIgnoreBudget(pod: JsonObject): boolean {
  return isOver(pod) || phaseOf(pod) === "Pending";
}

function isOver(pod: JsonObject): boolean {
  const phase = phaseOf(pod);
  return phase === "Succeeded" || phase === "Failed" || isTerminating(pod);
}

interface Question {
  readonly exchange: ResourceExchange;
  readonly registry: Registry;
  readonly pod: JsonObject;
  readonly isDryRun: boolean;
}

/** Takes one disruption from the budget. Answers the revision that the pod must still have, if that matters. */
async function askBudget(verbs: Verbs, question: Question): Promise<string | undefined> {
  const { exchange, registry, pod } = question;
  const resource = registry.find("policy", "v1", "poddisruptionbudgets");
  if (resource === undefined) return undefined;
  const budgets = await budgetsOf(verbs, resource, exchange, pod);
  if (budgets.length > 1) {
    throw failures.unexplained(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const [budget] = budgets;
  if (budget === undefined) return undefined;
  if (!isReady(pod)) {
    const isAlways =
      memberOf(objectAt(budget, "spec"), "unhealthyPodEvictionPolicy") === "AlwaysAllow";
    const current = countOf(budget, "currentHealthy");
    const desired = countOf(budget, "desiredHealthy");
    if (isAlways || (current >= desired && desired > 0))
      return metadataText(pod, "resourceVersion");
  }
  await takeDisruption(verbs, resource, { ...question, name: nameOf(budget) });
  return undefined;
}

async function budgetsOf(
  { store }: Verbs,
  resource: Resource,
  { info, signal }: ResourceExchange,
  pod: JsonObject,
): Promise<readonly JsonObject[]> {
  const scope = { kind: storageOf(resource), namespace: info.namespace };
  const { items } = await store.list(scope, {}, signal);
  return items
    .map((row) => objectOf(resource, row))
    .filter((budget) => {
      const selector = memberOf(objectAt(budget, "spec"), "selector");
      if (!isJsonObject(selector)) return false;
      const parsed = selectorFromObject(selector);
      return parsed !== undefined && matchesLabels(parsed, labelsOf(pod) as Labels);
    });
}

async function takeDisruption(
  verbs: Verbs,
  resource: Resource,
  { exchange, pod, name, isDryRun }: Question & { readonly name: string },
): Promise<void> {
  const { now } = ruleContext(verbs);
  await updateObject(
    verbs,
    {
      ...writeRequest(exchange, { manager: "keelson", isDryRun }),
      resource,
      name,
      subresource: "status",
    },
    {
      change: (live = {}) => {
        checkAllowed(live);
        const next = cloneJson(live);
        const status = next["status"];
        if (!isJsonObject(status)) return next;
        const pods = status["disruptedPods"];
        status["disruptionsAllowed"] = countOf(live, "disruptionsAllowed") - 1;
        status["disruptedPods"] = { ...(isJsonObject(pods) ? pods : {}), [nameOf(pod)]: now };
        return next;
      },
      mayCreate: false,
      isUnconditional: true,
    },
    exchange.signal,
  );
}

function checkAllowed(budget: JsonObject): void {
  const name = nameOf(budget);
  const about = { group: "policy", resource: "poddisruptionbudget" };
  if (countOf(budget, "observedGeneration") < (metadataNumber(budget, "generation") ?? 0)) {
    throw refusal(10, `The disruption budget ${name} is still being processed by the server.`);
  }
  const allowed = countOf(budget, "disruptionsAllowed");
  if (allowed < 0) throw failures.forbidden(about, name, "pdb disruptions allowed is negative");
  const disrupted = memberOf(objectAt(budget, "status"), "disruptedPods");
  if (isJsonObject(disrupted) && Object.keys(disrupted).length > disruptedPodsMax) {
    throw failures.forbidden(
      about,
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  }
  if (allowed === 0) {
    const current = countOf(budget, "currentHealthy");
    const desired = countOf(budget, "desiredHealthy");
    throw refusal(
      0,
      current <= desired
        ? `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
        : `The disruption budget ${name} does not allow evicting pods currently`,
    );
  }
}

function refusal(retryAfterSeconds: number, message: string): StatusError {
  const { status } = failures.tooManyRequests(
    "Cannot evict pod as it would violate the pod's disruption budget.",
    retryAfterSeconds,
  );
  const causes = [{ reason: "DisruptionBudget", message }];
  return new StatusError({ ...status, details: { ...status.details, causes } });
}

function isReady(pod: JsonObject): boolean {
  const conditions = memberOf(objectAt(pod, "status"), "conditions");
  if (!isJsonArray(conditions)) return false;
  return conditions.some(
    (one) => isJsonObject(one) && one["type"] === "Ready" && one["status"] === "True",
  );
}

function phaseOf(pod: JsonObject): Json | undefined {
  return memberOf(objectAt(pod, "status"), "phase");
}

/** A number of a budget's status. */
function countOf(budget: JsonObject, name: string): number {
  return Number(integerAt(objectAt(budget, "status"), name));
}
