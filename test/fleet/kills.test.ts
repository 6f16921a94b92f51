// kill -9 at every point of delivery, watching and deletion (F41, F42): before and after each statement and each call to
// the cluster. Some points in the gate, by a seed; all of them with KEELSON_TEST_KILLS=all.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { seededRandom } from "@keelson/base";
import { until } from "../tools/until.ts";
import { runFile } from "../services/process.ts";
import { startBed, synced, web, type Bed } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";

const program = new URL("./programs/mortal-worker.ts", import.meta.url);
const { KEELSON_TEST_KILLS: wanted = "4", KEELSON_TEST_SEED: seed = "kills" } = process.env;

/** What one worker leaves to the next: something of each kind of work. */
interface Work {
  readonly round: number;
  readonly made: number;
  readonly changed: number;
  readonly deleted: number;
  readonly drifted: number;
}

suite("kill -9 of a worker", { skip: isOracle ? "it needs no other cluster" : false }, () => {
  test(
    "F41, F42: wherever it dies, the next makes the cluster what is wanted, and the records are true",
    { timeout: 3_600_000 },
    async (t) => {
      await using it = await startBed(t.signal);
      const uncut = await runWorker(it, await leaveWork(it, 0, t.signal));
      assert.equal(uncut.code, 0);
      const points = Number(uncut.output);
      assert.ok(points > 30, `${points} points`);
      const random = seededRandom(seed);
      const rounds = wanted === "all" ? points : Number(wanted);
      let kills = 0;
      // What a busy machine made it do again counts among them: who gets by with fewer says how many there are.
      let fewest = points;
      for (let round = 1; round <= rounds; round++) {
        const killAt = wanted === "all" ? round : 1 + random.integer(fewest);
        const work = await leaveWork(it, round, t.signal);
        const { signal, output } = await runWorker(it, work, killAt);
        if (signal === "SIGKILL") kills += 1;
        else fewest = Math.min(fewest, Number(output));
        await checkRecovery(it, work, `killed at ${killAt} of ${points}`, t.signal);
      }
      assert.ok(kills >= rounds / 2, `${kills} of ${rounds} were killed`);
    },
  );
});

async function runWorker(it: Bed, { drifted }: Work, killAt?: number) {
  const { url } = it.rest.tables;
  return runFile(program, JSON.stringify({ url, server: it.server, drifted, killAt }));
}

/** Rows as a worker has left them, and then, without any, something to do for each. */
async function leaveWork(it: Bed, round: number, signal: AbortSignal): Promise<Work> {
  const named = (name: string) => ({ ...web, name: `${name}-${round}` });
  await using worker = it.startWorker({ leaseMs: 1_000 });
  const [changed, deleted, drifted] = [
    await it.create(named("changed")),
    await it.create(named("deleted")),
    await it.create(named("drifted")),
  ];
  for (const id of [changed, deleted, drifted]) await it.becomes(id, synced);
  await worker.stop();
  const maps = await it.configMaps();
  const at = (name: string) => ({ namespace: "default", name: `${name}-${round}` });
  await maps.patch(at("drifted"), { type: "merge", body: { data: { a: "theirs" } } }, signal);
  const foreign = { apiVersion: "v1", kind: "ConfigMap", metadata: at("foreign"), data: {} };
  await maps.apply(foreign, { fieldManager: "them" }, signal);
  await it.rest.ask("PUT", `/resources/${changed}`, { desired_spec: { data: { a: "2" } } });
  await it.rest.ask("DELETE", `/resources/${deleted}`);
  return { round, made: await it.create(named("made")), changed, deleted, drifted };
}

async function checkRecovery(
  it: Bed,
  { round, made, changed, deleted, drifted }: Work,
  where: string,
  signal: AbortSignal,
): Promise<void> {
  await using _worker = it.startWorker({ leaseMs: 1_000 });
  await it.goes(deleted);
  const dataOf = async (name: string) => (await it.find("ConfigMap", `${name}-${round}`))?.["data"];
  const expected = [
    [made, "made", 1, "1"],
    [changed, "changed", 2, "2"],
    [drifted, "drifted", 1, "1"],
  ] as const;
  for (const [id, name, generation, a] of expected) {
    // Synced alone is not enough: whoever was killed before it saw the drift has recorded none.
    await until(async () => {
      const data = await dataOf(name);
      return (data as { a?: string } | undefined)?.a === a;
    }, signal);
    const body = await it.becomes(
      id,
      (body) => synced(body) && body.current.generation === generation,
    );
    const object = await it.find("ConfigMap", `${name}-${round}`);
    const { annotations, uid, resourceVersion } = object?.metadata ?? {};
    await it.becomes(id, ({ current }) => current.k8s_resource_version === resourceVersion);
    assert.deepEqual(
      [body.generation, body.applied.generation, body.applied.status, body.current.uid, body.drift],
      [generation, generation, "success", uid, null],
      where,
    );
    assert.deepEqual(
      [annotations?.["kontrol/resource-id"], annotations?.["kontrol/generation"]],
      [String(id), String(generation)],
      where,
    );
  }
  assert.equal(await it.find("ConfigMap", `deleted-${round}`), undefined, where);
  assert.ok((await it.find("ConfigMap", `foreign-${round}`)) !== undefined, where);
  await until(async () => {
    const undone = await it.rest.tables.query(
      `SELECT FROM resource_attempts WHERE due_at IS NOT NULL OR lease_owner IS NOT NULL`,
    );
    return undone.length === 0;
  }, signal);
  const left = await it.rest.tables.query(
    `SELECT (SELECT count(*) FROM resource_tombstones WHERE resource_id = $1)::integer AS buried,
            (SELECT count(*) FROM events_unnumbered WHERE resource_id = $1 AND type = 'resource.deleted')::integer
              AS told`,
    [deleted],
  );
  assert.deepEqual(left, [{ buried: 1, told: 1 }], where);
}
