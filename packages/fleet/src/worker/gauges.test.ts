import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog } from "@keelson/base";
import { ManualClock, RecordingMetrics } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/fleet-database.ts";
import { FleetGauges } from "./gauges.ts";

suite("the gauges of fleet", () => {
  test("statuses are counted as seldom as that takes long, the others every 15 s", async (t) => {
    await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    const clock = new ManualClock();
    const sent: string[] = [];
    const database = tables.openAnother({
      onStatement: async ({ statement, phase }) => {
        if (phase === "before") sent.push(statement);
        // A second, as with a hundred thousand rows.
        if (phase === "before" && statement === "countStatuses") await clock.advance(1_000);
      },
    });
    const metrics = new RecordingMetrics();
    const gauges = new FleetGauges({ database, clock, log: silentLog, metrics });
    const stop = new AbortController();
    const running = gauges.run(AbortSignal.any([stop.signal, t.signal]));
    const count = (statement: string) => sent.filter((one) => one === statement).length;
    for (let turn = 1; turn <= 15; turn++) {
      while (count("measureQueue") < turn) await new Promise(setImmediate);
      while (clock.pending === 0) await new Promise(setImmediate); // It has gone to sleep.
      await clock.advance(15_000);
    }
    stop.abort();
    await running;
    // At the beginning, after 105 s and after 210 s.
    assert.equal(count("countStatuses"), 3);
  });
});
