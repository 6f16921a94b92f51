// The outbox under kill -9: at every statement of writing, claiming, publishing and acknowledging, and at random.

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@keelson/base";
import { openDatabase, type Database } from "@keelson/database";
import {
  createServicesDatabase,
  eachPostgres,
  patience,
  startThrowawayPostgres,
} from "@keelson/database/testing";
import { checkOutbox, Follower, prepareEvidence } from "./outbox-checker.ts";
import { runProgram, type Ended } from "./process.ts";

interface Instructions {
  readonly seed: string;
  readonly writes?: number;
  readonly isRelay?: boolean;
  readonly killAt?: {
    readonly phase: "before" | "after";
    readonly statement?: string;
    readonly n: number;
  };
}

async function runReplica(url: string, instructions: Instructions): Promise<Ended> {
  const ended = await runProgram(
    "outbox-process",
    JSON.stringify({ url, writes: 0, isRelay: false, ...instructions }),
  );
  const isKilled = ended.signal === "SIGKILL";
  assert.ok(isKilled || ended.code === 0, `a replica ended with ${ended.code} ${ended.signal}`);
  return ended;
}

const statements = [
  "changeThing",
  "insertEvents",
  "commit",
  "numberRows",
  "claimKeys",
  "publish",
  "settleKeys",
];
const seed = "outbox";

eachPostgres("outbox under kill -9", (_shared, flavour) => {
  async function fresh(): Promise<
    { url: string; database: Database; follower: Follower } & AsyncDisposable
  > {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await startThrowawayPostgres({ flavour }));
    const { database, url } = stack.use(await createServicesDatabase(server));
    await prepareEvidence(database);
    const follower = new Follower(database);
    return { url, database, follower, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  test(
    "killed at each statement of writing, numbering, claiming, publishing and settling",
    { timeout: 300_000 },
    async () => {
      await using it = await fresh();
      for (const phase of ["before", "after"] as const) {
        for (const [i, statement] of statements.entries()) {
          const killAt = { phase, statement, n: 2 };
          const ended = await runReplica(it.url, {
            seed: `${seed}/${phase}/${i}`,
            writes: 8,
            isRelay: true,
            killAt,
          });
          assert.equal(ended.signal, "SIGKILL", `it was not killed ${phase} ${statement}`);
          await it.follower.look();
        }
      }
      await runReplica(it.url, { seed, writes: 5, isRelay: true });
      const count = await checkOutbox(it.database, it.follower);
      assert.ok(count >= 10, `only ${count} events`);
    },
  );

  test(
    "killed at random places, several at once, and the server too",
    { timeout: 300_000 },
    async () => {
      await using server = await startThrowawayPostgres({ flavour });
      await using it = await createServicesDatabase(server);
      await prepareEvidence(it.database);
      const follower = new Follower(it.database);
      const random = seededRandom(`${seed}/${flavour}`);
      for (let round = 0; round < 4; round++) {
        const replicas = Array.from({ length: 3 }, (_, i) =>
          runReplica(it.url, {
            seed: `${seed}/${round}/${i}`,
            writes: 15,
            isRelay: true,
            killAt: { phase: random.pick(["before", "after"]), n: 5 + random.integer(60) },
          }),
        );
        const following = { isOver: false };
        const followed = follow(follower, following);
        await Promise.all(replicas);
        following.isOver = true;
        await followed;
        // What was read must survive this: a position that is given out twice would show.
        if (round === 2) await server.restart({ mode: "immediate" });
      }
      await using after = openDatabase({
        url: it.url,
        name: "after",
        searchPath: ["lifecycle", "public"],
        ...patience,
      });
      await runReplica(it.url, { seed, writes: 5, isRelay: true });
      const survivor = new Follower(after);
      survivor.seen.push(...follower.seen);
      const count = await checkOutbox(after, survivor);
      assert.ok(count >= 10, `only ${count} events`);
    },
  );
});

async function follow(follower: Follower, until: { readonly isOver: boolean }): Promise<void> {
  while (!until.isOver) {
    await follower.look();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
