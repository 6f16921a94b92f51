// What the author of a controller says, and what is made of it.

import {
  silentLog,
  noMetrics,
  systemClock,
  systemRandom,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
import type { Identity } from "./api.ts";
import type { ControllerEvent } from "./event.ts";
import { problemOf, type Dependency, type Precondition } from "./preconditions.ts";
import type { Kind, Reports, Resource } from "./resource.ts";
import { kinds as allKinds } from "./resource.ts";
import type { Result } from "./results.ts";
import type { Transport } from "./transport.ts";

/** What a reconcile is given. Everything was read after the event arrived. */
export interface Context {
  readonly kind: Kind;
  readonly resource: Resource;
  /** The cluster that a nodepool belongs to; the resource itself where that is a cluster. */
  readonly cluster: Resource;
  /** What each controller has last said of the resource. */
  readonly reports: Reports;
  /** What brought us here; the latest, where several came together. */
  readonly event: ControllerEvent;
  /** 1, and one more for each failure since the last success. */
  readonly attempt: number;
  /** Aborts when the time is up or the controller stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface ControllerOptions {
  /** Under which it registers and reports. */
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** The platforms that it is for; all unless told. */
  readonly platforms?: readonly string[];
  readonly transport: Transport;
  readonly api: { readonly url: string; readonly fetch?: typeof fetch };
  /** Left out: nobody, which the API takes for a controller only where it asks nobody who they are. */
  readonly identity?: Identity;
  readonly dependsOn?: readonly Dependency[];
  readonly preconditions?: readonly Precondition[];
  /**
   * A precondition in words of its own: false waits as an unmet dependency does; a result is reported in place of
   * reconciling.
   */
  readonly when?: (context: Context) => boolean | Result | Promise<boolean | Result>;
  /** Secrets in specs arrive readable. */
  readonly secrets?: boolean;
  /** Brings the outside to what the spec says. Must bear being repeated. What it throws counts as a transient failure. */
  readonly reconcile: (context: Context) => Result | Promise<Result>;
  /**
   * Takes back what reconciling made, before the resource goes. Must bear being repeated. Comes again when it throws, or
   * gives `failed` or `progressing`, whatever their type, after the wait that they ask for; else it has let go.
   */
  readonly finalize?: (context: Context) => unknown;

  /** How long one reconcile may take: 60 s unless told. Below the transport's deadline. */
  readonly timeoutMs?: number;
  /** How many resources are worked on at once: 8 unless told. */
  readonly concurrency?: number;
  /** How long `stop` waits before it aborts what is running: 30 s unless told. */
  readonly drainMs?: number;
  /** The waits after failures: 1 s, doubling, up to 60 s, unless told. */
  readonly retryMs?: { readonly initial: number; readonly max: number };
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

export type Settings = Required<Omit<ControllerOptions, "when" | "finalize" | "api" | "identity">> &
  Pick<ControllerOptions, "when" | "finalize"> & {
    readonly url: string;
    readonly fetch: typeof fetch;
    readonly identity: Identity;
  };

/** Fills in what was left out. Throws a `TypeError` that tells everything that is wrong at once. */
export function settingsOf(options: ControllerOptions): Settings {
  const { transport, timeoutMs = 60_000, concurrency = 8, preconditions = [] } = options;
  const { retryMs = { initial: 1_000, max: 60_000 } } = options;
  const problems: string[] = [];
  if (options.name === "") problems.push("name must not be empty");
  if (options.kinds.length === 0) problems.push(`kinds must name one of ${allKinds.join(", ")}`);
  for (const kind of options.kinds) {
    if (!allKinds.includes(kind)) problems.push(`kinds: ${kind} is not ${allKinds.join(" or ")}`);
  }
  if (!URL.canParse(options.api.url)) problems.push(`api.url: ${options.api.url} is not a URL`);
  for (const precondition of preconditions) {
    const problem = problemOf(precondition);
    if (problem !== undefined) problems.push(`preconditions: ${problem}`);
  }
  if (!(timeoutMs > 0)) problems.push(`timeoutMs must be positive, not ${timeoutMs}`);
  if (timeoutMs >= (transport.ackDeadlineMs ?? Infinity)) {
    problems.push(
      `timeoutMs must be below the transport's deadline of ${transport.ackDeadlineMs} ms, not ${timeoutMs}`,
    );
  }
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    problems.push(`concurrency must be a positive integer, not ${concurrency}`);
  }
  if (!(retryMs.initial > 0 && retryMs.max >= retryMs.initial)) {
    const { initial, max } = retryMs;
    problems.push(`retryMs must be positive, and max at least initial, not ${initial} and ${max}`);
  }
  if (problems.length > 0)
    throw new TypeError(`controller ${options.name}: ${problems.join("; ")}`);
  const { when, finalize } = options;
  return {
    name: options.name,
    kinds: options.kinds,
    platforms: options.platforms ?? [],
    transport,
    url: options.api.url,
    fetch: options.api.fetch ?? fetch,
    identity: options.identity ?? {},
    dependsOn: options.dependsOn ?? [],
    preconditions,
    ...(when === undefined ? {} : { when }),
    secrets: options.secrets ?? false,
    reconcile: options.reconcile,
    ...(finalize === undefined ? {} : { finalize }),
    timeoutMs,
    concurrency,
    drainMs: options.drainMs ?? 30_000,
    retryMs,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    log: options.log ?? silentLog,
    metrics: options.metrics ?? noMetrics,
  };
}
