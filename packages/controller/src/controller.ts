// A loop: sources bring keys, workers run the reconciler on them, and what fails is run again.

import { onAbort, TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import { keyOf, refOfKey, retryAfterMsOf, type ObjectRef } from "@keelson/client";

import type { ControllerMetrics } from "./metrics.ts";
import type { Reconciler, Result } from "./reconciler.ts";
import type { Source } from "./source.ts";
import { WorkQueue, type QueueBackoff, type Run } from "./work-queue.ts";

export interface ControllerOptions {
  /** In logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconciler;
  readonly sources: readonly Source[];
  /** How many keys are run at once; 8 unless told. */
  readonly workers?: number;
  /** Keys of one group take turns with those of others; by default a group is a namespace. */
  readonly groupOf?: (ref: ObjectRef) => string;
  /** The waits after failures; a server that names one itself (429, 503) is obeyed. */
  readonly backoff?: QueueBackoff;
  /** How long a run may take: then its signal aborts, and it has failed. Five minutes unless told. */
  readonly runTimeoutMs?: number;
  /** At a stop, how long runs under way may go on before their signals abort. Ten seconds unless told. */
  readonly graceMs?: number;
  /** Called after each failure, for whoever shows it in a status. */
  readonly onFailure?: (ref: ObjectRef, error: unknown, failures: number) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
}

/** A run took longer than it may. */
export class RunTimeout extends Error {
  readonly code = "RUN_TIMEOUT";

  constructor(controller: string, key: string, timeoutMs: number) {
    super(`${controller} has worked on ${key} for more than ${timeoutMs} ms`);
    this.name = "RunTimeout";
  }
}

/**
 * Runs a controller until `signal` aborts: then no run begins, those under way may end, and it resolves when all
 * have. No run begins before each source is ready: a reconciler that sees half of the world would act on it.
 */
export async function runController(
  options: ControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const controller = new Controller(options);
  await controller.run(signal);
}

class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** Aborts the runs under way. */
  readonly #hurry = new AbortController();

  constructor(options: ControllerOptions) {
    const { clock, random, backoff, groupOf = ({ namespace = "" }) => namespace } = options;
    this.#options = options;
    const { name: controller, metrics } = options;
    for (const outcome of ["done", "requeueAfter", "failed"] as const) {
      metrics.runs.with({ controller, outcome }); // At zero from the start.
    }
    this.#queue = new WorkQueue({
      clock,
      random,
      groupOf: (key) => groupOf(refOfKey(key)),
      ...(backoff === undefined ? {} : { backoff }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { sources, workers = 8, graceMs = 10_000, clock, log, name } = this.#options;
    using queue = this.#queue;
    using started = new DisposableStack();
    // A scope of its own: its parent must not cancel what may still end.
    await using scope = new TaskScope(new AbortController().signal);
    try {
      await Promise.all(sources.map((source) => source.untilReady(signal)));
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    for (const source of sources) {
      started.use(source.start((ref, priority) => queue.add(keyOf(ref), priority)));
    }
    log.info({ controller: name, keys: queue.ready }, "controller started");
    for (let worker = 0; worker < workers; worker += 1) {
      scope.spawn(`${name} ${worker}`, () => this.#work(signal));
    }
    let grace: Disposable | undefined;
    using _stopping = onAbort(signal, () => {
      grace = clock.after(graceMs, () => this.#hurry.abort(signal.reason));
    });
    try {
      await scope.join();
    } finally {
      grace?.[Symbol.dispose]();
    }
    log.info({ controller: name }, "controller stopped");
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      let run: Run;
      try {
        run = await this.#queue.take(signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      await this.#runOne(run);
      if (signal.aborted) return;
    }
  }

  async #runOne(run: Run): Promise<void> {
    const { name: controller, clock, metrics, reconcile, runTimeoutMs = 300_000 } = this.#options;
    metrics.waitSeconds.observe({ controller }, run.waitedMs / 1000);
    this.#gauge();
    const startedMs = clock.monotonic();
    const ref = refOfKey(run.key);
    const stop = new AbortController();
    let outcome: Result["type"] | "failed";
    try {
      using _hurry = onAbort(this.#hurry.signal, () => stop.abort(this.#hurry.signal.reason));
      using _timer = clock.after(runTimeoutMs, () =>
        stop.abort(new RunTimeout(controller, run.key, runTimeoutMs)),
      );
      const result = await reconcile(ref, stop.signal);
      outcome = result.type;
      run.done(result.type === "requeueAfter" ? result.afterMs : undefined);
    } catch (error) {
      outcome = "failed";
      this.#failed(run, ref, stop.signal.aborted ? (stop.signal.reason as unknown) : error);
    }
    metrics.runs.add({ controller, outcome });
    metrics.runSeconds.observe({ controller }, (clock.monotonic() - startedMs) / 1000);
    this.#gauge();
  }

  #failed(run: Run, ref: ObjectRef, error: unknown): void {
    const { name: controller, log, onFailure } = this.#options;
    const waitMs = run.failed(retryAfterMsOf(error));
    if (this.#hurry.signal.aborted) return; // It was told to stop; nothing is wrong with it.
    const failures = run.failures + 1;
    log.warn({ controller, object: run.key, failures, waitMs, error }, "reconciling failed");
    onFailure?.(ref, error, failures);
  }

  #gauge(): void {
    const { name: controller, metrics } = this.#options;
    metrics.ready.set({ controller }, this.#queue.ready);
    metrics.delayed.set({ controller }, this.#queue.delayed);
    metrics.running.set({ controller }, this.#queue.running);
  }
}
