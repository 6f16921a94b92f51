// Taking an app away: what runs first, so that nobody uses what goes after it; then what it has outside, from the
// ledger. What fails does not keep the rest from going, and is tried again until all of it is gone.

import type { DynamicObject } from "@keelson/client";
import { timeFromMs } from "@keelson/kube";

import { conditionsOf, type ConditionType, type Finding } from "../status/conditions.ts";
import { failureOf } from "../steps/failure.ts";
import type { Step } from "../steps/step.ts";
import { cleanupWorkload } from "../steps/workload-step.ts";
import { ObjectGone } from "./object-status.ts";
import { failedBefore } from "./memory.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { failedAgain } from "./retry.ts";
import {
  cleanupFailure,
  hasLeftovers,
  noPlace,
  removeChildren,
  type StepWork,
} from "./run-step.ts";

export interface CleanupWork extends Omit<StepWork, "adopts"> {
  readonly object: DynamicObject;
}

export interface CleanupResult {
  /** Nothing is left. */
  readonly isDone: boolean;
  readonly afterMs: number;
}

/** While something is only waited for: what brings us back sooner is its end. */
export const lookMs = 5_000;

/** How the end of a part went: with a finding, something of it is left. */
interface Ended {
  readonly finding?: Finding;
  readonly afterMs: number;
}

const ended: Ended = { afterMs: Infinity };

/** However hopeless it is: what is being removed is never left alone. */
const waitMsMax = 30_000;

export async function runCleanup(
  parts: OperatorParts,
  work: CleanupWork,
  signal: AbortSignal,
): Promise<CleanupResult> {
  const { status, object } = work;
  status.say({ phase: "Terminating" });
  const findings: Partial<Record<Exclude<ConditionType, "Ready">, Finding>> = {};
  const workload = await endWorkload(parts, work, signal);
  if (workload.finding !== undefined) findings.DeploymentReady = workload.finding;
  let afterMs = workload.afterMs;
  // Its pods still use what comes next.
  for (const step of workload.finding === undefined ? parts.steps.backward : []) {
    const result = await endStep(parts, { ...work, step }, signal);
    if (result.finding !== undefined) findings[step.condition] = result.finding;
    afterMs = Math.min(afterMs, result.afterMs);
  }
  const isDone = Object.keys(findings).length === 0;
  if (!isDone) {
    const { generation = 0 } = object.metadata;
    const unready = {
      status: "False",
      reason: "Terminating",
      message: `${object.metadata.name ?? ""} is being removed`,
    } as const;
    const now = timeFromMs(parts.clock.now());
    const before = status.said.conditions ?? [];
    status.say({ conditions: conditionsOf(findings, before, { generation, now, unready }) });
    await status.save(signal);
    for (const { reason, message } of Object.values(findings)) {
      if (reason === "CleanupFailed") parts.happenings.tell(object, "CleanupFailed", message);
    }
  }
  return { isDone, afterMs };
}

async function endWorkload(
  parts: OperatorParts,
  { app, memory, stamp, key }: CleanupWork,
  signal: AbortSignal,
): Promise<Ended> {
  try {
    const { left } = await cleanupWorkload(parts.workload, { app }, signal);
    memory.steps.delete("workload");
    return left === undefined ? ended : { finding: going(left), afterMs: lookMs };
  } catch (error) {
    return failed(parts, { error, memory, stamp, key, resourceType: "workload" }, signal);
  }
}

async function endStep(
  parts: OperatorParts,
  { step, ...work }: CleanupWork & { readonly step: Step },
  signal: AbortSignal,
): Promise<Ended> {
  const { lanes, clock } = parts;
  const { app, memory, stamp, status: ledger, policy, key } = work;
  const known = memory.steps.get(step.resourceType);
  if (known?.stamp === stamp && known.failure !== undefined) {
    const leftMs = known.untilMs - clock.monotonic();
    if (leftMs > 0) return { finding: findingOf(known.failure), afterMs: leftMs };
  }
  try {
    if (hasLeftovers(step, work)) {
      const place = step.service === undefined ? noPlace : lanes.enter(step.service, key);
      if (place === undefined) return { finding: going("waits for its turn"), afterMs: lookMs };
      using _place = place;
      await parts.children.prune(app, { kinds: step.kinds, kept: [] }, signal);
      const { left } = await step.cleanup({ app, ledger, policy }, signal);
      if (left !== undefined) return { finding: going(left), afterMs: 0 };
    }
    await removeChildren(parts, { step, app, kept: [] }, signal);
    memory.steps.delete(step.resourceType);
    return ended;
  } catch (error) {
    const { resourceType } = step;
    return failed(parts, { error, memory, stamp, key, resourceType }, signal);
  }
}

function failed(
  parts: OperatorParts,
  what: Pick<CleanupWork, "memory" | "stamp" | "key"> & {
    readonly error: unknown;
    readonly resourceType: Step["resourceType"] | "workload";
  },
  signal: AbortSignal,
): Ended {
  const { error, memory, stamp, key, resourceType } = what;
  signal.throwIfAborted();
  if (error instanceof ObjectGone) throw error;
  const known = memory.steps.get(resourceType);
  const before = known?.stamp === stamp ? known : undefined;
  const attempt = failedAgain(parts, failedBefore(before), failureOf(error));
  const nowMs = parts.clock.monotonic();
  const untilMs = attempt.untilMs === Infinity ? nowMs + waitMsMax : attempt.untilMs;
  const sinceMs = before?.sinceMs ?? nowMs;
  const failure = cleanupFailure(error);
  const departures = parts.departures.count;
  memory.steps.set(resourceType, {
    stamp,
    sinceMs,
    failure,
    departures,
    children: [],
    ...attempt,
    untilMs,
  });
  const { attempts } = attempt;
  const waitMs = untilMs - nowMs;
  parts.log.warn({ app: key, step: resourceType, attempts, waitMs, error }, "a clean-up failed");
  return { finding: findingOf(failure), afterMs: waitMs };
}

function going(message: string): Finding {
  return { status: "False", reason: "CleaningUp", message };
}

function findingOf({ reason, message }: ReturnType<typeof cleanupFailure>): Finding {
  return { status: "False", reason, message };
}
