// A controller: registers, hears of resources, looks at each of them one at a time, and stops in order.

import { Backoff, onAbort } from "@keelson/base";
import { Api } from "./api.ts";
import { attend, type Attended } from "./attend.ts";
import { readEvent, type ControllerEvent, type RawEvent } from "./event.ts";
import { sdkMetrics, type EventResult, type SdkMetrics } from "./metrics.ts";
import { settingsOf, type ControllerOptions, type Settings } from "./options.ts";
import { concerns } from "./preconditions.ts";
import { Recent } from "./recent.ts";
import { ResourceTurns } from "./resource-turns.ts";
import { platformOf, type Kind, type Resource } from "./resource.ts";
import { ack, type Disposition, type Subscription } from "./transport.ts";

export interface Controller extends AsyncDisposable {
  readonly name: string;
  /**
   * Registers, subscribes, then looks at everything there is, in the background. Resolves once nothing can be
   * missed any more; rejects when the API or the transport cannot be had. `signal` gives up on that, and on nothing later.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Takes nothing new, lets what is running end, aborts it when that takes too long, and leaves behind what goes on. */
  stop(): Promise<void>;
}

/** Makes a controller; `start` starts it. Throws a `TypeError` for options that cannot work. */
export function createController(options: ControllerOptions): Controller {
  return new RunningController(settingsOf(options));
}

/** How many events, and how many resources, are remembered: beyond that one is looked at once more. */
const rememberedMax = 10_000;

const acknowledged: Promise<Disposition> = Promise.resolve(ack);

class RunningController implements Controller {
  readonly name: string;
  readonly #settings: Settings;
  readonly #api: Api;
  readonly #metrics: SdkMetrics;
  readonly #turns: ResourceTurns<ControllerEvent, Attended>;
  /** By event: what is becoming of it, or that it is done with. */
  readonly #seen = new Recent<Promise<Disposition>>({ capacity: rememberedMax });
  /** By resource: the latest generation that was dealt with, and the failures since. */
  readonly #generations = new Recent<number>({ capacity: rememberedMax });
  readonly #failures = new Recent<number>({ capacity: rememberedMax });
  /** By resource: lets go of the event that waits for its turn, since a later one stands for it. */
  readonly #waiting = new Map<string, () => void>();
  /** By resource: the event that comes again because looking failed. One a resource: a later one takes its place. */
  readonly #owed = new Recent<string>({ capacity: rememberedMax });
  /** By resource: when we look again by ourselves. One a resource at most. */
  readonly #timers = new Map<string, Disposable>();
  /** Aborts when the start fails or we stop: nothing is taken any more, nobody looks by themselves. */
  #following: AbortSignal;
  /** Aborts when we begin to stop: what waits ends, what runs goes on. */
  readonly #stopping = new AbortController();
  /** Aborts when what runs has had its time. */
  readonly #ending = new AbortController();
  #isStarted = false;
  #subscription: Subscription | undefined;
  #listing: Promise<void> | undefined;
  #isGap = false;
  #stopped: Promise<void> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.name = settings.name;
    this.#following = this.#stopping.signal;
    this.#metrics = sdkMetrics(settings.metrics);
    this.#api = new Api({ ...settings, requestTimeoutMs: 10_000, attemptsMax: 5 });
    this.#turns = new ResourceTurns({
      concurrency: settings.concurrency,
      run: (key, event) => this.#look(key, event),
    });
  }

  async start(signal: AbortSignal = this.#stopping.signal): Promise<void> {
    const { name, kinds, platforms, log } = this.#settings;
    if (this.#isStarted) throw new Error(`controller ${name} was started twice`);
    this.#isStarted = true;
    const failing = new AbortController();
    this.#following = AbortSignal.any([this.#stopping.signal, failing.signal]);
    try {
      // A transport goes by the signal of what it follows: one that is not there may be tried for ever.
      using _givenUp = onAbort(signal, () => failing.abort(signal.reason));
      await this.#follow(AbortSignal.any([this.#stopping.signal, signal]));
    } catch (error) {
      failing.abort(error);
      this.#forgetTimers();
      await this.#ended();
      this.#subscription = undefined;
      this.#isStarted = false;
      throw error;
    }
    log.info({ controller: name, kinds, platforms }, "controller started");
  }

  /** Everything that `start` does; what is subscribed to is followed until `#following` aborts. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { name, kinds, platforms, transport, finalize, log, clock, random } = this.#settings;
    const registration = { kinds, platforms, finalizer: finalize !== undefined };
    await this.#api.register(name, registration, signal);
    this.#subscription = await transport.subscribe(
      {
        controllerName: name,
        kinds,
        // What we have made is ours to take back, whatever its platform has become: only we can tell.
        platforms: finalize === undefined ? platforms : [],
        api: { url: this.#api.url, headers: this.#api.headers },
        fetch: this.#settings.fetch,
        clock,
        random,
        log: log.child({ controller: name }),
        deliver: (event) => this.#deliver(event),
        onGap: () => this.#listAgain(),
      },
      this.#following,
    );
    await this.#list(signal);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    const { clock, drainMs, log, name } = this.#settings;
    this.#stopping.abort(new DOMException("the controller is stopping", "AbortError"));
    this.#forgetTimers();
    using _deadline = clock.after(drainMs, () => {
      log.warn({ controller: name, drainMs }, "aborting what did not end in time");
      this.#ending.abort(new DOMException("the controller has stopped", "AbortError"));
    });
    await this.#ended();
    log.info({ controller: name }, "controller stopped");
  }

  #forgetTimers(): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  /** Ends when nothing is under way any more. */
  async #ended(): Promise<void> {
    await Promise.all([this.#subscription?.close(), this.#turns.idle(), this.#listing]);
  }

  /** Decides about an event: let go at once, or looked at, in turn. */
  async #deliver(raw: RawEvent): Promise<Disposition> {
    const { name, kinds, platforms, log } = this.#settings;
    const read = readEvent(raw);
    if (read.found === "malformed") {
      log.warn({ controller: name, problem: read.problem }, "malformed event");
      return this.#letGo("malformed");
    }
    if (read.found === "unknown") return this.#letGo("unknown");
    const { event } = read;
    if (!kinds.includes(event.kind)) return this.#letGo("filtered");
    const isAwaited = event.finalizers?.includes(name) === true;
    if (!isAwaited && !concerns(platforms, event.platform)) return this.#letGo("filtered");
    if (isWake(event) && event.controllerName === name) return this.#letGo("own");
    const known = this.#seen.get(event.id);
    if (known !== undefined) {
      this.#metrics.events.add({ result: "duplicate" });
      return known;
    }
    if (this.#isSuperseded(event)) return this.#letGo("superseded");
    if (this.#following.aborted) return { kind: "nack", afterMs: 0 };
    const becoming = this.#attendTo(event);
    this.#seen.set(event.id, becoming);
    const disposition = await becoming;
    this.#settle(event, disposition);
    this.#metrics.events.add({ result: disposition.kind === "ack" ? "handled" : "retried" });
    return disposition;
  }

  /**
   * An event that was given back before is done with by this one, whether that succeeded or comes again itself: else a
   * resource that goes on failing would owe one more event with every announcement.
   */
  #settle(event: ControllerEvent, { kind }: Disposition): void {
    const key = keyOf(event);
    const former = this.#owed.get(key);
    if (former !== undefined && former !== event.id) this.#seen.set(former, acknowledged);
    if (kind === "ack") {
      this.#owed.delete(key);
    } else {
      this.#seen.delete(event.id);
      this.#owed.set(key, event.id);
    }
  }

  /**
   * What waits for one turn is one event, the latest: else a resource whose look does not end would hold one more with every
   * announcement, until nobody is heard of any more.
   */
  async #attendTo(event: ControllerEvent): Promise<Disposition> {
    const key = keyOf(event);
    this.#waiting.get(key)?.();
    const covered = Promise.withResolvers<Disposition>();
    this.#waiting.set(key, () => covered.resolve(ack));
    const looked = this.#turns.ask(key, event).then((attended): Disposition => {
      return attended.kind === "done" ? ack : { kind: "nack", afterMs: attended.afterMs ?? 0 };
    });
    return Promise.race([looked, covered.promise]);
  }

  #letGo(result: EventResult): Disposition {
    this.#metrics.events.add({ result });
    return ack;
  }

  /**
   * Whether what the event tells of has been seen already: the resource was read at a later generation, so after
   * the event was written; or at that of a change which the event merely announces.
   */
  #isSuperseded(event: ControllerEvent): boolean {
    const generation = this.#generations.get(keyOf(event));
    if (generation === undefined || event.type.endsWith(".deleted")) return false;
    return isWake(event) ? event.generation < generation : event.generation <= generation;
  }

  /** One turn of a resource. Failures are counted, and say how long to wait. */
  async #look(key: string, event: ControllerEvent): Promise<Attended> {
    this.#waiting.delete(key);
    this.#timers.get(key)?.[Symbol.dispose]();
    this.#timers.delete(key);
    // What waits when a start fails is for the next one, which lists everything; a stop lets it come to its turn.
    if (this.#following.aborted && !this.#stopping.signal.aborted) return { kind: "retry" };
    const failures = this.#failures.get(key) ?? 0;
    let attended: Attended;
    try {
      attended = await attend(
        { settings: this.#settings, api: this.#api, metrics: this.#metrics },
        { event, attempt: failures + 1 },
        this.#ending.signal,
      );
    } catch (error) {
      if (!this.#ending.signal.aborted) {
        this.#settings.log.error({ controller: this.name, key, error }, "unexpected failure");
      }
      attended = { kind: "retry" };
    }
    if (attended.kind === "retry") {
      this.#failures.set(key, failures + 1);
      return { kind: "retry", afterMs: attended.afterMs ?? this.#backoffMs(failures) };
    }
    this.#failures.delete(key);
    if (attended.generation !== undefined) this.#generations.set(key, attended.generation);
    if (attended.againAfterMs !== undefined) this.#lookAfter(attended.againAfterMs, key, event);
    return attended;
  }

  /** Looks again by ourselves, and goes on doing so until it succeeds: no transport will bring it back. */
  #lookAfter(waitMs: number, key: string, event: ControllerEvent): void {
    if (this.#following.aborted) return;
    this.#timers.get(key)?.[Symbol.dispose]();
    this.#timers.set(
      key,
      this.#settings.clock.after(waitMs, () => {
        this.#timers.delete(key);
        this.#lookNow(key, { ...event, reason: "requeued" });
      }),
    );
  }

  #lookNow(key: string, event: ControllerEvent): void {
    void this.#turns.ask(key, event).then((attended) => {
      if (attended.kind === "retry") this.#lookAfter(attended.afterMs ?? 0, key, event);
    });
  }

  #backoffMs(failures: number): number {
    const { random, retryMs } = this.#settings;
    return Backoff.after(failures + 1, { initialMs: retryMs.initial, maxMs: retryMs.max, random });
  }

  /** Nothing begins before all of it is listed: a start that fails leaves nothing running. */
  async #list(signal: AbortSignal): Promise<void> {
    const listed: { readonly kind: Kind; readonly resources: readonly Resource[] }[] = [];
    for (const kind of this.#settings.kinds) {
      listed.push({ kind, resources: await this.#api.list(kind, signal) });
    }
    signal.throwIfAborted(); // Whoever has been stopped meanwhile has ended already.
    for (const { kind, resources } of listed) {
      for (const resource of resources) this.#enlist(kind, resource);
    }
  }

  #enlist(kind: Kind, resource: Resource): void {
    const { platforms } = this.#settings;
    const platform = platformOf(resource.spec);
    // Without a finalize, too: a version of ours that had one may still be waited for.
    const mayOwe = (resource.deletion_timestamp ?? undefined) !== undefined;
    if (!mayOwe && !concerns(platforms, platform)) return;
    const event: ControllerEvent = {
      id: `list:${resource.id}`,
      type: `${kind}.reconcile`,
      kind,
      resourceId: resource.id,
      clusterId: resource.cluster_id ?? resource.id,
      generation: resource.generation,
      ...(platform === undefined ? {} : { platform }),
      reason: "listed",
    };
    this.#lookNow(keyOf(event), event);
  }

  /** Lists until it succeeds; once more when a gap opens meanwhile. */
  #listAgain(): void {
    this.#isGap = true;
    this.#listing ??= this.#listUntilDone().finally(() => {
      this.#listing = undefined;
    });
  }

  async #listUntilDone(): Promise<void> {
    const { clock, random, log } = this.#settings;
    const signal = this.#following;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, random });
    while (this.#isGap && !signal.aborted) {
      this.#isGap = false;
      try {
        await this.#list(signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        this.#isGap = true;
        log.warn({ controller: this.name, error }, "listing failed, trying again");
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
      }
    }
  }
}

function isWake({ type }: ControllerEvent): boolean {
  return type.endsWith(".reconcile");
}

function keyOf({ kind, resourceId }: ControllerEvent): string {
  return `${kind}/${resourceId}`;
}
