// A reflector and its cache before a simulated collection: everything that happens follows from the seed.

import { seededRandom, silentLog, type Random } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import {
  isLater,
  runReflector,
  type Collection,
  type DynamicObject,
  type Mirror,
} from "@keelson/client";
import { ObjectCache } from "@keelson/controller";
import { clientMetrics } from "@keelson/client/testing";

import { SimulatedCollection } from "./simulated-collection.ts";

export interface MirrorRun {
  readonly seed: string;
  /** What was broken, in words; none if all holds. */
  readonly problems: readonly string[];
  /** What happened, so that a test can see that it did. */
  readonly met: ReadonlySet<string>;
}

const steps = 150;
const names = ["a", "b", "c", "d", "e", "f"];

/** How long after the last trouble the cache may take to be level (C4). */
const levelMsMax = 30_000;

/** A bug that somebody might have made: the simulation must find it. */
export interface Plant {
  readonly mirror?: (mirror: ObjectCache) => Mirror;
  readonly collection?: (collection: Collection) => Collection;
}

export async function simulateMirror(seed: string, plant: Plant = {}): Promise<MirrorRun> {
  const random = seededRandom(`${seed}/plan`);
  const clock = new ManualClock();
  const collection = new SimulatedCollection(seededRandom(`${seed}/server`));
  collection.support = random.pick(["honours", "honours", "refuses", "ignores"]);
  for (let i = random.integer(5); i > 0; i--) collection.write(random.pick(names), false);
  const world = new MirrorWorld(collection, clock, random);
  const seen = collection.seenBy(clock);
  const stop = new AbortController();
  const running = runReflector(
    {
      collection: plant.collection?.(seen) ?? seen,
      mirror: plant.mirror?.(world.cache) ?? world.cache,
      clock,
      random: seededRandom(`${seed}/reflector`),
      log: silentLog,
      metrics: clientMetrics,
      onState: (state) => world.met.add(state),
    },
    stop.signal,
  );
  for (let step = 0; step < steps; step++) await world.act();
  await world.rest();
  stop.abort(new Error("the simulation has ended"));
  await running;
  return { seed, problems: world.problems, met: world.met };
}

class MirrorWorld {
  readonly cache = new ObjectCache();
  readonly problems: string[] = [];
  readonly met = new Set<string>();
  readonly #collection: SimulatedCollection;
  readonly #clock: ManualClock;
  readonly #random: Random;
  /** What listeners were told, put together: it must be what the cache has. */
  readonly #told = new Map<string, DynamicObject>();
  /** Answers to writes of ours that are still on their way. */
  readonly #answers: (() => void)[] = [];
  /** Uids of what deletes of ours have ended, by their answers. */
  readonly #ended = new Set<string>();
  #hasGoneBack = false;

  constructor(collection: SimulatedCollection, clock: ManualClock, random: Random) {
    this.#collection = collection;
    this.#clock = clock;
    this.#random = random;
    this.cache.subscribe((change) => {
      const { name = "", resourceVersion = "" } = change.object.metadata;
      this.met.add(change.type);
      const before = this.#told.get(name)?.metadata.resourceVersion;
      if (change.type === "added" && before !== undefined) this.#blame(`${name} was added twice`);
      if (change.type !== "added" && before === undefined) {
        this.#blame(`${name} was ${change.type} though it was not there`);
      }
      if (change.type === "deleted") {
        this.#told.delete(name);
        return;
      }
      if (before !== undefined && !isLater(resourceVersion, before) && !this.#hasGoneBack) {
        this.#blame(`${name} went from ${before} to ${resourceVersion}`);
      }
      this.#told.set(name, change.object);
    });
  }

  /** One step of whatever the seed says. */
  async act(): Promise<void> {
    const random = this.#random;
    const dice = random.float();
    if (dice < 0.3) this.#collection.write(random.pick(names), random.float() < 0.3);
    else if (dice < 0.4) this.#writeOurs();
    else if (dice < 0.45) this.#answers.splice(random.integer(this.#answers.length + 1), 1)[0]?.();
    else if (dice < 0.65) this.#collection.deliver();
    else if (dice < 0.85) await this.#clock.advance(random.integer(4_000));
    else if (dice < 0.87) this.#note("compacted", () => this.#collection.compact());
    else if (dice < 0.9) this.#note("cut", () => this.#collection.cut());
    else if (dice < 0.92) this.#note("deaf", () => this.#deafen());
    else if (dice < 0.94) this.#weather();
    else if (dice < 0.96) {
      const reasons = [
        "TooManyRequests",
        "ServiceUnavailable",
        "InternalError",
        "Unauthorized",
        "NotFound",
      ] as const;
      this.#note("refused", () => this.#collection.refusals.push(random.pick(reasons)));
    } else if (dice < 0.98) await this.#clock.advance(30_000);
    else this.#collection.backUp();
    await this.#clock.settle();
    this.#checkTold();
  }

  /** Nothing goes wrong any more: the cache must be level in time. */
  async rest(): Promise<void> {
    if (this.#collection.network === "refusing") this.#collection.network = "clear";
    this.#collection.refusals.length = 0;
    for (const answer of this.#answers.splice(0)) answer();
    await this.#comeLevel(levelMsMax);
    // Last of all: nobody can tell it from the past once the store has been written beyond what we knew.
    if (this.#random.float() < 0.2) {
      this.#restore();
      // It is noticed when the reflector asks for the version, after quiet rounds.
      await this.#comeLevel(levelMsMax + 60_000);
    }
    this.#checkTold();
  }

  async #comeLevel(allowedMs: number): Promise<void> {
    for (let passedMs = 0; passedMs <= allowedMs && !this.#isLevel(); passedMs += 250) {
      this.#collection.deliver();
      await this.#clock.advance(250);
    }
    if (!this.#isLevel()) this.#blame(`not level: ${this.#difference()}`);
  }

  /** A write through the cache's owner: its answer comes at once, or later. */
  #writeOurs(): void {
    const name = this.#random.pick(names);
    if (!this.cache.isSynced || this.#collection.network !== "clear") return;
    const isDeletion = this.#random.float() < 0.3;
    const believed = this.cache.get({ name })?.metadata.uid;
    const object = this.#collection.write(name, isDeletion);
    if (object === undefined) return;
    const epoch = this.#collection;
    const { resourceVersion = "" } = object.metadata;
    const wentBack = this.#hasGoneBack;
    const answer = (): void => {
      if (epoch !== this.#collection || wentBack !== this.#hasGoneBack) return; // Lost with the old store.
      if (isDeletion)
        this.cache.acceptDeletion(
          { name },
          believed === object.metadata.uid ? believed : undefined,
        );
      else this.cache.accept(object);
      this.#checkOwnWrite(name, object, { isDeletion, resourceVersion, believed });
    };
    if (this.#random.float() < 0.6) answer();
    else this.#answers.push(answer);
  }

  /** C6: after the answer a read sees the write or what came after it. */
  #checkOwnWrite(
    name: string,
    written: DynamicObject,
    {
      isDeletion,
      resourceVersion,
      believed,
    }: { isDeletion: boolean; resourceVersion: string; believed: string | undefined },
  ): void {
    // Until it is noticed that the store was put back, what it says now looks old.
    if (this.#hasGoneBack) return;
    this.met.add("own write");
    const seen = this.cache.get({ name });
    const { uid = "" } = written.metadata;
    if (isDeletion) {
      this.#ended.add(uid);
      if (believed === uid && seen?.metadata.uid === uid) this.#blame(`${name} is still there`);
      return;
    }
    // An answer may come after that of the delete that followed.
    const hasEnded = this.#ended.has(uid) || !isLater(resourceVersion, this.cache.version);
    if (seen === undefined && hasEnded) return;
    const version = seen?.metadata.resourceVersion ?? "0";
    if (isLater(resourceVersion, version)) {
      this.#blame(`${name} is read at ${version} after a write at ${resourceVersion}`);
    }
  }

  #weather(): void {
    const network = this.#random.pick(["clear", "refusing", "half-open"] as const);
    this.met.add(network);
    if (network === "half-open") this.#deafen();
    this.#collection.network = network;
  }

  #deafen(): void {
    for (const stream of this.#collection.streams) stream.isDeaf = true;
  }

  #restore(): void {
    this.met.add("restored");
    this.#hasGoneBack = true;
    this.#answers.length = 0;
    this.#collection.restore();
  }

  #note(what: string, act: () => void): void {
    this.met.add(what);
    act();
  }

  #isLevel(): boolean {
    return this.#difference() === "";
  }

  #difference(): string {
    const print = (objects: Iterable<DynamicObject>): string =>
      [...objects]
        .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
        .toSorted()
        .join(" ");
    const [ours, theirs] = [print(this.cache.list()), print(this.#collection.state.values())];
    return ours === theirs ? "" : `the cache has ${ours}, the server ${theirs}`;
  }

  #checkTold(): void {
    for (const object of this.cache.list()) {
      if (this.#told.get(object.metadata.name ?? "") !== object) this.#blame("listeners know less");
    }
    if (this.#told.size !== this.cache.size) this.#blame("listeners know of other objects");
  }

  #blame(problem: string): void {
    this.problems.push(`${this.#clock.monotonic()} ms: ${problem}`);
  }
}
