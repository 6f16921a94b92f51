// Two candidates; whoever leads is stopped, suspended, cut off or told to go, and clocks step: there is never a second
// fenced writer.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { FakeWallClock, findFaketime } from "../../apiserver/faults/faketime.ts";
import type { Reachable } from "../client/bed.ts";
import type { HttpClient } from "../../tools/http-client.ts";
import { until } from "../../tools/until.ts";
import { Candidate, type Said } from "./candidate.ts";

const times = { durationMs: 4_000, renewDeadlineMs: 2_500, renewMs: 500, lookMs: 500 };
const rounds = Number(process.env["ELECTION_ROUNDS"] ?? 1);
/** How often a busy machine may spoil what is tried. What is broken fails each time. */
const attemptsMax = 10;
const ledgerPath = "/api/v1/namespaces/default/configmaps";
const leasePath = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

type Server = Reachable & { readonly folder: string; readonly client: HttpClient };

/** Declares the test. Without libfaketime it is skipped, by name. */
export function describeElection(
  name: string,
  start: (t: TestContext) => Promise<Server & AsyncDisposable>,
  skip: string | false,
): void {
  const faketime = findFaketime();
  const missing = "missing" in faketime ? faketime.missing : false;
  void test(name, { skip: skip === false ? missing : skip }, async (t) => {
    if ("missing" in faketime) return;
    await using server = await start(t);
    await runElections(server, faketime.library, t);
  });
}

async function runElections(server: Server, library: string, t: TestContext): Promise<void> {
  const { signal } = t;
  const ledger = { metadata: { name: "ledger" }, data: { entries: "" } };
  await server.client.send({ method: "POST", path: ledgerPath, body: ledger }, signal);
  const world = new ElectionWorld(server, library, signal);
  await using _world = world;
  await world.bear("sleeper");
  await world.bear("clocked");
  const wasFree: boolean[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const trouble of Object.values(troubles)) await trouble(world);
    wasFree.push(await world.handOver());
  }
  // A busy machine may be too slow to give a lease back in time.
  while (!wasFree.includes(true) && wasFree.length < rounds + attemptsMax) {
    wasFree.push(await world.handOver());
  }
  assert.ok(wasFree.includes(true), "whoever is told to go does not give the lease back");
  await world.judge();
}

/** What befalls the leader. Each ends with the other having written, and the first having stopped. */
const troubles: Readonly<Record<string, (world: ElectionWorld) => Promise<void>>> = {
  "stopped for longer than its lease": async (world) => {
    const { holder, follower } = await world.roles();
    holder.signal("SIGSTOP");
    await follower.succeeds(holder);
    holder.signal("SIGCONT");
    await holder.steppedDown();
  },
  // As a machine that slept: no clock of the process tells that time has passed.
  "suspended for longer than its lease": async (world) => {
    const { holder, follower } = await world.roles("sleeper");
    const stoppedMs = performance.now();
    holder.signal("SIGSTOP");
    await follower.succeeds(holder);
    holder.clock.jump((stoppedMs - performance.now()) / 1_000);
    holder.signal("SIGCONT");
    await holder.steppedDown();
  },
  // Nobody's wall clock matters: the same one goes on to lead, however the clocks jump.
  "clocks stepped": async (world) => {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const { holder } = await world.roles("clocked");
      const isSteady: boolean[] = [];
      for (const seconds of [3_600, -3_600, 86_400]) {
        holder.clock.jump(seconds);
        isSteady.push(await holder.writesOn(8));
      }
      // A busy machine may lose a lease by itself; a clock would take it each time.
      if (!isSteady.includes(false)) return;
    }
    assert.fail("a step of a clock ends a term");
  },
  // It must notice by itself, and before the other begins.
  "cut off": async (world) => {
    const { holder, follower } = await world.roles();
    holder.proxy.isRefusing = true;
    holder.proxy.cut();
    await Promise.all([holder.steppedDown(), follower.succeeds(holder)]);
    holder.proxy.isRefusing = false;
  },
  // Nothing fails, nothing answers.
  "half open": async (world) => {
    const { holder, follower } = await world.roles();
    holder.proxy.isRefusing = true;
    holder.proxy.weather = { type: "half-open" };
    await Promise.all([holder.steppedDown(), follower.succeeds(holder)]);
    holder.proxy.isRefusing = false;
  },
};

class ElectionWorld implements AsyncDisposable {
  readonly #server: Server;
  readonly #library: string;
  readonly #signal: AbortSignal;
  #members: Member[] = [];
  #born = 0;

  constructor(server: Server, library: string, signal: AbortSignal) {
    this.#server = server;
    this.#library = library;
    this.#signal = signal;
  }

  async bear(mode: Mode): Promise<void> {
    const identity = `${mode}-${++this.#born}`;
    const folder = join(this.#server.folder, identity);
    mkdirSync(folder);
    const clock = new FakeWallClock(this.#library, folder);
    const { DONT_FAKE_MONOTONIC, ...both } = clock.environment;
    const environment =
      mode === "sleeper" ? both : { ...both, DONT_FAKE_MONOTONIC: DONT_FAKE_MONOTONIC ?? "1" };
    const target = this.#server;
    const candidate = await Candidate.start({ target, identity, times, environment });
    this.#members.push(new Member({ candidate, clock, mode, signal: this.#signal }));
  }

  /** Who leads, having written, and who does not. With `mode` one of that kind is made to lead first. */
  async roles(mode?: Mode): Promise<{ readonly holder: Member; readonly follower: Member }> {
    for (;;) {
      const roles = await until(() => {
        const [holder, ...more] = this.#members.filter(({ term }) => term !== undefined);
        const follower = this.#members.find(({ term }) => term === undefined);
        if (holder === undefined || follower === undefined || more.length > 0) return undefined;
        return { holder, follower };
      }, this.#signal);
      if (mode === undefined || roles.holder.mode === mode) return roles;
      await this.handOver();
    }
  }

  /** Tells the leader to go, and another process to come; whether the Lease was given back, and did not run out. */
  async handOver(): Promise<boolean> {
    const { holder, follower } = await this.roles();
    const path = `${leasePath}/election`;
    const { body: before } = await this.#server.client.send({ path }, this.#signal);
    holder.signal("SIGTERM");
    await holder.candidate.until(({ said }) => said.at(-1)?.type === "stopped", this.#signal);
    await follower.succeeds(holder);
    const wasFree = await this.#wasFreeAfter(before as LeaseSeen, holder);
    this.#members = this.#members.filter((one) => one !== holder);
    await holder.candidate[Symbol.asyncDispose]();
    await this.bear(holder.mode);
    return wasFree;
  }

  /** Whether nobody had the Lease once `holder` had it no more: by all of its versions since that one. */
  async #wasFreeAfter({ metadata, spec }: LeaseSeen, holder: Member): Promise<boolean> {
    const { identity } = holder.candidate;
    if (spec.holderIdentity !== identity) return false; // It has just been lost, on a busy machine.
    const { resourceVersion } = metadata;
    const path = `${leasePath}?watch=1&fieldSelector=metadata.name%3Delection&resourceVersion=${resourceVersion}`;
    const seen = new AbortController();
    const signal = AbortSignal.any([this.#signal, seen.signal]);
    let next: string | undefined;
    for await (const { type, object } of this.#server.client.watch(path, signal)) {
      const { holderIdentity = "" } = (object as unknown as Partial<LeaseSeen>).spec ?? {};
      if (type === "MODIFIED" && holderIdentity === identity) continue;
      if (type === "MODIFIED") next ??= holderIdentity;
      seen.abort();
    }
    return next === "";
  }

  /** C13, by what is written: no token after a higher one, and each of one writer. */
  async judge(): Promise<void> {
    const { body } = await this.#server.client.send({ path: `${ledgerPath}/ledger` }, this.#signal);
    const { entries } = (body as { data: { entries: string } }).data;
    const lines = entries.trim().split("\n");
    const tokens = lines.map((line) => BigInt(line.split(" ")[0] ?? ""));
    const late = tokens.findIndex((token, i) => token < (tokens[i - 1] ?? 0n));
    assert.equal(
      late,
      -1,
      `an earlier leader wrote after a later one: ${lines.slice(late - 1, late + 1).join(", ")}`,
    );
    const writers = Map.groupBy(lines, (line) => line.split(" ")[0]);
    for (const [token, own] of writers)
      assert.equal(new Set(own).size, 1, `two wrote with ${token}`);
    assert.ok(writers.size >= rounds * Object.keys(troubles).length, "there were too few terms");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { candidate } of this.#members) await candidate[Symbol.asyncDispose]();
  }
}

/** What a Lease says, as far as it is of use here. */
interface LeaseSeen {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly holderIdentity?: string };
}

/** Whose wall clock steps, or whose clocks all stand still while it is stopped. */
type Mode = "clocked" | "sleeper";

class Member {
  readonly candidate: Candidate;
  readonly clock: FakeWallClock;
  readonly mode: Mode;
  readonly #signal: AbortSignal;

  constructor(parts: {
    readonly candidate: Candidate;
    readonly clock: FakeWallClock;
    readonly mode: Mode;
    readonly signal: AbortSignal;
  }) {
    this.candidate = parts.candidate;
    this.clock = parts.clock;
    this.mode = parts.mode;
    this.#signal = parts.signal;
  }

  get proxy(): Candidate["proxy"] {
    return this.candidate.proxy;
  }

  get term(): bigint | undefined {
    return this.candidate.term;
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGTERM"): void {
    this.candidate.signal(name);
  }

  /** Waits until it has written in a term after every one of another's. */
  async succeeds(other: Member): Promise<Said> {
    return await this.candidate.until(({ said }) => {
      const before = other.candidate.lastToken;
      return said.find(({ type, token = "0" }) => type === "wrote" && BigInt(token) > before);
    }, this.#signal);
  }

  async steppedDown(): Promise<void> {
    await this.candidate.until(({ term }) => term === undefined, this.#signal);
  }

  /** Waits for so many words more; whether all were writes of the same term. */
  async writesOn(count: number): Promise<boolean> {
    const { term, said } = this.candidate;
    const from = said.length;
    await this.candidate.until(() => said.length >= from + count || hasEnded(said), this.#signal);
    return said.slice(from).every(({ type, token }) => type === "wrote" && token === String(term));
  }
}

function hasEnded(said: readonly Said[]): boolean {
  return said.at(-1)?.type === "ends";
}
