import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemRandom, type Clock } from "@keelson/base";
import { ManualClock, until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { postgresFixture } from "@keelson/store/testing";
import { Unavailable, type Store } from "@keelson/store";

import { exclusively } from "./exclusive.ts";

type Leases = Pick<Store, "claim" | "release">;

/** Processes that want to work, and which of them do. */
class Workers {
  readonly working = new Set<string>();
  most = 0;

  start(
    name: string,
    { store, clock, ended }: { store: Leases; clock: Clock; ended?: Promise<void> },
  ) {
    const stop = new AbortController();
    const done = exclusively(
      { store, clock, random: systemRandom, log: silentLog, name: "loop" },
      async (within) => {
        this.working.add(name);
        this.most = Math.max(this.most, this.working.size);
        const aborted = new Promise<void>((resolve) => {
          within.addEventListener("abort", () => resolve());
        });
        await Promise.race([ended ?? aborted, aborted]);
        this.working.delete(name);
      },
      stop.signal,
    ).catch(() => undefined);
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await done;
      },
    };
  }
}

/** Leases of a store that is asked over a wire, and whether it has answered. */
class Asked implements Leases {
  readonly #store: Leases;
  readonly #open = new Set<Promise<unknown>>();

  constructor(store: Leases) {
    this.#store = store;
  }

  claim(...asked: Parameters<Leases["claim"]>): ReturnType<Leases["claim"]> {
    return this.#keep(this.#store.claim(...asked));
  }

  release(...asked: Parameters<Leases["release"]>): ReturnType<Leases["release"]> {
    return this.#keep(this.#store.release(...asked));
  }

  async answered(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  #keep<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#open.add(answer);
    const forget = (): void => void this.#open.delete(answer);
    answer.then(forget, forget);
    return answer;
  }
}

/** Leases that run out by the test's clock; those of PostgreSQL do by the database's. */
function leasesOn(clock: Clock): Leases & { isDown: boolean; give(holder: string): void } {
  let held = { holder: "", untilMs: 0 };
  return {
    isDown: false,
    give(holder) {
      held = { holder, untilMs: Number.POSITIVE_INFINITY };
    },
    claim(_name, { holder, ttlMs }) {
      if (this.isDown) return Promise.reject(new Unavailable("the database is away"));
      if (held.holder !== holder && clock.monotonic() < held.untilMs) {
        return Promise.resolve(undefined);
      }
      held = { holder, untilMs: clock.monotonic() + ttlMs };
      return Promise.resolve({ token: 1 });
    },
    release(_name, holder) {
      if (held.holder === holder) held = { holder: "", untilMs: 0 };
      return Promise.resolve();
    },
  };
}

suite("work that one does at a time", () => {
  test("is done by the other as soon as the first has stopped, on PostgreSQL", async () => {
    const url = async (): Promise<string> => (await sharedThrowawayPostgres("embedded")).url;
    await using bed = await postgresFixture({ name: "", missing: undefined, url }).prepare();
    await using store = await bed.open();
    const clock = new ManualClock();
    const workers = new Workers();
    const leases = new Asked(store);
    const isWorking = (name: string) => async (): Promise<boolean> => {
      await clock.advance(250);
      // While the database thinks about a claim, this clock stands: else the lease would run out meanwhile.
      await leases.answered();
      return workers.working.has(name);
    };
    {
      await using _first = workers.start("first", { store: leases, clock });
      await until(isWorking("first"), "the first works");
      await using second = workers.start("second", { store: leases, clock });
      for (let round = 0; round < 16; round += 1) await isWorking("second")();
      assert.deepEqual([...workers.working], ["first"]);
      await second[Symbol.asyncDispose]();
    }
    await using _second = workers.start("second", { store: leases, clock });
    await until(isWorking("second"), "the second works");
    assert.equal(workers.most, 1);
  });

  test("goes to another when its holder has ended by itself", async () => {
    const clock = new ManualClock();
    const store = leasesOn(clock);
    const workers = new Workers();
    await using _first = workers.start("first", { store, clock, ended: Promise.resolve() });
    await clock.advance(0);
    await using _second = workers.start("second", { store, clock });
    await clock.advance(4_000);
    assert.deepEqual([[...workers.working], workers.most], [["second"], 1]);
  });

  test("is given up before its lease ends when that cannot be renewed, and never done by two", async () => {
    const clock = new ManualClock();
    const store = leasesOn(clock);
    const away = { ...store, isDown: false };
    const workers = new Workers();
    await using _first = workers.start("first", { store: away, clock });
    await clock.advance(0);
    await using _second = workers.start("second", { store, clock });
    await clock.advance(60_000);
    assert.deepEqual([...workers.working], ["first"]);
    away.isDown = true;
    await clock.advance(5_999);
    assert.ok(!workers.working.has("first"));
    await clock.advance(10_000);
    assert.deepEqual([[...workers.working], workers.most], [["second"], 1]);
  });

  test("ends as soon as its holder hears that it is another's", async () => {
    const clock = new ManualClock();
    const store = leasesOn(clock);
    const workers = new Workers();
    await using _first = workers.start("first", { store, clock });
    await clock.advance(0);
    assert.deepEqual([...workers.working], ["first"]);
    // As after a restore of the database: the lease is somebody's whom it has never heard of.
    store.give("somebody else");
    await clock.advance(1_500);
    assert.deepEqual([...workers.working], []);
  });
});
