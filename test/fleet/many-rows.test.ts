// Many rows before one cluster: a target that is away (F20), and a stream that breaks (F33). KEELSON_TEST_AWAY_MS lets it
// be away for longer, as in the scenario's five minutes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { until } from "../tools/until.ts";
import { startBed, synced, web, type Bed, type Details } from "./bed.ts";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";

const { KEELSON_TEST_AWAY_MS: awayMs = "0" } = process.env;
/** What the scenarios say; before a real Kubernetes a tenth, since it is slower and the code is the same. */
const share = isOracle ? 0.1 : 1;
const patient = { leaseMs: 240_000, callTimeoutMs: 60_000 };

/** Rows by one batch, with their names and ids. */
async function createMany(it: Bed, count: number, more: object = {}): Promise<readonly number[]> {
  const changes = Array.from({ length: count }, (_, index) => ({
    op: "create",
    ...web,
    ...more,
    name: `many-${index}`,
  }));
  const { code, body } = await it.rest.ask("POST", "/batch", { changes });
  assert.equal(code, 200, JSON.stringify(body));
  return body.results.map(({ id }: { id: number }) => id);
}

/** Waits until so many rows have this status. */
async function counted(it: Bed, status: string, count: number, signal: AbortSignal): Promise<void> {
  await until(async () => {
    const { body } = await it.rest.ask("GET", `/resources?status=${status}&limit=1`);
    return body.total === count;
  }, signal);
}

clusterSuite("many rows of one cluster", () => {
  test("F20: a target that is away is asked by one, costs no attempt, and everything arrives when it is back", async (t) => {
    await using it = await startBed(t.signal, { viaProxy: true });
    // A call that a busy machine lets time out would be an attempt.
    it.startWorker(patient);
    const first = await it.create(web);
    await it.becomes(first, synced);
    const { proxy } = it;
    assert.ok(proxy !== undefined);
    proxy.isRefusing = true;
    proxy.cut();
    const awaySince = performance.now();
    const rows = 1_000 * share;
    await createMany(it, rows);
    await until(async () => {
      const [target] = await it.rest.tables.query(`SELECT health FROM targets`);
      return target?.["health"] === "Unreachable";
    }, t.signal);
    const body = await it.becomes(first, ({ health }) => health === "Unknown");
    assert.equal(body.status, "synced");
    // Long enough for a few questions more, or as long as was asked for.
    const moreQuestions = (): Promise<boolean> => {
      const soFar = proxy.refused;
      return until(() => proxy.refused > soFar + 2, t.signal);
    };
    const claims = async (): Promise<string> => {
      const [row] = await it.rest.tables.query(
        `SELECT sum(fence)::text AS all FROM resource_attempts`,
      );
      return String(row?.["all"]);
    };
    await moreQuestions();
    const claimed = await claims();
    await moreQuestions();
    await wait(Number(awayMs), undefined, { signal: t.signal });
    assert.equal(await claims(), claimed, "nothing is claimed of a target that is away");
    const seconds = (performance.now() - awaySince) / 1_000;
    // Two questions a second at first, fewer and fewer then, and the watch of its one kind; not one for each row.
    const most = 40 + 6 * seconds;
    assert.ok(proxy.refused < Math.min(most, rows), `${proxy.refused} in ${seconds} s`);
    const [work] = await it.rest.tables.query<{ failed: number }>(
      `SELECT sum(attempts)::integer AS failed FROM resource_attempts`,
    );
    assert.equal(work?.failed, 0);
    // The first, and those that found out.
    assert.ok(Number(claimed) <= 20, `${claimed} claims`);
    proxy.isRefusing = false;
    await counted(it, "synced", rows + 1, t.signal);
    const [target] = await it.rest.tables.query(`SELECT health FROM targets`);
    assert.equal(target?.["health"], "Healthy");
  });

  test("F33: after a stream that was broken during 500 changes and 50 deletions all is as in the cluster", async (t) => {
    await using it = await startBed(t.signal, { viaProxy: true });
    it.startWorker();
    const ids = await createMany(it, 550 * share, { drift_policy: "report" });
    await counted(it, "synced", ids.length, t.signal);
    const { proxy } = it;
    assert.ok(proxy !== undefined);
    proxy.isRefusing = true;
    proxy.cut();
    const maps = await it.configMaps();
    const isDeleted = (index: number) => index % 11 === 0;
    for (const index of ids.keys()) {
      const at = { namespace: "default", name: `many-${index}` };
      const body = { data: { a: `x${index}` } };
      if (isDeleted(index)) await maps.delete(at, t.signal);
      else await maps.patch(at, { type: "merge", body }, t.signal);
    }
    proxy.isRefusing = false;
    await counted(it, "drifted", ids.length, t.signal);
    const { items } = await maps.list({ namespace: "default" }, t.signal);
    const versions = new Map(
      items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
    );
    for (const [index, id] of ids.entries()) {
      const { current, health }: Details = (await it.rest.ask("GET", `/resources/${id}`)).body;
      if (isDeleted(index)) assert.equal(health, "Missing");
      else {
        assert.deepEqual(
          [current.spec.data.a, current.k8s_resource_version],
          [`x${index}`, versions.get(`many-${index}`)],
        );
      }
    }
  });
});
