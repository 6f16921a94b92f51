// Keeps a mirror of a collection level, for ever. What to do is decided in `decide.ts`; this does it.

import { Backoff, onAbort, type Clock, type Log, type Random } from "@keelson/base";
import { StatusError } from "@keelson/kube";

import {
  ConnectionFailed,
  DeadlineExceeded,
  isExpired,
  isNotFound,
  retryAfterMsOf,
  UnexpectedAnswer,
} from "../errors.ts";
import type { ClientMetrics } from "../metrics.ts";
import type { DynamicObject, KubeObject } from "../object.ts";
import { isLater } from "../resource-version.ts";
import type { Collection } from "./collection.ts";
import { decide, start, type Failure, type Outcome, type Position, type Task } from "./decide.ts";
import { Follower, NoInitialEnd, WentBack, type FollowParts } from "./follower.ts";
import type { Mirror } from "./mirror.ts";
import { hasOwed, isOwedStill, owedBy } from "./owed.ts";
import { Silence, SilenceGuard } from "./silence-guard.ts";

/** `syncing` until the first state is complete; `failing` while the last thing that happened was a failure. */
export type ReflectorState = "syncing" | "live" | "failing";

export interface ReflectorLimits {
  /** A long watch that is silent for so long goes on as a short one. */
  readonly quietMs: number;
  /** How long a short watch lasts, by the server. */
  readonly shortSeconds: number;
  /** A short watch from which nothing is heard for so long, not even its end, is dead. */
  readonly silenceMs: number;
  /** How long opening a watch may take. */
  readonly openTimeoutMs: number;
  /** How long the state at the beginning of a watch may take, however busy it is; then it is read in pages. */
  readonly initialMs: number;
  /** The length of a long watch is drawn between this and twice this, so that not all end at once. */
  readonly longSeconds: number;
  /** The waits after failures. */
  readonly backoffMs: { readonly initial: number; readonly max: number };
}

/** Together a stall is found within 12 + 5 or 16 s, and what was missed is asked for on another connection. */
export const usualReflectorLimits: ReflectorLimits = {
  quietMs: 12_000,
  shortSeconds: 12,
  silenceMs: 16_000,
  openTimeoutMs: 5_000,
  initialMs: 60_000,
  longSeconds: 300,
  backoffMs: { initial: 100, max: 5_000 },
};

/** A server in our own process need not be looked after so closely, and each watch that begins anew costs as much as a change. */
const inProcessLimits: Partial<ReflectorLimits> = {
  quietMs: 300_000,
  shortSeconds: 300,
  silenceMs: 310_000,
};

export interface ReflectorOptions<T extends KubeObject = DynamicObject> {
  readonly collection: Collection<T>;
  readonly mirror: Mirror<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ClientMetrics;
  readonly limits?: Partial<ReflectorLimits>;
  readonly onState?: (state: ReflectorState, error?: unknown) => void;
}

/**
 * Keeps `mirror` level with `collection` until `signal` aborts: then it just ends.
 *
 * Promises (C1 to C4): every state of the collection that it skips is followed by a later one; versions never go
 * back but by a `replace`; it never gives up; and a connection that goes silent is found within 30 s, one to a
 * server of the same process within six minutes, by the monotonic clock.
 */
export async function runReflector<T extends KubeObject = DynamicObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  await new Reflector(options).run(signal);
}

class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #limits: ReflectorLimits;
  #state: ReflectorState = "syncing";

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#limits = {
      ...usualReflectorLimits,
      ...(options.collection.isInProcess ? inProcessLimits : {}),
      ...options.limits,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, collection } = this.#options;
    let position: Position = start;
    while (!signal.aborted) {
      const outcome = await this.#perform(position, signal);
      if (signal.aborted) return;
      const decision = decide(position, outcome);
      position = decision.position;
      if (decision.renewConnections) collection.renewConnections();
      if (decision.wait === undefined) continue;
      const waitMs = this.#backoffMs(decision.wait.failures) + decision.wait.atLeastMs;
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  async #perform({ task, version }: Position, signal: AbortSignal): Promise<Outcome> {
    try {
      switch (task.type) {
        case "list":
          return task.way === "pages" ? await this.#listPages(signal) : await this.#stream(signal);
        case "watch":
          return await this.#watch(task, signal);
        case "probe":
          return await this.#probe(version ?? "", signal);
      }
    } catch (error) {
      return this.#failed(error, undefined, signal);
    }
  }

  async #probe(handedOver: string, signal: AbortSignal): Promise<Outcome> {
    const { collection, mirror } = this.#options;
    const known = mirror.known();
    const owed = owedBy(mirror);
    const version = await collection.probe(signal);
    // Whatever was owed before is at or below this version; all of that was handed over, and it was not among it.
    const isForgotten = isOwedStill(mirror, owed) && !isLater(version, handedOver);
    return { type: "probed", version, isBack: isLater(known, version) || isForgotten };
  }

  async #listPages(signal: AbortSignal): Promise<Outcome> {
    const { collection, mirror, metrics } = this.#options;
    metrics.reflectorLists.add({ way: "pages" });
    const known = mirror.known();
    const owed = owedBy(mirror);
    const { items, resourceVersion } = await collection.list(signal);
    const isBack = isLater(known, resourceVersion) || hasOwed(items, owed);
    mirror.replace(items, resourceVersion, { isBack });
    this.#enter("live");
    return { type: "listed", version: resourceVersion };
  }

  /** Reads the state as the beginning of a watch, and goes on with the watch. */
  async #stream(signal: AbortSignal): Promise<Outcome> {
    this.#options.metrics.reflectorLists.add({ way: "stream" });
    const initial = new Map<string, T>();
    return await this.#follow(
      { request: { sendInitialEvents: true, timeoutSeconds: this.#longSeconds() }, initial },
      signal,
    );
  }

  async #watch(task: Task & { readonly type: "watch" }, signal: AbortSignal): Promise<Outcome> {
    const isShort = task.length === "short";
    const timeoutSeconds = isShort ? this.#limits.shortSeconds : this.#longSeconds();
    return await this.#follow(
      { request: { from: task.from, timeoutSeconds }, isShort, version: task.from },
      signal,
    );
  }

  async #follow(parts: FollowParts<T>, signal: AbortSignal): Promise<Outcome> {
    const { clock, collection } = this.#options;
    const { openTimeoutMs, initialMs, quietMs, silenceMs } = this.#limits;
    const stop = new AbortController();
    using _listener = onAbort(signal, () => stop.abort(signal.reason));
    const follower = new Follower(this.#options.mirror, parts);
    const openedAtMs = clock.monotonic();
    try {
      const request = { ...parts.request, openTimeoutMs };
      const events = await collection.watch(request, stop.signal);
      if (follower.isLevel) this.#enter("live");
      using guard = new SilenceGuard(clock, parts.isShort === true ? silenceMs : quietMs, () =>
        stop.abort(new Silence()),
      );
      using patience = clock.after(initialMs, () => {
        if (!follower.isLevel) stop.abort(new NoInitialEnd());
      });
      if (follower.isLevel) patience[Symbol.dispose]();
      for await (const event of events) {
        guard.heard();
        const wasLevel = follower.isLevel;
        follower.take(event);
        if (wasLevel || !follower.isLevel) continue;
        patience[Symbol.dispose]();
        this.#enter("live");
      }
      if (!follower.isLevel)
        throw new UnexpectedAnswer("a watch ended before its state was complete");
    } catch (error) {
      const isQuiet = error instanceof Silence && follower.isLevel && parts.isShort !== true;
      if (!isQuiet) return this.#failed(error, follower, signal);
    }
    this.#options.metrics.reflectorWatches.add({ end: "done" });
    const lasted = clock.monotonic() - openedAtMs >= lastedMsMin;
    const { version = "", isBehind } = follower;
    return { type: "ended", version, heard: follower.heard, lasted, isBehind };
  }

  /** `follower` is of a watch; one whose state is not complete is a way of listing. */
  #failed(error: unknown, follower: Follower<T> | undefined, signal: AbortSignal): Outcome {
    const failure = failureOf(error, { isList: follower?.isLevel === false });
    if (!signal.aborted) {
      this.#options.metrics.reflectorWatches.add({ end: failure.type });
      this.#enter("failing", error);
    }
    const version = follower?.isLevel === true ? follower.version : undefined;
    return { type: "failed", failure, ...(version === undefined ? {} : { version }) };
  }

  #enter(state: ReflectorState, error?: unknown): void {
    const { log, onState } = this.#options;
    const before = this.#state;
    this.#state = state;
    onState?.(state, error);
    if (state === before) return;
    if (state === "failing") log.warn({ error }, "the watch of a collection has failed");
    else if (before === "failing") log.info({}, "the watch of a collection goes on");
  }

  #backoffMs(failures: number): number {
    const { initial: initialMs, max: maxMs } = this.#limits.backoffMs;
    return Backoff.after(failures, { initialMs, maxMs, random: this.#options.random });
  }

  #longSeconds(): number {
    const { longSeconds } = this.#limits;
    return longSeconds + this.#options.random.integer(longSeconds);
  }
}

/** A watch that ends sooner than this was hardly one. */
const lastedMsMin = 1_000;

function failureOf(error: unknown, { isList }: { readonly isList: boolean }): Failure {
  if (error instanceof Silence || error instanceof DeadlineExceeded) {
    // Before its state is complete a stream may be silent since the server knows nothing of initial states.
    return isList && error instanceof Silence
      ? { type: "unsupported", isForGood: false }
      : { type: "silence" };
  }
  if (error instanceof NoInitialEnd) return { type: "unsupported", isForGood: true };
  if (error instanceof WentBack || error instanceof UnexpectedAnswer) return { type: "doubt" };
  if (isExpired(error)) return { type: "expired" };
  if (error instanceof ConnectionFailed) return { type: "trouble" };
  if (!(error instanceof StatusError)) return { type: "trouble" };
  const { code } = error.status;
  const afterMs = retryAfterMsOf(error) ?? 0;
  if (code === 429 || code === 503 || code === 504) return { type: "busy", afterMs };
  if (isList && (code === 422 || code === 400 || code === 405 || code === 406 || code === 415)) {
    return { type: "unsupported", isForGood: true };
  }
  return code === 400 || isNotFound(error) ? { type: "doubt" } : { type: "trouble" };
}
