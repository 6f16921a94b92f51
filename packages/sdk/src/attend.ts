// One look at one resource: read it, decide, act, report.

import { isCancellation, onAbort, untilAbort } from "@keelson/base";
import { ApiError, type Api, type Reported } from "./api.ts";
import type { ControllerEvent } from "./event.ts";
import type { SdkMetrics } from "./metrics.ts";
import type { Context, Settings } from "./options.ts";
import { concerns, judge, platformFor } from "./preconditions.ts";
import type { Resource } from "./resource.ts";
import {
  failed,
  finalized,
  notApplicable,
  notFinalized,
  outcomeOf,
  waiting,
  waitOf,
  type Failure,
  type Outcome,
  type OutcomeContext,
  type Result,
} from "./results.ts";

/** How a look ended. */
export type Attended =
  | {
      readonly kind: "done";
      /** The generation that has been dealt with; undefined where nothing was. */
      readonly generation?: number;
      /** When to look again without being told. */
      readonly againAfterMs?: number;
    }
  | { readonly kind: "retry"; readonly afterMs?: number };

const done: Attended = { kind: "done" };

/** How long the author's code may take to end once its signal has aborted. */
const heedMs = 5_000;

export interface AttendOptions {
  readonly settings: Settings;
  readonly api: Api;
  readonly metrics: SdkMetrics;
}

/** Deals with the resource of an event. Rejects only with what `signal` was aborted with. */
export async function attend(
  { settings, api, metrics }: AttendOptions,
  { event, attempt }: { readonly event: ControllerEvent; readonly attempt: number },
  signal: AbortSignal,
): Promise<Attended> {
  const { kind, resourceId } = event;
  const log = settings.log.child({ controller: settings.name, kind, id: resourceId });
  try {
    const found = await read(settings, api, event, signal);
    if (found === undefined) return count("gone", done);
    const { resource, cluster } = found;
    const isDeleting = (resource.deletion_timestamp ?? undefined) !== undefined;
    // What has left our platforms is none of our business, but for what we have made there.
    const owes =
      isDeleting &&
      (found.reports[settings.name] !== undefined ||
        event.finalizers?.includes(settings.name) === true);
    if (!owes && !concerns(settings.platforms, platformFor(resource, cluster))) {
      return count("filtered", done);
    }
    const timeUp = settings.clock.timeout(settings.timeoutMs);
    const context: Context = {
      ...found,
      kind,
      event,
      attempt,
      signal: AbortSignal.any([signal, timeUp]),
      log: log.child({ generation: resource.generation }),
    };
    if (isDeleting) return await letGo(context);
    return await bringAbout(context);
  } catch (error) {
    if (isCancellation(error, signal)) throw error;
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) {
      log.debug({ error }, "the resource has moved on");
      return count("moved-on", done);
    }
    if (!(error instanceof ApiError)) throw error;
    log.warn({ attempt, error }, "the API did not take part, trying again");
    return count("api-failed", { kind: "retry" });
  }

  async function bringAbout(context: Context): Promise<Attended> {
    const { resource, reports } = context;
    const verdict = judge(settings, resource, reports);
    if (verdict.verdict === "waits") return wait(context, verdict.reason);
    const result =
      verdict.verdict === "notApplicable"
        ? notApplicable(verdict.reason)
        : await theirs(context, async () => {
            const answer = (await settings.when?.(context)) ?? true;
            if (answer === false) return "waits";
            return answer === true ? settings.reconcile(context) : answer;
          });
    if (result === "waits") return wait(context, "the controller's own precondition does not hold");
    return tell(context, result);
  }

  async function tell(context: Context, said: Result): Promise<Attended> {
    const { result, outcome } = reportable(said, before(context));
    const refused = await sendUnlessRefused(context, outcome);
    if (refused !== undefined) return tellRefused(context, refused);
    if (result.kind === "failed") {
      const { type, message, code, retryAfter } = result.failure;
      context.log.warn({ attempt, type, code, reason: message }, "reconcile failed");
      if (type === "Transient") {
        const afterMs = waitOf(retryAfter);
        return count("failed", { kind: "retry", ...(afterMs === undefined ? {} : { afterMs }) });
      }
    }
    const againAfterMs = waitOf(
      result.kind === "progressing"
        ? result.requeueAfterMs
        : result.kind === "failed"
          ? result.failure.retryAfter
          : undefined,
    );
    return count(result.kind, {
      kind: "done",
      generation: context.resource.generation,
      ...(againAfterMs === undefined ? {} : { againAfterMs }),
    });
  }

  /** Sent again it would be refused again, and nobody would hear why. What is refused even so comes again as it is. */
  async function tellRefused(context: Context, refused: Failure): Promise<Attended> {
    const { type, code, message } = refused;
    context.log.warn({ attempt, type, code, reason: message }, "reconcile failed");
    await send(context, outcomeOf(failed(refused), before(context)));
    return count("failed", { kind: "retry" });
  }

  async function wait(context: Context, reason: string): Promise<Attended> {
    await send(context, waiting(reason, before(context)));
    return count("waits", { kind: "done", generation: context.resource.generation });
  }

  async function letGo(context: Context): Promise<Attended> {
    const { finalize } = settings;
    const own = context.reports[settings.name];
    const isOver = own?.conditions.some(
      ({ type, status }) => type === "Finalized" && status === "True",
    );
    if (isOver === true) return count("deleting", done);
    if (finalize === undefined) {
      // Without one there is nothing to take back, but a version of ours that had one may still be waited for. Events
      // say so; a list does not.
      const { finalizers, reason } = context.event;
      const isAwaited = finalizers?.includes(settings.name) ?? false;
      if (!isAwaited && (reason !== "listed" || own === undefined)) return count("deleting", done);
      await send(context, finalized());
      return count("finalized", done);
    }
    const result = await theirs(context, async () => verdictOf(await finalize(context)));
    if (result === "gone") {
      await send(context, finalized());
      return count("finalized", done);
    }
    const failure = result.kind === "failed" ? result.failure : thrown(undefined);
    context.log.warn({ attempt, reason: failure.message }, "finalize failed");
    const refused = await sendUnlessRefused(context, notFinalized(failure, before(context)));
    if (refused !== undefined) await send(context, notFinalized(refused, before(context)));
    const afterMs = waitOf(failure.retryAfter);
    return count("finalize-failed", {
      kind: "retry",
      ...(afterMs === undefined ? {} : { afterMs }),
    });
  }

  /** Runs the author's code. Whatever it throws is a transient failure, unless we were told to stop. */
  async function theirs<Word extends string>(
    context: Context,
    work: () => Promise<Result | Word>,
  ): Promise<Result | Word> {
    const startMs = settings.clock.monotonic();
    try {
      return await heard(context, work());
    } catch (error) {
      signal.throwIfAborted();
      context.log.debug({ error }, "the controller's own code threw");
      return { kind: "failed", failure: thrown(error, context.signal) };
    } finally {
      metrics.reconcileSeconds.observe((settings.clock.monotonic() - startMs) / 1_000);
    }
  }

  /**
   * What the author's code gives. Where it goes on though its time is up that is told, and it is heard out: there are never
   * two at a time. Where it goes on though we stop it is left behind.
   */
  async function heard<T>(context: Context, work: Promise<T>): Promise<T> {
    const { clock, timeoutMs } = settings;
    let telling: Promise<void> | undefined;
    let leaving: Disposable | undefined;
    const left = new AbortController();
    using _late = clock.after(timeoutMs + heedMs, () => {
      telling = tellLate(context);
    });
    using _stop = onAbort(signal, () => {
      leaving = clock.after(heedMs, () => left.abort(signal.reason));
    });
    try {
      return await untilAbort(work, left.signal);
    } finally {
      await telling; // What comes of the work is reported after it.
      leaving?.[Symbol.dispose]();
    }
  }

  async function tellLate(context: Context): Promise<void> {
    const { timeoutMs } = settings;
    context.log.warn({ attempt, timeoutMs }, "the controller's own code does not heed its signal");
    const failure = thrown(undefined, context.signal);
    const isDeleting = (context.resource.deletion_timestamp ?? undefined) !== undefined;
    const outcome = isDeleting
      ? notFinalized(failure, before(context))
      : outcomeOf(failed(failure), before(context));
    try {
      await send(context, outcome);
    } catch (error) {
      context.log.debug({ error }, "that it takes too long was not reported");
    }
  }

  /** Gives why the API takes no report that says this; undefined where it took it. */
  async function sendUnlessRefused(
    context: Context,
    outcome: Outcome,
  ): Promise<Failure | undefined> {
    try {
      await send(context, outcome);
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError && (error.status === 400 || error.status === 413)))
        throw error;
      return { type: "Transient", code: "ReportRefused", message: error.message };
    }
  }

  async function send({ resource }: Context, outcome: Outcome): Promise<void> {
    const report = {
      controller_name: settings.name,
      observed_generation: resource.generation,
      ...outcome,
      finalizer: settings.finalize !== undefined,
    };
    await api.report(kind, resource.id, report, signal);
  }

  function before({ reports }: Context) {
    const own = reports[settings.name];
    return {
      controllerName: settings.name,
      nowMs: settings.clock.now(),
      ...(own === undefined ? {} : { before: own }),
    };
  }

  function count(result: string, attended: Attended): Attended {
    metrics.reconciles.add({ result });
    return attended;
  }
}

/** A finalize may say that it is not done in the words of a reconcile. Whatever else it gives, it has let go. */
function verdictOf(answer: unknown): "gone" | Result {
  const { kind } = Object(answer) as Partial<Result>;
  if (kind === "failed") return answer as Result;
  if (kind !== "progressing") return "gone";
  const { message, requeueAfterMs: retryAfter } = answer as Result & { readonly kind: typeof kind };
  const failure = { type: "Transient", code: "NotYetFinalized", message } as const;
  return failed({ ...failure, ...(retryAfter === undefined ? {} : { retryAfter }) });
}

async function read(
  { secrets }: Settings,
  api: Api,
  { kind, resourceId }: ControllerEvent,
  signal: AbortSignal,
): Promise<(Reported & { readonly cluster: Resource }) | undefined> {
  const found = await api.find(kind, resourceId, { secrets }, signal);
  if (found === undefined || kind === "cluster") {
    return found && { ...found, cluster: found.resource };
  }
  const parent = await api.find("cluster", found.resource.cluster_id ?? "", { secrets }, signal);
  return parent && { ...found, cluster: parent.resource };
}

/** What cannot be put into a report, such as metadata that hold themselves, is reported as a failure. */
function reportable(
  result: Result,
  context: OutcomeContext,
): { readonly result: Result; readonly outcome: Outcome } {
  try {
    return { result, outcome: outcomeOf(result, context) };
  } catch (error) {
    const failure = failed(thrown(error));
    return { result: failure, outcome: outcomeOf(failure, context) };
  }
}

function thrown(error: unknown, signal?: AbortSignal): Failure {
  const isLate = signal?.aborted === true;
  const message = String(error instanceof Error ? error.message : error);
  return {
    type: "Transient",
    code: isLate ? "DeadlineExceeded" : "ReconcileFailed",
    message: isLate ? "the controller took too long" : message.slice(0, 1_000),
  };
}
