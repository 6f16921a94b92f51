// One pass over an app that shall be there: its steps in order, then its workload, then what its status says of them.

import { createHash } from "node:crypto";
import type { DynamicObject } from "@keelson/client";
import { timeFromMs } from "@keelson/kube";

import {
  conditionsOf,
  findingBefore,
  type ConditionType,
  type Finding,
  type Findings,
} from "../status/conditions.ts";
import { phaseOf } from "../status/phase.ts";
import type { Failure } from "../steps/failure.ts";
import type { ResourceType, Step } from "../steps/step.ts";
import { reconcileWorkload, type WorkloadOutcome } from "../steps/workload-step.ts";
import { failedBefore, type Untold } from "./memory.ts";
import type { ReconcileResult } from "./metrics.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { failedAgain } from "./retry.ts";
import { runStep, type StepResult, type StepWork } from "./run-step.ts";

export interface PassWork extends StepWork {
  readonly object: DynamicObject;
  /** Why the host is not the app's. */
  readonly hostTakenBy: string | undefined;
  /** False once the object is another one, is being deleted, or asks for something else. */
  readonly isCurrent: () => boolean;
  /** Adds what is to be known of the pods and is not to be seen from them. */
  readonly noted?: (deployment: Finding) => Finding;
}

export type PassResult =
  /** The object has moved on: once more, at once. */
  | { readonly type: "superseded" }
  /** What could be done is done, and said. */
  | {
      readonly type: "over";
      /** Whether everything that is asked for was done: then its generation counts as reconciled. */
      readonly isComplete: boolean;
      readonly afterMs: number;
    };

/** What a pass has come to so far. */
interface Findable {
  readonly results: Map<ResourceType, StepResult>;
  readonly findings: Partial<Record<Exclude<ConditionType, "Ready">, Finding>>;
}

/**
 * What was done before and stands is taken for granted until the workload is seen to, and compared with its service then: a
 * service that hangs must not keep children from being mended.
 *
 * Throws what ends the pass: an abort, an object that is gone, a status that cannot be written.
 */
export async function runPass(
  parts: OperatorParts,
  work: PassWork,
  signal: AbortSignal,
): Promise<PassResult> {
  const { app, status } = work;
  const found: Findable = { results: new Map(), findings: {} };
  let imageHeldBy: string | undefined;
  if (status.said.phase === undefined) status.say({ phase: "Pending" });
  for (const step of parts.steps.forward) {
    if (!work.isCurrent()) return { type: "superseded" };
    const result = await runStep(parts, { ...work, step }, signal);
    take(found, { step, result, work });
    const isDone = result.finding?.status === "True" && !result.isPutOff;
    if (step.isOn(app) && step.gatesImage(app) && !isDone) {
      imageHeldBy ??=
        result.holdsImage ?? `${step.condition} comes first: ${app.names.name} migrates`;
    }
  }
  if (!work.isCurrent()) return { type: "superseded" };
  parts.takeWrites(app.owner.uid);
  const { hostTakenBy } = work;
  const workload = await reconcileWorkload(
    parts.workload,
    { app, imageHeldBy, hostTakenBy },
    signal,
  );
  Object.assign(found.findings, workload.findings);
  if (work.noted !== undefined) {
    found.findings.DeploymentReady = work.noted(workload.findings.DeploymentReady);
  }
  const looked = lookAtWorkload(parts, { ...work, workload });
  found.results.set("workload", withUntold(work.memory, "workload", looked));
  // What only the pods before have read goes, now that they give way.
  for (const step of parts.steps.forward) {
    if (step.isOn(app) || found.results.get(step.resourceType)?.isRead !== true) continue;
    if (!work.isCurrent()) return { type: "superseded" };
    const { read } = workload;
    const result = await runStep(parts, { ...work, step, compares: true, read }, signal);
    take(found, { step, result, work });
  }
  const concluded = await conclude(parts, { work, workload, ...found }, signal);

  const standing = parts.steps.forward.filter(
    ({ resourceType }) => found.results.get(resourceType)?.isStanding,
  );
  if (standing.length === 0) return concluded;
  for (const [name, result] of found.results) found.results.set(name, told(result));
  for (const step of standing) {
    if (!work.isCurrent()) return { type: "superseded" };
    const result = await runStep(parts, { ...work, step, compares: true }, signal);
    take(found, { step, result, work });
  }
  return await conclude(parts, { work, workload, ...found }, signal);
}

function take(
  { results, findings }: Findable,
  {
    step,
    result,
    work,
  }: {
    readonly step: Step;
    readonly result: StepResult;
    readonly work: PassWork;
  },
): void {
  results.set(step.resourceType, withUntold(work.memory, step.resourceType, result));
  const finding = result.finding ?? (result.isPutOff ? waiting(step, work) : undefined);
  if (finding !== undefined) findings[step.condition] = finding;
}

/** With what an earlier pass has done and could not tell. */
function withUntold(
  { untold }: PassWork["memory"],
  resourceType: ResourceType,
  result: StepResult,
): StepResult {
  const before = untold.get(resourceType);
  const provisionedMs = result.provisionedMs ?? before?.provisionedMs;
  const all: Untold = {
    isFresh: result.isFresh || before?.isFresh === true,
    repaired: [...new Set([...(before?.repaired ?? []), ...result.repaired])],
    ...(provisionedMs === undefined ? {} : { provisionedMs }),
  };
  untold.set(resourceType, all);
  return { ...result, ...all };
}

/** A result that was counted and told already. */
function told({ provisionedMs: _provisioned, ...result }: StepResult): StepResult {
  return { ...result, isFresh: false, repaired: [] };
}

/** Says, counts and tells what there is. */
async function conclude(
  parts: OperatorParts,
  {
    work,
    workload,
    results,
    findings,
  }: Findable & { readonly work: PassWork; readonly workload: WorkloadOutcome },
  signal: AbortSignal,
): Promise<PassResult> {
  const { status, memory, stamp } = work;
  const all = [...results.values()];
  const isComplete =
    workload.isComplete &&
    all.every(({ failure, isPutOff, holdsImage }) => !failure && !isPutOff && !holdsImage);
  const untilMs = Math.min(...all.map((result) => result.untilMs));
  const afterMs = Math.max(0, untilMs - parts.clock.monotonic());
  const failedAttempts = Math.max(0, ...all.map(({ attempts }) => attempts));
  const wasReady = isReady(status.said.conditions);
  say({ parts, work, findings, failedAttempts, isComplete });
  await status.save(signal);
  tell({ parts, work, results: [...results], wasReady });
  if (memory.rollout?.stamp === stamp && workload.findings.DeploymentReady.status === "True") {
    memory.rollout = { stamp, sinceMs: Infinity };
  }
  return { type: "over", isComplete, afterMs };
}

/** What is said of a step that waits for its turn: what was said before, if anything was. */
function waiting({ condition, resourceType }: Step, { status, object }: PassWork): Finding {
  const before = status.said.conditions?.find(({ type }) => type === condition);
  return before === undefined
    ? { status: "Unknown", reason: "Waiting", message: `${resourceType} waits for its turn` }
    : findingBefore(before, object.metadata.generation ?? 0);
}

/** The workload as a step among the others: it is looked at in every pass, and costs nothing outside the cluster. */
function lookAtWorkload(
  parts: OperatorParts,
  work: PassWork & { readonly workload: WorkloadOutcome },
): StepResult {
  const { clock, takeWrites } = parts;
  const { app, memory, stamp, workload, hostTakenBy } = work;
  const nowMs = clock.monotonic();
  const known = memory.steps.get("workload");
  const before = known?.stamp === stamp ? known : undefined;
  const sinceMs = before?.sinceMs ?? nowMs;
  const writes = new Set(takeWrites(app.owner.uid));
  const repaired = workload.desired.flatMap((object) => {
    const name = `${object.kind} ${object.metadata.name ?? ""}`;
    const digest = createHash("sha256").update(JSON.stringify(object)).digest("hex");
    const isSame = memory.applied.get(name) === digest;
    memory.applied.set(name, digest);
    return isSame && writes.has(name) ? [name] : [];
  });
  const failure = workload.failures[0] ?? conflictOf(hostTakenBy);
  const isFresh = writes.size > 0 || before === undefined;
  const common = { isPutOff: false, isStanding: false, isFresh, repaired };
  if (failure !== undefined) {
    const last = failedBefore(before);
    const attempt = failedAgain(parts, last, failure);
    const departures = parts.departures.count;
    memory.steps.set("workload", {
      stamp,
      sinceMs,
      failure,
      departures,
      children: [],
      ...attempt,
    });
    const { attempts, untilMs } = attempt;
    const isNews = attempt !== last || before?.failure?.message !== failure.message;
    return { ...common, isFresh: isFresh || isNews, failure, attempts, untilMs };
  }
  memory.steps.set("workload", {
    stamp,
    sinceMs,
    untilMs: Infinity,
    outcome: { changes: [], wanted: [] },
  });
  const rolled = rolloutMs(work, nowMs);
  return {
    ...common,
    attempts: 0,
    untilMs: Infinity,
    ...(rolled === undefined ? {} : { provisionedMs: rolled }),
  };
}

/** How long the rollout took that is over now. */
function rolloutMs(
  { memory, stamp, workload }: PassWork & { readonly workload: WorkloadOutcome },
  nowMs: number,
): number | undefined {
  const isReady = workload.findings.DeploymentReady.status === "True";
  if (memory.rollout?.stamp !== stamp) {
    // One that is ready when it is first seen was rolled out by somebody before us.
    memory.rollout = { stamp, sinceMs: isReady ? Infinity : nowMs };
    return undefined;
  }
  return isReady && memory.rollout.sinceMs !== Infinity
    ? nowMs - memory.rollout.sinceMs
    : undefined;
}

function conflictOf(hostTakenBy: string | undefined): Failure | undefined {
  if (hostTakenBy === undefined) return undefined;
  return { reason: "Conflict", message: hostTakenBy, retryAfterMs: undefined };
}

function say({
  parts,
  work: { app, object, status, hostTakenBy },
  findings,
  failedAttempts,
  isComplete,
}: {
  readonly parts: OperatorParts;
  readonly work: PassWork;
  readonly findings: Findings;
  readonly failedAttempts: number;
  readonly isComplete: boolean;
}): void {
  const { generation = 0 } = object.metadata;
  const now = timeFromMs(parts.clock.now());
  status.say({
    phase: phaseOf({ findings, failedAttempts, isDeleting: false }),
    url: hostTakenBy === undefined ? `https://${app.names.domain}` : undefined,
    conditions: conditionsOf(findings, status.said.conditions ?? [], { generation, now }),
    ...(isComplete ? { observedGeneration: generation } : {}),
  });
}

/** What is counted and told, once the status says so too. */
function tell({
  parts: { metrics, happenings },
  work: { app, object, status, memory },
  results,
  wasReady,
}: {
  readonly parts: OperatorParts;
  readonly work: PassWork;
  readonly results: readonly (readonly [ResourceType, StepResult])[];
  readonly wasReady: boolean;
}): void {
  const { name } = app.names;
  memory.untold.clear();
  for (const [resourceType, result] of results) {
    const { failure, provisionedMs, repaired } = result;
    if (provisionedMs !== undefined) {
      metrics.observeProvisioning(name, resourceType, provisionedMs / 1000);
    }
    if (repaired.length > 0) {
      happenings.tell(object, "DriftRepaired", `put right: ${repaired.join(", ")}`);
    }
    if (!result.isFresh) continue;
    const outcome: ReconcileResult = failure === undefined ? "success" : "error";
    metrics.countReconcile(name, resourceType, outcome);
    if (failure !== undefined) happenings.tell(object, eventOf(failure), failure.message);
  }
  if (!wasReady && isReady(status.said.conditions)) {
    happenings.tell(object, "Provisioned", `${name} is ready at ${status.said.url ?? ""}`);
  }
}

function eventOf({ reason }: Failure) {
  switch (reason) {
    case "Conflict":
    case "MigrationFailed":
    case "CleanupFailed":
      return reason;
    case "NotConfigured":
    case "Unreachable":
    case "Refused":
    case "InvalidSpec":
    case "Error":
      return "RetryBackoff";
  }
}

function isReady(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
): boolean {
  return conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
