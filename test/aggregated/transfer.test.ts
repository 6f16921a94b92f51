// `keelson apiserver export` and `import`: from CRDs in a real cluster to SQL, and back.

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "node:test";

import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { configMap } from "../apiserver/objects.ts";
import { runKeelson, type Run } from "../e2e/run-keelson.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { expectStatus } from "./asking.ts";
import { establishDefinitions } from "./definitions.ts";
import { memory, ownerOf, pathOf } from "./objects.ts";

suite("objects between CRDs and SQL", () => {
  oracleTest("everything travels, also in pieces, also twice, and back again", async (t) => {
    const { signal } = t;
    await using oracle = await startOracle({}, signal);
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-transfer-test-")));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const keelson = (words: readonly string[]): Promise<Run> => {
      const options = { cwd: folder, environment: { HOME: folder } };
      return runKeelson(["apiserver", ...words], options, signal);
    };
    await establishDefinitions(oracle, signal);
    await fill(oracle, signal);
    const cluster = ["--kubeconfig", oracle.kubeconfig];
    const exported = await keelson(["export", ...cluster]);
    assert.equal(exported.code, 0, exported.stderr);
    const lines = exported.stdout.trim().split("\n");
    assert.match(exported.stderr, /memories 31\n[\s\S]*teams 2\n[\s\S]*queries 2\n/);
    assert.equal(lines.length, 35);

    const server = await sharedThrowawayPostgres("embedded");
    await using database = await server.createDatabase();
    const stores = {
      sqlite: ["--storage-driver", "sqlite", "--data-dir", join(folder, "sqlite")],
      postgresql: ["--storage-driver", "postgresql", "--database-url", database.url],
    };
    for (const [driver, flags] of Object.entries(stores)) {
      await t.test(`into ${driver}`, async () => {
        if (driver === "postgresql") await keelson(["migrate", ...flags]);
        const half = write(folder, "half.jsonl", lines.slice(0, 20));
        const whole = write(folder, "whole.jsonl", lines);
        const first = await keelson(["import", half, ...flags]);
        assert.equal(first.code, 0, first.stderr);
        const second = await keelson(["import", whole, ...flags]);
        assert.equal(second.code, 0, second.stderr);
        assert.match(second.stdout, /memories 31 of 31/);
        assert.match(second.stdout, /queries 2 of 2/);
        const back = await keelson(["export", ...flags]);
        assert.deepEqual(said(back.stdout), said(exported.stdout));
        const again = await keelson(["import", whole, ...flags]);
        assert.equal(again.code, 0, again.stderr);
        assert.doesNotMatch(again.stdout, /[1-9]\d* created/);
        // Not even a revision has moved: what was written twice is the same.
        assert.equal((await keelson(["export", ...flags])).stdout, back.stdout);
      });
    }

    await t.test("what a file and a place disagree about is left alone, and told", async () => {
      const [line = ""] = lines.filter((one) => one.includes('"name":"m-1"'));
      const other = write(folder, "other.jsonl", [line.replace("http://one", "http://other")]);
      const { code, stdout } = await keelson(["import", other, ...stores.sqlite]);
      assert.equal(code, 0);
      assert.match(stdout, /1 of 1 \(0 created, 1 of them different and left alone\)/);
    });

    await t.test("back into CRDs", async () => {
      const back = await keelson(["export", ...stores.sqlite]);
      const file = write(folder, "back.jsonl", back.stdout.trim().split("\n"));
      await empty(oracle, signal);
      const imported = await keelson(["import", file, ...cluster]);
      assert.equal(imported.code, 0, imported.stderr + imported.stdout);
      const after = await keelson(["export", ...cluster]);
      assert.deepEqual(said(after.stdout), said(exported.stdout));
      const path = pathOf("memories", "default", "of-config-map");
      const { body } = await expectStatus(oracle.client, { path }, 200, signal);
      const { metadata } = body as { metadata: { ownerReferences: { uid: string }[] } };
      const map = "/api/v1/namespaces/default/configmaps/owner";
      const owner = await expectStatus(oracle.client, { path: map }, 200, signal);
      assert.equal(metadata.ownerReferences[0]?.uid, ownerOf(owner.body).uid);
    });

    await t.test("counts that differ are a failure", async () => {
      const line = JSON.stringify({ ...memory("lost"), ...inNamespace("lost", "nowhere") });
      const file = write(folder, "lost.jsonl", [line]);
      const { code, stdout, stderr } = await keelson(["import", file, ...cluster]);
      assert.equal(code, 1);
      assert.match(stdout, /memories 0 of 1/);
      assert.match(stderr, /Memory nowhere\/lost is refused: namespaces "nowhere" not found/);
    });

    for (const [what, text, says] of [
      ["no JSON", "{", /line 1 is no JSON/],
      [
        "another kind",
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}',
        /no kind of ours/,
      ],
    ] as const) {
      await t.test(`a file with ${what} is refused before anything is written`, async () => {
        const file = write(folder, "bad.jsonl", [text]);
        const { code, stderr } = await keelson(["import", file, ...stores.sqlite]);
        assert.equal(code, 2);
        assert.match(stderr, says);
      });
    }
  });
});

/** What lines say, in any order, but for the uids of owners: those are the place's. */
function said(text: string): readonly unknown[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line.replaceAll(/"uid":"[^"]*"/g, '"uid":""')) as Said)
    .map(({ metadata: { deletionTimestamp, ...metadata }, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, isGoing: deletionTimestamp !== undefined },
    }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

interface Said {
  readonly metadata: { readonly deletionTimestamp?: string };
}

function inNamespace(name: string, namespace: string): object {
  return { metadata: { name, namespace } };
}

function write(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Owners of ours and of the cluster's, status, finalizers, one that is going, and two that name each other. */
async function fill({ client }: Oracle, signal: AbortSignal): Promise<void> {
  const post = async (path: string, body: object): Promise<unknown> =>
    (await expectStatus(client, { method: "POST", path, body }, 201, signal)).body;
  const owner = ownerOf(await post("/api/v1/namespaces/default/configmaps", configMap("owner")));
  const memories = pathOf("memories", "default");
  await post(memories, memory("of-config-map", { owners: [owner] }));
  for (let n = 0; n < 29; n += 1) {
    await post(memories, memory(`m-${n}`, { address: "http://one", labels: { n: String(n) } }));
  }
  const parent = ownerOf(
    (await expectStatus(client, { path: `${memories}/m-0` }, 200, signal)).body,
  );
  await post(memories, memory("child", { owners: [{ ...parent }] }));
  const teams = pathOf("teams", "default");
  for (const [name, member] of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    const spec = { members: [{ name: member, type: "team" }], strategy: "sequential" };
    await post(teams, {
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Team",
      metadata: { name },
      spec,
    });
  }
  const queries = pathOf("queries", "default");
  for (const name of ["done", "going"]) {
    await post(queries, {
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Query",
      metadata: { name, finalizers: ["example.com/hold"], annotations: { "example.com/a": "1" } },
      spec: { input: "hello", target: { type: "team", name: "a" } },
    });
    const status = { phase: "done", tokenUsage: { promptTokens: 9_007_199_254_740_991 } };
    const headers = { "content-type": "application/merge-patch+json" };
    const path = `${queries}/${name}/status`;
    await expectStatus(client, { method: "PATCH", path, body: { status }, headers }, 200, signal);
  }
  await expectStatus(client, { method: "DELETE", path: `${queries}/going` }, 200, signal);
}

async function empty({ client }: Oracle, signal: AbortSignal): Promise<void> {
  const headers = { "content-type": "application/merge-patch+json" };
  for (const name of ["done", "going"]) {
    const body = { metadata: { finalizers: null } };
    const path = pathOf("queries", "default", name);
    await expectStatus(client, { method: "PATCH", path, body, headers }, 200, signal);
  }
  for (const plural of ["memories", "teams", "queries"]) {
    const path = pathOf(plural, "default");
    await expectStatus(client, { method: "DELETE", path }, 200, signal);
  }
}
