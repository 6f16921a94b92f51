// A database that is away, behind a host: clients hear 503, the APIServices are not Available, and both heal by themselves.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { startThrowawayPostgres } from "@keelson/database/testing";
import { PostgresProxy } from "@keelson/store/testing";

import type { Response } from "../tools/http-client.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import { create, expectStatus } from "./asking.ts";
import { startBed, type Bed } from "./bed.ts";
import { memory, pathOf } from "./objects.ts";

const memories = pathOf("memories", "default");

suite("a database that is away, behind a host", () => {
  oracleTest("the host calls us available while it is there, and only then", async (t) => {
    const { signal } = t;
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" }, signal);
    await using database = await postgres.createDatabase();
    await using proxy = await PostgresProxy.start(database.url);
    await using bed = await startBed({ driver: "postgresql", databaseUrl: proxy.url }, signal);
    await create(bed, memories, memory("before"), signal);

    await t.test("stopped", async () => {
      await postgres.stop({ mode: "immediate" });
      await untilUnavailable(bed, signal);
      await postgres.start();
      await untilBack(bed, "stopped", signal);
    });
    await t.test("silent", async () => {
      proxy.isStalled = true;
      await untilUnavailable(bed, signal);
      proxy.isStalled = false;
      proxy.cut();
      await untilBack(bed, "silent", signal);
    });
  });
});

async function untilUnavailable(bed: Bed, signal: AbortSignal): Promise<void> {
  const { oracle, replica } = bed;
  const { certificate, key } = oracle.admin;
  using straight = replica.connectAs({ certificate, key });
  const judge = ({ status, text, headers }: Response): boolean => {
    // Never 404, never an empty list.
    assert.ok(status === 503 || (status === 200 && text.includes('"before"')), text);
    if (status === 503) assert.match(String(headers["retry-after"]), /^[1-9]\d*$/);
    return status === 503;
  };
  await until(async () => judge(await straight.send({ path: memories }, signal)), signal);
  await bed.untilAvailability("FailedDiscoveryCheck", signal);
  await expectStatus(oracle.client, { path: memories }, 503, signal);
  // Which kinds there are is still known, and the cluster's own are as ever.
  const { text } = await expectStatus(straight, { path: "/apis" }, 200, signal);
  assert.match(text, /ark\.mckinsey\.com/);
  await expectStatus(straight, { path: "/livez" }, 200, signal);
  await expectStatus(straight, { path: "/readyz" }, 500, signal);
  await expectStatus(oracle.client, { path: "/api/v1/pods" }, 200, signal);
}

async function untilBack(bed: Bed, name: string, signal: AbortSignal): Promise<void> {
  await bed.untilAvailability("True", signal);
  // Its proxy hears of that a moment later.
  const list = { path: memories };
  await until(async () => (await bed.oracle.client.send(list, signal)).status === 200, signal);
  await create(bed, memories, memory(name), signal);
  const { text } = await expectStatus(bed.oracle.client, list, 200, signal);
  assert.match(text, /"before"/);
}
