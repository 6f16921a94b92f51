// Keeps the hub level with the log, whoever wrote it.

import { setImmediate } from "node:timers";
import { Backoff, type Clock, type Log, type Random } from "@keelson/base";
import type { Backend, Outcome, Write } from "./backend.ts";
import type { Body } from "./body.ts";
import { Change } from "./change.ts";
import { storedBody } from "./columns.ts";
import type { Committed } from "./commit-queue.ts";
import { Delivery } from "./delivery.ts";
import { Expired } from "./errors.ts";
import type { StoreMetrics } from "./metrics.ts";
import type { ObjectCache } from "./object-cache.ts";
import type { Revision } from "./revision.ts";
import type { WatchHub } from "./watch-hub.ts";

interface Options {
  readonly backend: Backend;
  readonly hub: WatchHub;
  readonly cache: ObjectCache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: StoreMetrics;
  /** How often the log is looked at although nobody said to: the safety net. */
  readonly pollMs: number;
  /** Whether a batch of our own is under way. */
  readonly isCommitting: () => boolean;
}

/** How long an announcement may wait for the answer to our own commit, which it mostly is about. */
const ownCommitMs = 5;

/** Log read at a time. */
const pageLimits = { entries: 1000, text: 8 * 1024 * 1024 } as const;

/**
 * Publishes every committed change to the hub, once and in order.
 *
 * Our own batch is published from memory if it follows the cursor directly. All
 * else is read from the log: one read feeds all watchers of the process.
 */
export class LogFeed {
  readonly #options: Options;
  /** From the start: what was announced before we listened was announced to nobody. */
  #isWoken = true;
  /** When somebody last said so, and nobody had looked yet. */
  #wokenAt: number | undefined;
  #wake: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Says: look. */
  wake(): void {
    this.#isWoken = true;
    this.#wokenAt ??= this.#options.clock.monotonic();
    this.#wake?.();
  }

  /** Takes a batch that this process committed. */
  offer(batch: Committed): void {
    const { hub } = this.#options;
    const changes = this.#changesOf(batch);
    const first = changes?.[0];
    if (changes !== undefined && first === undefined) return; // Nothing was written.
    // S9: only if nothing lies between. Otherwise the log has it, in order.
    if (changes === undefined || first === undefined || first.revision !== hub.cursor + 1) {
      this.wake();
      return;
    }
    this.#publish(changes, changes.at(-1)?.revision ?? hub.cursor);
  }

  /** Reads the log when woken and now and then, until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { backend, clock, random, log, pollMs } = this.#options;
    using _subscription = backend.onWake((committed) => {
      if (committed === undefined) this.wake();
      else this.#wakeUnlessPublished(committed);
    });
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
    const backoff = new Backoff({ initialMs: 50, maxMs: 2000, random });
    while (!signal.aborted) {
      try {
        await this.#waitForWake(pollMs);
        if (signal.aborted) return;
        await this.catchUp(signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ error }, "cannot read the log");
        this.#isWoken = true;
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  /**
   * The database also announces our own commits, and often before it answers them. Looking then would ask for
   * the head once a commit and find what is about to be published; so while a batch is under way it may come
   * first, for a moment: somebody else's change waits no longer than that.
   */
  #wakeUnlessPublished(committed: Revision): void {
    const { hub, clock, isCommitting } = this.#options;
    const look = (): void => {
      if (hub.cursor < committed) this.wake();
    };
    // After this turn's I/O, in which the answer may be.
    setImmediate(() => {
      if (hub.cursor < committed && isCommitting()) clock.after(ownCommitMs, look);
      else look();
    });
  }

  /** Publishes whatever the log holds beyond the cursor. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { backend, hub, clock } = this.#options;
    this.#isWoken = false;
    const committedAt = this.#wokenAt ?? clock.monotonic();
    this.#wokenAt = undefined;
    for (;;) {
      const before = hub.cursor;
      const head = await backend.head(signal);
      if (head < before) await this.#expireAll(signal);
      else if (hub.cursor >= head) return;
      try {
        const cursor = hub.cursor;
        const page = await backend.log(cursor, pageLimits, signal);
        // While we read, our own batch may have been published from memory.
        if (hub.cursor !== cursor) continue;
        this.#publish(
          page.entries.map((entry) => Change.of(entry, committedAt)),
          page.through,
        );
      } catch (error) {
        if (!(error instanceof Expired)) throw error;
        this.#loseTrack(await backend.head(signal));
      }
    }
  }

  /** The head went back: the database was restored, and what we have published beyond it never was. */
  async #expireAll(signal: AbortSignal): Promise<void> {
    const { backend, hub, log } = this.#options;
    log.warn(
      { cursor: hub.cursor },
      "the database went back in time: every earlier revision expires",
    );
    this.#loseTrack((await backend.leap(signal)).head);
  }

  /** Compaction has overtaken this process: whatever it knew may be old. */
  #loseTrack(head: Revision): void {
    const { cache, hub, log } = this.#options;
    log.warn(
      { cursor: hub.cursor, head },
      "the log no longer holds what this process has not read",
    );
    cache.clear();
    hub.skipTo(head);
  }

  #publish(changes: readonly Change[], through: Revision): void {
    const { cache, clock, hub, metrics } = this.#options;
    for (const change of changes) cache.apply(change);
    const committedAt = changes[0]?.committedAt ?? clock.monotonic();
    hub.publish(changes, through, new Delivery(committedAt, { clock, metrics }));
    metrics.headRevision.set(through);
  }

  /** The batch as changes; undefined if the body before one of them is not at hand. */
  #changesOf({ writes, outcomes }: Committed): readonly Change[] | undefined {
    const changes: Change[] = [];
    const committedAt = this.#options.clock.monotonic();
    for (const [index, outcome] of outcomes.entries()) {
      const write = writes[index];
      if (write === undefined || outcome.type !== "written") continue;
      const previous =
        outcome.previous && (outcome.previous.body ?? this.#bodyBefore(write, outcome));
      if (outcome.previous !== undefined && previous === undefined) return undefined;
      const change = changeOf(write, outcome, { previous, committedAt });
      if (change === undefined) return undefined;
      changes.push(change);
    }
    return changes.sort((a, b) => a.revision - b.revision);
  }

  #bodyBefore(write: Write, outcome: Outcome & { readonly type: "written" }): Body | undefined {
    // An update that went through has replaced what it expected. Its value, which somebody has read, is not kept with the change.
    if (write.type === "update" && write.replaced !== undefined)
      return storedBody(write.key, write.replaced.text);
    const cached = this.#options.cache.get(write.key);
    return cached?.revision === outcome.previous?.revision ? cached?.body : undefined;
  }

  async #waitForWake(ms: number): Promise<void> {
    if (this.#isWoken) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    using _timer = this.#options.clock.after(ms, resolve);
    await promise;
    this.#wake = undefined;
  }
}

function changeOf(
  write: Write,
  outcome: Outcome & { readonly type: "written" },
  { previous, committedAt }: Pick<Change, "previous" | "committedAt">,
): Change | undefined {
  const { revision } = outcome;
  const { key } = write;
  switch (write.type) {
    case "create":
      return new Change({
        type: "ADDED",
        revision,
        key,
        uid: write.columns.uid,
        body: write.body,
        previous: undefined,
        committedAt,
      });
    case "update":
      return new Change({
        type: "MODIFIED",
        revision,
        key,
        uid: write.columns.uid,
        body: write.body,
        previous,
        committedAt,
      });
    case "delete": {
      const body = write.final ?? previous;
      if (body === undefined || outcome.previous === undefined) return undefined;
      return new Change({
        type: "DELETED",
        revision,
        key,
        uid: outcome.previous.uid,
        body,
        previous,
        committedAt,
      });
    }
  }
}
