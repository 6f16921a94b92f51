import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { suite } from "node:test";

import { startOracle } from "./cluster.ts";
import { isAlive } from "../tools/is-alive.ts";
import { oracleTest } from "./oracle-test.ts";
import { kubernetesVersion } from "./programs.ts";
import { until } from "../tools/until.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

suite("oracle", () => {
  oracleTest("two clusters run side by side and know nothing of each other", async (t) => {
    const [left, right] = await Promise.all([startOracle({}, t.signal), startOracle({}, t.signal)]);
    await using _left = left;
    await using _right = right;

    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "only-left" } };
    const path = "/api/v1/namespaces";
    assert.equal((await left.client.send({ method: "POST", path, body }, t.signal)).status, 201);

    const names = async (oracle: typeof left): Promise<string[]> => {
      const { code, stdout, stderr } = await oracle.kubectl(["get", "ns", "-o", "name"], t.signal);
      assert.equal(code, 0, stderr);
      return stdout.trim().split("\n");
    };
    assert.ok((await names(left)).includes("namespace/only-left"));
    assert.ok(!(await names(right)).includes("namespace/only-left"));
  });

  oracleTest("says its version, knows its users", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const version = (await oracle.client.send({ path: "/version" }, t.signal)).body;
    assert.equal((version as { gitVersion: string }).gitVersion, `v${kubernetesVersion}`);

    using byToken = oracle.connectAs({ token: oracle.admin.token });
    using nobody = oracle.connectAs({});
    using alice = oracle.connectAs(await oracle.issue({ name: "alice", groups: ["readers"] }));
    const path = "/api/v1/secrets";
    assert.equal((await byToken.send({ path }, t.signal)).status, 200);
    assert.equal((await nobody.send({ path }, t.signal)).status, 403);
    const refused = (await alice.send({ path }, t.signal)).body as { message: string };
    assert.match(refused.message, /User "alice" cannot list resource "secrets"/);
  });

  oracleTest("an API server killed and started again still has its objects", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kept" } };
    const path = "/api/v1/namespaces/default/configmaps";
    const created = await oracle.client.send({ method: "POST", path, body }, t.signal);
    assert.equal(created.status, 201, created.text);

    await oracle.stopProgram("kube-apiserver", "SIGKILL");
    await assert.rejects(oracle.client.send({ path }, t.signal));
    await oracle.startProgram("kube-apiserver", t.signal);

    const kept = await oracle.client.send({ path: `${path}/kept` }, t.signal);
    assert.equal(kept.status, 200);
    assert.equal(uidOf(kept.body), uidOf(created.body));
  });

  oracleTest("compaction expires old resource versions", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const path = "/api/v1/namespaces/default/configmaps";
    const create = async (name: string): Promise<string> => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
      const { body: made } = await oracle.client.send({ method: "POST", path, body }, t.signal);
      return (made as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    };
    const old = await create("first");
    await create("second");
    await oracle.compact(t.signal);
    // The snapshots in its memory would still answer.
    await oracle.stopProgram("kube-apiserver");
    await oracle.startProgram("kube-apiserver", t.signal);

    const query = `resourceVersion=${old}&resourceVersionMatch=Exact`;
    const list = await oracle.client.send({ path: `${path}?${query}` }, t.signal);
    assert.equal(list.status, 410, list.text);
    const { value: first } = await oracle.client
      .watch(`${path}?watch=1&resourceVersion=${old}`, t.signal)
      .next();
    assert.equal(first?.type, "ERROR");
    assert.equal(first.object["reason"], "Expired");
  });

  oracleTest("a Deployment becomes ready with controllers, scheduler and KWOK", async (t) => {
    const options = { controllers: ["*"], scheduler: true, kwok: true };
    await using oracle = await startOracle(options, t.signal);
    const made = await oracle.kubectl(
      ["create", "deployment", "web", "--image=web:1", "--replicas=2"],
      t.signal,
    );
    assert.equal(made.code, 0, made.stderr);
    const rolledOut = await oracle.kubectl(
      ["rollout", "status", "deployment/web", "--timeout=240s"],
      t.signal,
    );
    assert.equal(rolledOut.code, 0, rolledOut.stdout + rolledOut.stderr);

    await oracle.kubectl(["create", "job", "once", "--image=once:1"], t.signal);
    const completed = await oracle.kubectl(
      ["wait", "job/once", "--for=condition=Complete", "--timeout=240s"],
      t.signal,
    );
    assert.equal(completed.code, 0, completed.stdout + completed.stderr);
  });

  oracleTest("Helm talks to it", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const listed = await oracle.run("helm", ["list", "-A", "-o", "json"], t.signal);
    assert.deepEqual(
      { code: listed.code, stdout: listed.stdout.trim() },
      { code: 0, stdout: "[]" },
    );
  });

  oracleTest("nothing is left behind when its guard is killed", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const pids = [oracle.pidOf("etcd"), oracle.pidOf("kube-apiserver"), oracle.guardPid];
    const known = pids.filter((pid) => pid !== undefined);
    assert.equal(known.length, 3);
    assert.ok(oracle.guardPid !== undefined);
    process.kill(oracle.guardPid, "SIGKILL");
    await until(() => !known.some(isAlive), t.signal);
    await oracle[Symbol.asyncDispose]();
    assert.ok(!existsSync(oracle.folder));
  });

  oracleTest("nothing is left behind when its owner is killed", async (t) => {
    const { pids, folder } = await killOwner(t.signal);
    assert.ok(pids.length === 3 && pids.every((pid) => Number.isInteger(pid)));
    await until(() => !pids.some(isAlive) && !existsSync(folder), t.signal);
  });
});

function uidOf(body: unknown): string {
  return (body as { metadata: { uid: string } }).metadata.uid;
}

/** Runs a process that starts a cluster, and kills it without warning once the cluster is up. */
async function killOwner(
  signal: AbortSignal,
): Promise<{ readonly pids: readonly number[]; readonly folder: string }> {
  const script = join(import.meta.dirname, "fixtures", "owner.ts");
  const owner = endsWithUs(
    spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"], signal }),
  );
  const lines = createInterface(owner.stdout);
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  assert.ok(line !== undefined, "it ended without a word");
  const facts = JSON.parse(line) as { pids: number[]; folder: string };
  assert.ok(facts.pids.every(isAlive));
  owner.kill("SIGKILL");
  await once(owner, "exit");
  return facts;
}
