// Every statement fails once, before it is sent and after it was answered; what comes next ends as if none had.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eachPostgres } from "@keelson/database/testing";

import { createAppDatabase, leftovers, MemoryLedger, nothing, stateOf } from "../testing/index.ts";
import { DatabaseAdmin } from "./database-admin.ts";

const never = new AbortController().signal;

eachPostgres("a database that fails at any statement", (server, flavour) => {
  const fault = flavour === "embedded" ? "lost connection" : "abort";
  test(`${fault}: what is begun again ends in the same state`, async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    // The newest is the one to be disturbed.
    const killer = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = '${database.adminName}' ORDER BY backend_start DESC LIMIT 1`;

    /** Runs `work` with a fault at its n-th point; false when there is no such point. */
    const disturbed = async (
      n: number,
      work: (admin: DatabaseAdmin, signal: AbortSignal) => Promise<unknown>,
    ): Promise<boolean> => {
      const stop = new AbortController();
      let passed = 0;
      const onStatement = async (): Promise<void> => {
        if (passed++ !== n) return;
        if (fault === "abort") stop.abort(new Error("no longer the leader"));
        else await database.query(killer);
      };
      await using admin = new DatabaseAdmin({
        adminUrl: () => Promise.resolve(database.adminUrl),
        onStatement,
      });
      const outcome = await work(admin, stop.signal).then(
        () => undefined,
        (error: Error) => error,
      );
      if (outcome !== undefined) {
        assert.match(outcome.message, /no longer the leader|PostgreSQL at 127\.0\.0\.1:\d+: /);
      }
      return passed > n;
    };

    await using calm = database.admin();
    const { names, owner } = database.app();
    const wanted = { names, owner, adopts: false };
    const roles = `${names.appRole}, ${names.anonRole}`;
    const drop = `DROP OWNED BY ${names.anonRole}; DROP OWNED BY ${names.appRole}; DROP ROLE ${roles};
      DROP SCHEMA ${names.schema} CASCADE`;
    const undisturbed = await (async () => {
      const ledger = new MemoryLedger();
      await calm.ensure({ ...wanted, ledger }, never);
      const state = await stateOf(database, names);
      await calm.remove({ owner, ledger }, never);
      return state;
    })();
    assert.deepEqual(await leftovers(database, owner.name), nothing);

    const making = await countPoints(async (n) => {
      const ledger = new MemoryLedger();
      const wasThere = await disturbed(n, (admin, signal) =>
        admin.ensure({ ...wanted, ledger }, signal),
      );
      await calm.ensure({ ...wanted, ledger }, never);
      assert.deepEqual(await stateOf(database, names), undisturbed, `point ${n}`);
      await database.query(drop);
      return wasThere;
    });
    const removing = await countPoints(async (n) => {
      const ledger = new MemoryLedger();
      await calm.ensure({ ...wanted, ledger }, never);
      const wasThere = await disturbed(n, (admin, signal) =>
        admin.remove({ owner, ledger }, signal),
      );
      await calm.remove({ owner, ledger }, never);
      assert.deepEqual(await leftovers(database, owner.name), nothing, `point ${n}`);
      assert.deepEqual(ledger.contents, []);
      return wasThere;
    });
    // Otherwise nothing was disturbed.
    assert.ok(making > 40 && removing > 40, `${making} and ${removing} points`);
  });
});

/** Calls `round` with 0, 1, 2, … until it says that there is no such point. */
async function countPoints(round: (n: number) => Promise<boolean>): Promise<number> {
  for (let n = 0; ; n += 1) {
    if (!(await round(n))) return n;
  }
}
