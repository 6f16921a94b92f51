// Candidates for one Lease, and a ledger that only leaders write: everything that happens follows from the seed.

import { noMetrics, seededRandom, silentLog, type Random } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import type { KubeObject } from "@keelson/client";
import {
  controllerMetrics,
  Fenced,
  fencingAnnotation,
  runElected,
  usualElectionTimes,
  type Leadership,
} from "@keelson/controller";

import { LeaseServer, LeaseWire, ProcessClock } from "./lease-server.ts";

export interface ElectionRun {
  readonly seed: string;
  readonly problems: readonly string[];
  readonly met: ReadonlySet<string>;
}

interface Ledger extends KubeObject {
  readonly tokens: readonly string[];
}

const stepMs = 100;
const steps = 1_200;

/** A planted bug: writes without looking at the token of the one before. */
export interface ElectionPlant {
  readonly isUnfenced?: boolean;
}

export async function simulateElection(
  seed: string,
  plant: ElectionPlant = {},
): Promise<ElectionRun> {
  const world = new ElectionWorld(seed, plant);
  for (let step = 0; step < steps; step++) await world.act();
  await world.rest();
  return { seed, problems: world.problems, met: world.met };
}

/** How long nobody leads after the leader was asked to stop, with the usual times. */
export async function simulateHandOver(seed: string): Promise<number> {
  return await new ElectionWorld(seed, {}).handOver();
}

class ElectionWorld {
  readonly problems: string[] = [];
  readonly met = new Set<string>();
  readonly #seed: string;
  readonly #plant: ElectionPlant;
  readonly #random: Random;
  readonly #clock = new ManualClock();
  readonly #server = new LeaseServer();
  readonly #candidates: Candidate[] = [];
  /** Whether processes are stopped in this run, and Leases deleted: only then may a leader not know that it is none. */
  readonly #hasStops: boolean;
  #born = 0;
  #trimmed = 0;

  constructor(seed: string, plant: ElectionPlant) {
    this.#seed = seed;
    this.#plant = plant;
    this.#random = seededRandom(`${seed}/plan`);
    this.#hasStops = this.#random.float() < 0.6;
    this.#server.put({
      apiVersion: "v1",
      kind: "Ledger",
      metadata: { name: "ledger" },
      ...noTokens,
    });
    for (let i = 0; i < 3; i++) this.#bear();
  }

  async act(): Promise<void> {
    const random = this.#random;
    const candidate = random.pick(this.#candidates);
    const dice = random.float();
    if (dice < 0.006 && this.#hasStops) this.#note("stopped", () => candidate.clock.stop());
    else if (dice < 0.02) candidate.clock.resume();
    else if (dice < 0.026) this.#note("cut", () => (candidate.wire.isCut = true));
    else if (dice < 0.05) candidate.wire.isCut = false;
    else if (dice < 0.055) candidate.wire.lossShare = random.pick([0, 0.1, 0.5]);
    else if (dice < 0.06) {
      this.#note("wall", () => candidate.clock.shiftWall((random.float() - 0.5) * 7_200_000));
    } else if (dice < 0.063) await this.#replace(candidate);
    else if (dice < 0.064 && this.#hasStops)
      this.#note("lease deleted", () => this.#server.delete("lease"));
    await this.#clock.advance(stepMs);
    this.#check();
  }

  /** All is well: somebody must lead, and write, before long. */
  async rest(): Promise<void> {
    for (const { clock, wire } of this.#candidates) {
      clock.resume();
      wire.isCut = false;
      wire.lossShare = 0;
    }
    const before = this.#written();
    for (let passedMs = 0; passedMs < 40_000; passedMs += stepMs) {
      await this.#clock.advance(stepMs);
      this.#check();
    }
    if (this.#written() === before) this.problems.push("nobody has led for 40 s");
    const stopping = Promise.all(this.#candidates.map((candidate) => candidate.stop()));
    await this.#clock.advance(10_000);
    await stopping;
  }

  async handOver(): Promise<number> {
    const leader = (): Candidate | undefined =>
      this.#candidates.find(({ leadership }) => leadership?.isHeld === true);
    for (let passedMs = 0; leader() === undefined; passedMs += stepMs) {
      if (passedMs > 600_000) throw new Error("nobody has led for ten minutes");
      await this.#clock.advance(stepMs);
    }
    await this.#clock.advance(this.#random.integer(10_000));
    const first = leader();
    const stopping = first?.stop();
    let pauseMs = 0;
    for (; leader() === undefined || leader() === first; pauseMs += 10) {
      if (pauseMs > 60_000) return Infinity;
      await this.#clock.advance(10);
    }
    // The next may lead before the first has heard that it gave the Lease back.
    const all = Promise.all([stopping, ...this.#candidates.map((candidate) => candidate.stop())]);
    await this.#clock.advance(10_000);
    await all;
    return pauseMs;
  }

  #check(): void {
    const tokens = this.#tokens().map(Number);
    const late = tokens.findIndex((token, i) => token < (tokens[i - 1] ?? 0));
    if (late > 0) this.problems.push(`token ${tokens[late]} wrote after ${tokens[late - 1]}`);
    // Only the beginning of a new leader is of interest again.
    if (tokens.length > 50) this.#trim();
    if (this.#hasStops) return;
    const leaders = this.#candidates.filter(({ leadership }) => leadership?.isHeld === true);
    if (leaders.length > 1) this.problems.push(`${leaders.length} lead at once`);
  }

  #trim(): void {
    const ledger = this.#server.get("ledger") as Ledger;
    this.#trimmed += ledger.tokens.length - 1;
    this.#server.put({ ...ledger, tokens: ledger.tokens.slice(-1) } as Ledger);
  }

  /** How often anybody has written so far. */
  #written(): number {
    return this.#trimmed + this.#tokens().length;
  }

  #tokens(): readonly string[] {
    return (this.#server.get("ledger") as Ledger).tokens;
  }

  /** A process ends, in order or not, and another begins. */
  async #replace(candidate: Candidate): Promise<void> {
    const index = this.#candidates.indexOf(candidate);
    this.#candidates.splice(index, 1);
    if (this.#random.float() < 0.5) this.#note("killed", () => candidate.clock.stop());
    else {
      this.#note("asked to stop", () => void candidate.stop());
      candidate.clock.resume();
    }
    this.#bear();
  }

  #bear(): void {
    const identity = `candidate-${++this.#born}`;
    const random = seededRandom(`${this.#seed}/${identity}`);
    const clock = new ProcessClock(this.#clock);
    const wire = new LeaseWire(this.#server, clock, random);
    const note = (what: string): void => void this.met.add(what);
    const isUnfenced = this.#plant.isUnfenced === true;
    this.#candidates.push(new Candidate({ identity, clock, wire, random, note, isUnfenced }));
  }

  #note(what: string, act: () => void): void {
    this.met.add(what);
    act();
  }
}

interface CandidateParts {
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly wire: LeaseWire;
  readonly random: Random;
  readonly note: (what: string) => void;
  readonly isUnfenced: boolean;
}

class Candidate {
  readonly clock: ProcessClock;
  readonly wire: LeaseWire;
  leadership: Leadership | undefined;
  readonly #parts: CandidateParts;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(parts: CandidateParts) {
    this.clock = parts.clock;
    this.wire = parts.wire;
    this.#parts = parts;
    this.#running = runElected(
      {
        client: parts.wire,
        lease: { namespace: "default", name: "lease" },
        identity: parts.identity,
        times: usualElectionTimes,
        clock: parts.clock,
        random: parts.random,
        log: silentLog,
        metrics: controllerMetrics(noMetrics),
      },
      (leadership, signal) => this.#lead(leadership, signal),
      this.#stop.signal,
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("asked to stop"));
    await this.#running;
  }

  async #lead(leadership: Leadership, signal: AbortSignal): Promise<void> {
    const { clock, wire, random, note, isUnfenced } = this.#parts;
    note("led");
    this.leadership = leadership;
    const resource = await wire.resource<Ledger>();
    const ref = { name: "ledger" };
    const add = (ledger: Ledger): Ledger => ({
      ...ledger,
      tokens: [...ledger.tokens, String(leadership.token)],
    });
    while (!signal.aborted) {
      try {
        if (isUnfenced) {
          const ledger = await resource.get(ref, signal);
          const annotations = { [fencingAnnotation]: "0" };
          const metadata = { ...ledger.metadata, annotations };
          await resource.update({ ...add(ledger), metadata }, {}, signal);
        } else await leadership.update({ resource, ref }, add, signal);
        note("wrote");
      } catch (error) {
        if (error instanceof Fenced) note("fenced");
      }
      await clock.sleep(random.integer(2_000), signal).catch(() => undefined);
    }
    this.leadership = undefined;
  }
}

const noTokens = { tokens: [] as readonly string[] };
