import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { createAppDatabase } from "../testing/index.ts";
import type { Session } from "./session.ts";
import { SessionPool } from "./session-pool.ts";

const never = new AbortController().signal;

suite("connections that several share", () => {
  test("are never more than they may be, and nobody who comes later is first", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    await using database = await createAppDatabase(server, { rights: "ordinary" });
    await using pool = new SessionPool({
      adminUrl: () => Promise.resolve(database.adminUrl),
      sessionsMax: 1,
      timeoutMs: 120_000,
      idleMs: 60_000,
      clock: systemClock,
    });
    let inside = 0;
    let insideMax = 0;
    const order: string[] = [];
    const use = (name: string, leave?: (session: Session) => void): Promise<void> =>
      pool.use(async (session) => {
        order.push(name);
        insideMax = Math.max(insideMax, ++inside);
        await session.run({ name: "ask", text: "SELECT 1" }, never);
        inside -= 1;
        leave?.(session);
      }, never);
    const late: Promise<void>[] = [];
    // One comes at each moment in which the first may be handing on its place.
    const comeLate = (left: number): void => {
      late.push(use("late"));
      if (left > 0) queueMicrotask(() => comeLate(left - 1));
    };
    const first = use("first", () => queueMicrotask(() => comeLate(30)));
    await Promise.all([first, use("second")]);
    await Promise.all(late);
    assert.deepEqual([insideMax, order.slice(0, 2), late.length], [1, ["first", "second"], 31]);
  });
});
