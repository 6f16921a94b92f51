// The store serves again after its PostgreSQL was restarted under load (S17).

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";
import {
  Body,
  migratePostgres,
  NotFound,
  PostgresBackend,
  Store,
  Unavailable,
} from "@keelson/store";

const never = new AbortController().signal;
const restarts = 3;
/** Whoever waits for a connection that is dead waits longer than the test does. */
const forGoodMs = 600_000;
const patienceMs = 60_000;

suite("healing", () => {
  test("after an immediate restart every client is served, and none waits for a dead connection", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    await using database = await server.createDatabase();
    const { url } = database;
    await migratePostgres({ url, schema: "ark" });
    const backend = await PostgresBackend.open(
      { url, clock: systemClock, callMsMax: forGoodMs, connectMsMax: forGoodMs },
      never,
    );
    await using store = await Store.open({ backend }, never);
    const key = { kind: "Thing", namespace: "n", name: "a" };
    await store.create(key, Body.parse('{"metadata":{"uid":"u"}}'), never);

    const calls = [
      () => store.list({ kind: "Thing", namespace: "" }, {}, never),
      () => store.get(key, never),
      () => store.delete({ ...key, name: "none" }, {}, never),
    ];
    /** When each client was last served. */
    const servedAt = Array.from({ length: 24 }, () => 0);
    const stopping = new AbortController();
    const clients = servedAt.map(async (_, client) => {
      while (!stopping.signal.aborted) {
        try {
          await calls[client % calls.length]?.();
        } catch (error) {
          if (error instanceof Unavailable) continue;
          if (!(error instanceof NotFound && client % calls.length === 2)) throw error;
        }
        servedAt[client] = systemClock.monotonic();
      }
    });

    try {
      for (let restart = 0; restart < restarts; restart++) {
        await allServedSince(servedAt, systemClock.monotonic());
        await server.restart({ mode: "immediate" });
        await allServedSince(servedAt, systemClock.monotonic());
      }
    } finally {
      stopping.abort();
      await Promise.all(clients);
    }
  });
});

async function allServedSince(servedAt: readonly number[], moment: number): Promise<void> {
  const deadline = systemClock.monotonic() + patienceMs;
  while (Math.min(...servedAt) < moment) {
    assert.ok(systemClock.monotonic() < deadline, "a client is never served");
    await systemClock.sleep(10, never);
  }
}
