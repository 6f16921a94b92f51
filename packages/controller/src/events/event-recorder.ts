// Events about objects, for people who look with `kubectl describe`: `events.k8s.io/v1`, said once and then counted.

import { isCancellation, onAbort, type Clock, type Log, type Random } from "@keelson/base";
import {
  isAlreadyExists,
  isNotFound,
  isTransient,
  type KubeObject,
  type ObjectKind,
  type ResourceClient,
} from "@keelson/client";
import { microTimeFromMs } from "@keelson/kube";

import type { ControllerMetrics } from "../metrics.ts";

export interface Happening {
  /** The object that it is about. */
  readonly regarding: KubeObject;
  readonly type: "Normal" | "Warning";
  /** One word for machines: `Created`, `FailedApply`. */
  readonly reason: string;
  /** What was done or tried: `Apply`. */
  readonly action: string;
  /** A sentence. No secrets: whoever may read the namespace's events reads it. */
  readonly note: string;
}

/** What recording needs of a client. */
export interface EventClient {
  resource<T extends KubeObject>(
    kind: ObjectKind,
    signal: AbortSignal,
  ): Promise<Pick<ResourceClient<T>, "create" | "patch">>;
}

export interface EventRecorderOptions {
  readonly client: EventClient;
  /** Who reports: `keelson.dev/fleet`. */
  readonly controller: string;
  /** Which process of it. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  readonly limits?: Partial<EventLimits>;
}

export interface EventLimits {
  /** Different happenings that are remembered or wait to be written; the least recent is forgotten for another. */
  readonly happeningsMax: number;
  /** How often repetitions are written. */
  readonly flushMs: number;
  /** A happening that is not repeated for so long is said anew when it comes again. */
  readonly seriesMs: number;
  /** How long writing what is left may take after a stop. */
  readonly lastWordsMs: number;
}

const usualLimits: EventLimits = {
  happeningsMax: 1_000,
  flushMs: 10_000,
  seriesMs: 360_000,
  lastWordsMs: 2_000,
};

const eventKind = { apiVersion: "events.k8s.io/v1", kind: "Event" } as const;

interface Series {
  readonly happening: Happening;
  lastAtMs: number;
  lastAtWallMs: number;
  count: number;
  /** How often it had been when it was last written. */
  written: number;
  /** How often writing it has failed in a row, and until when it is left alone for that. */
  failures: number;
  restUntilMs: number;
  /** The Event it is written to, once it is; and the name for that, drawn once: a create may happen unheard. */
  name: string | undefined;
  wantedName: string | undefined;
}

/**
 * Records what happens. `record` never waits and never fails: events are told to people, and nothing depends on
 * them. The same thing about the same object is one Event with a count (C14).
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #limits: EventLimits;
  /** In the order of when each was last heard of. */
  readonly #series = new Map<string, Series>();
  #wake = Promise.withResolvers<void>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    for (const outcome of ["created", "counted", "repeated", "lost"] as const) {
      options.metrics.events.with({ outcome }); // At zero from the start.
    }
    this.#limits = { ...usualLimits, ...options.limits };
  }

  record(happening: Happening): void {
    const { clock, metrics } = this.#options;
    const key = keyOfHappening(happening);
    const nowMs = clock.monotonic();
    const known = this.#series.get(key);
    if (known !== undefined && nowMs - known.lastAtMs < this.#limits.seriesMs) {
      known.count += 1;
      known.lastAtMs = nowMs;
      known.lastAtWallMs = clock.now();
      this.#series.delete(key);
      this.#series.set(key, known);
      metrics.events.add({ outcome: "repeated" });
      return;
    }
    const lastAtWallMs = clock.now();
    const series = { lastAtMs: nowMs, lastAtWallMs, count: 1, written: 0, failures: 0 };
    this.#series.delete(key);
    this.#series.set(key, {
      happening,
      ...series,
      restUntilMs: nowMs,
      name: undefined,
      wantedName: undefined,
    });
    this.#forgetOldest();
    this.#wake.resolve();
  }

  /** Writes what is recorded, until `signal` aborts; then what is left, for at most `lastWordsMs`. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#flush("new", signal);
      // New ones at once; repetitions now and then.
      if (await this.#isTimePassed(signal)) await this.#flush("all", signal);
      this.#wake = Promise.withResolvers();
      const nowMs = clock.monotonic();
      const isDue = ({ written, restUntilMs }: Series): boolean =>
        written === 0 && restUntilMs <= nowMs;
      if (this.#series.values().some(isDue)) this.#wake.resolve();
    }
    await this.#flush("last", clock.timeout(this.#limits.lastWordsMs));
  }

  /** Waits for something new, for the time of repetitions or for the end; whether it was the time. */
  async #isTimePassed(signal: AbortSignal): Promise<boolean> {
    let isPassed = false;
    using _stop = onAbort(signal, () => this.#wake.resolve());
    using _timer = this.#options.clock.after(this.#limits.flushMs, () => {
      isPassed = true;
      this.#wake.resolve();
    });
    await this.#wake.promise;
    return isPassed;
  }

  async #flush(which: "new" | "all" | "last", signal: AbortSignal): Promise<void> {
    const { client, log, metrics, clock } = this.#options;
    // As they are now: one that is said again meanwhile goes to the end, and would be met again, for ever.
    const present = [...this.#series];
    for (const [key, series] of present) {
      if (signal.aborted) return;
      if (this.#series.get(key) !== series) continue; // Forgotten.
      if (clock.monotonic() - series.lastAtMs >= this.#limits.seriesMs) {
        if (series.written === series.count) this.#series.delete(key);
      }
      const isNew = series.written === 0;
      if (series.written === series.count || (which === "new" && !isNew)) continue;
      if (which !== "last" && series.restUntilMs > clock.monotonic()) continue;
      const { count } = series;
      try {
        const events = await client.resource<EventObject>(eventKind, signal);
        if (series.name === undefined) await this.#create(events, series, signal);
        else await this.#repeat(events, series, signal);
        series.written = count;
        series.failures = 0;
        metrics.events.add({ outcome: isNew ? "created" : "counted" });
      } catch (error) {
        if (isCancellation(error, signal)) return;
        series.failures += 1;
        if (isTransient(error) && series.failures < triesMax) {
          series.restUntilMs = clock.monotonic() + this.#limits.flushMs;
          continue;
        }
        series.failures = 0;
        // Its namespace may be going. It is not worth another try.
        series.written = count;
        metrics.events.add({ outcome: "lost" });
        log.debug({ reason: series.happening.reason, error }, "an event could not be written");
      }
    }
  }

  async #create(events: EventObjects, series: Series, signal: AbortSignal): Promise<void> {
    const { controller, instance, random } = this.#options;
    const { regarding, type, reason, action, note } = series.happening;
    const { apiVersion, kind, metadata } = regarding;
    const { name = "", namespace, uid, resourceVersion } = metadata;
    const wanted = (series.wantedName ??= `${name.slice(0, 200)}.${random.uuid().slice(0, 13)}`);
    let wasThere = false;
    const creating = events.create(
      {
        ...eventKind,
        metadata: { name: wanted, namespace: namespace ?? "default" },
        eventTime: microTimeFromMs(series.lastAtWallMs),
        reportingController: controller,
        reportingInstance: instance.slice(0, 128),
        action,
        reason,
        type,
        note: note.slice(0, 1_024),
        regarding: {
          apiVersion,
          kind,
          name,
          ...(namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
        ...(series.count > 1 ? { series: seriesOf(series) } : {}),
      },
      callOptions,
      signal,
    );
    await creating.catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      wasThere = true;
    });
    series.name = wanted;
    // By an earlier try, whose answer was lost: it says how often it had been by then.
    if (wasThere && series.count > 1) await this.#repeat(events, series, signal);
  }

  async #repeat(events: EventObjects, series: Series, signal: AbortSignal): Promise<void> {
    const namespace = series.happening.regarding.metadata.namespace ?? "default";
    const { name = "" } = series;
    const body = { series: seriesOf(series) };
    try {
      await events.patch(
        { namespace, name },
        { type: "merge", body, options: callOptions },
        signal,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Events live an hour. This one goes on in a new one.
      series.name = undefined;
      series.wantedName = undefined;
      await this.#create(events, series, signal);
    }
  }

  #forgetOldest(): void {
    if (this.#series.size <= this.#limits.happeningsMax) return;
    for (const [key, series] of this.#series) {
      this.#series.delete(key);
      if (series.written === 0) this.#options.metrics.events.add({ outcome: "lost" });
      return;
    }
  }
}

type EventObjects = Pick<ResourceClient<EventObject>, "create" | "patch">;

interface EventObject extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: string;
  readonly note: string;
  readonly regarding: Readonly<Record<string, string>>;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/** With ten seconds between them: an API server that is restarted is back by then. */
const triesMax = 12;
const callOptions = { priority: "low", timeoutMs: 10_000 } as const;

function seriesOf({ count, lastAtWallMs }: Series) {
  return { count, lastObservedTime: microTimeFromMs(lastAtWallMs) };
}

function keyOfHappening({ regarding, type, reason, action, note }: Happening): string {
  const { kind, metadata } = regarding;
  const { namespace = "", name = "", uid = "" } = metadata;
  return JSON.stringify([kind, namespace, name, uid, type, reason, action, note]);
}
