// One step of a pass: done now, remembered from before, or put off until its service has a place.

import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { isChildOf } from "../children/children.ts";
import type { Finding } from "../status/conditions.ts";
import { failureOf, type Failure } from "../steps/failure.ts";
import type { Policy, Step, StepOutcome } from "../steps/step.ts";
import { deploymentKind } from "../steps/workload-step.ts";
import { sourcesReadBy } from "../workload/read-sources.ts";
import { failedBefore, type AppMemory, type StepMemory, type Untold } from "./memory.ts";
import { ObjectGone, type ObjectStatus } from "./object-status.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { failedAgain } from "./retry.ts";

/** Every service is asked again after at most so long, though nothing has changed here. */
const resyncMs = 600_000;

export interface StepWork {
  readonly key: string;
  readonly app: App;
  readonly status: ObjectStatus;
  readonly memory: AppMemory;
  /** Another one: nothing that was remembered counts. */
  readonly stamp: string;
  readonly adopts: boolean;
  readonly policy: Policy;
  /** Whether a service is asked though what was last seen there stands: somebody may have changed it. */
  readonly compares?: boolean;
  /** The Secrets and ConfigMaps, as `Secret my-app-db`, that its pods are to read; left out: those that they read now. */
  readonly read?: ReadonlySet<string>;
}

export interface StepResult extends Untold {
  /** Absent: the feature is off, and nothing of it is left. */
  readonly finding?: Finding;
  readonly failure?: Failure;
  readonly attempts: number;
  /** When to look again, by the monotonic clock. */
  readonly untilMs: number;
  readonly holdsImage?: string;
  /** Its service is full; the app will be called. */
  readonly isPutOff: boolean;
  /** Whether it is remembered, and its service could be asked whether it is still so. */
  readonly isStanding: boolean;
  /** Something of a feature that is off stays: the app's pods read it. */
  readonly isRead?: boolean;
}

/** Nothing is to be done. */
const nothing: StepResult = {
  attempts: 0,
  untilMs: Infinity,
  isPutOff: false,
  isFresh: false,
  isStanding: false,
  repaired: [],
};

/** Never throws but what ends the pass: an abort, or an object that is gone. */
export async function runStep(
  parts: OperatorParts,
  { step, ...work }: StepWork & { readonly step: Step },
  signal: AbortSignal,
): Promise<StepResult> {
  const { lanes, takeWrites } = parts;
  const { app, memory, key, compares = false } = work;
  const stamp = `${work.stamp} ${step.inputs?.(app) ?? ""}`;
  const known = memory.steps.get(step.resourceType);
  const before = known?.stamp === stamp ? known : undefined;
  const isOn = step.isOn(app);
  const tried = { ...work, step, stamp, before, isOn };
  takeWrites(app.owner.uid);
  let prepared: Prepared = { children: [], mended: [] };
  try {
    if (isOn) prepared = await prepare(parts, tried, signal);
  } catch (error) {
    return failed(parts, tried, error, signal);
  }
  const { mended } = prepared;
  const isKnown = before !== undefined && holds(parts, before);
  const isCompared = compares && before?.outcome !== undefined;
  if (isKnown && !isCompared) return { ...resultOf(step, app, before), repaired: mended };
  const isNothing = !isOn && !hasLeftovers(step, work);
  const place = step.service === undefined || isNothing ? noPlace : lanes.enter(step.service, key);
  if (place === undefined) {
    const known = before === undefined ? nothing : resultOf(step, app, before);
    // It will be called: whoever looked again by itself, what it knows being due, would do nothing else.
    return { ...known, repaired: mended, untilMs: Infinity, isPutOff: !isKnown };
  }
  using _place = place;
  try {
    if (isNothing) {
      // The pods serve on while a new image waits, and must start again if they end.
      const read = work.read ?? (await readNow(parts, app, signal));
      const isRead = await removeChildren(parts, { step, app, kept: [], read }, signal);
      memory.steps.delete(step.resourceType);
      return { ...nothing, isRead };
    }
    return await succeed(parts, { ...tried, prepared }, signal);
  } catch (error) {
    return { ...failed(parts, tried, error, signal), repaired: mended };
  }
}

/** A step of a pass, and what is known of it. */
interface Tried extends StepWork {
  readonly step: Step;
  readonly isOn: boolean;
  /** What it was last done for, if that is what it is done for now. */
  readonly before: StepMemory | undefined;
}

interface Prepared {
  readonly children: StepOutcome["wanted"];
  /** Those among them that somebody had changed or removed. */
  readonly mended: readonly string[];
}

async function prepare(
  { takeWrites }: OperatorParts,
  { step, app, memory, stamp, status: ledger }: Tried,
  signal: AbortSignal,
): Promise<Prepared> {
  const children = (await step.prepare?.({ app, ledger }, signal)) ?? [];
  const writes = takeWrites(app.owner.uid);
  const mended = memory.prepared.get(step.resourceType) === stamp ? writes : [];
  memory.prepared.set(step.resourceType, stamp);
  return { children, mended };
}

async function succeed(
  parts: OperatorParts,
  { prepared, ...tried }: Tried & { readonly prepared: Prepared },
  signal: AbortSignal,
): Promise<StepResult> {
  const { clock, random, takeWrites } = parts;
  const { step, app, memory, stamp, before } = tried;
  const sinceMs = before?.sinceMs ?? clock.monotonic();
  const outcome = await doStep(parts, { ...tried, prepared: prepared.children }, signal);
  const untilMs = clock.monotonic() + resyncMs * (0.5 + random.float() / 2);
  const done: StepMemory = { stamp, sinceMs, untilMs, outcome };
  memory.steps.set(step.resourceType, done);
  const writes = [...takeWrites(app.owner.uid), ...outcome.changes];
  const isRepair = before?.outcome !== undefined && before.outcome.holdsImage === undefined;
  return {
    ...resultOf(step, app, done),
    isFresh: true,
    isStanding: false,
    repaired: isRepair ? [...prepared.mended, ...writes] : prepared.mended,
    ...(isRepair || outcome.changes.length === 0
      ? {}
      : { provisionedMs: clock.monotonic() - sinceMs }),
  };
}

/** Throws what ends the pass. */
function failed(
  parts: OperatorParts,
  { step, app, memory, key, stamp, before, isOn }: Tried,
  error: unknown,
  signal: AbortSignal,
): StepResult {
  signal.throwIfAborted();
  if (error instanceof ObjectGone) throw error;
  const failure = isOn ? failureOf(error) : cleanupFailure(error);
  const last = failedBefore(before);
  const attempt = failedAgain(parts, last, failureOf(error));
  const nowMs = parts.clock.monotonic();
  const sinceMs = before?.sinceMs ?? nowMs;
  const departures = parts.departures.count;
  const children = step.prepare === undefined ? childrenOf(parts, { step, app }) : [];
  const done: StepMemory = { stamp, sinceMs, failure, departures, children, ...attempt };
  memory.steps.set(step.resourceType, done);
  // The same once more, before it was due, is no news.
  const isFresh = attempt !== last || before?.failure?.message !== failure.message;
  if (isFresh) {
    const { attempts, untilMs } = attempt;
    const waitMs = untilMs - nowMs;
    parts.log.warn({ app: key, step: step.resourceType, attempts, waitMs, error }, "a step failed");
  }
  return { ...resultOf(step, app, done), isFresh };
}

/** What went wrong while something was taken away, whatever it was. */
export function cleanupFailure(error: unknown): Failure {
  return { ...failureOf(error), reason: "CleanupFailed" };
}

/** Whether something outside is still to be taken away; what is kept on purpose is not. */
export function hasLeftovers(
  { owns }: Pick<Step, "owns">,
  { status, policy }: Pick<StepWork, "status" | "policy">,
): boolean {
  return owns
    .flatMap((kind) => status.all(kind))
    .some(({ state }) => policy === "Delete" || state !== "Retained");
}

/**
 * Removes those of a step's children that nobody wants any more, but what is read. What is not there costs no request. Gives
 * whether something stays since it is read.
 */
export async function removeChildren(
  { children }: Pick<OperatorParts, "children">,
  {
    step,
    app,
    kept,
    read = new Set(),
  }: Pick<StepWork, "app" | "read"> & {
    readonly step: Step;
    readonly kept: StepOutcome["wanted"];
  },
  signal: AbortSignal,
): Promise<boolean> {
  await children.prune(app, { kinds: step.kinds, kept }, signal);
  let isRead = false;
  for (const ref of step.children(app)) {
    const isKept = kept.some(
      ({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name,
    );
    if (isKept || (await children.find(app, ref, signal)) === undefined) continue;
    if (read.has(`${ref.kind} ${ref.name}`)) isRead = true;
    else await children.remove(app, ref, signal);
  }
  return isRead;
}

/** What the app's pods read, as its Deployment was last seen. */
async function readNow(
  { children }: OperatorParts,
  app: App,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const ref = { ...deploymentKind, name: app.names.name };
  return sourcesReadBy(await children.find(app, ref, signal));
}

/** Of what needs no service. */
export const noPlace: Disposable = { [Symbol.dispose]: () => undefined };

/** A step's own children as they were last seen. */
function childrenOf(
  { children }: OperatorParts,
  { step, app }: Pick<Tried, "step" | "app">,
): DynamicObject[] {
  const { namespace } = app;
  return step.children(app).flatMap(({ apiVersion, kind, name }) => {
    const seen = children.of({ apiVersion, kind }).cache.get({ namespace, name });
    return seen !== undefined && isChildOf(app, seen) ? [seen] : [];
  });
}

async function doStep(
  parts: OperatorParts,
  { step, isOn, prepared, ...work }: Tried & { readonly prepared: StepOutcome["wanted"] },
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { app, status: ledger, adopts, policy } = work;
  if (isOn) {
    const outcome = await step.reconcile({ app, ledger, adopts }, signal);
    await removeChildren(parts, { step, app, kept: [...prepared, ...outcome.wanted] }, signal);
    return outcome;
  }
  // What runs for the step goes first. Were it found later, it would seem to have been done for what is made anew.
  await parts.children.prune(app, { kinds: step.kinds, kept: [] }, signal);
  const read = work.read ?? (await readNow(parts, app, signal));
  const { left } = await step.cleanup({ app, ledger, policy, read }, signal);
  if (left === undefined) {
    const isRead = await removeChildren(parts, { step, app, kept: [], read }, signal);
    return { changes: [], wanted: [], isRead };
  }
  const finding = { status: "False", reason: "CleaningUp", message: left } as const;
  return { changes: [], wanted: [], finding, left };
}

/** Whether what was remembered is still so, and not to be asked for anew. */
function holds({ children, clock, departures }: OperatorParts, memory: StepMemory): boolean {
  if (clock.monotonic() >= memory.untilMs) return false;
  if (memory.outcome === undefined) {
    // Whose it was may be gone.
    const isFree = memory.failure.reason === "Conflict" && memory.departures !== departures.count;
    return !isFree && children.areUntouched(memory.children);
  }
  const { wanted, holdsImage, left } = memory.outcome;
  return (holdsImage ?? left) === undefined && children.areUntouched(wanted);
}

function resultOf(step: Step, app: App, memory: StepMemory): StepResult {
  const { untilMs } = memory;
  if (memory.outcome === undefined) {
    const { failure, attempts } = memory;
    const { reason, message } = failure;
    const finding = { status: "False", reason, message } as const;
    return { ...nothing, finding, failure, attempts, untilMs };
  }
  const { finding, holdsImage, left, isRead = false } = memory.outcome;
  const isSaid = step.isOn(app) || left !== undefined;
  return {
    ...nothing,
    isStanding: step.service !== undefined && (holdsImage ?? left) === undefined,
    ...(isSaid ? { finding: finding ?? usualFinding(step, app) } : {}),
    untilMs: left === undefined ? untilMs : 0,
    isRead,
    ...(holdsImage === undefined ? {} : { holdsImage }),
  };
}

function usualFinding(step: Step, app: App): Finding {
  return { status: "True", reason: "Provisioned", message: step.sentence(app) };
}
