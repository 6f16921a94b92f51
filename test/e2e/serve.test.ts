// `keelson serve`: chosen parts against a PostgreSQL that replicas share.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startTestServer } from "@keelson/apiserver/testing";
import { openDatabase, statement } from "@keelson/database";
import { patience, startThrowawayPostgres } from "@keelson/database/testing";
import { kubeconfigOf } from "../tools/kubeconfig.ts";
import { until } from "../tools/until.ts";
import { expectAnswer } from "./expect-answer.ts";
import { KeelsonProcess, leftBehind, temporaryFolder } from "./keelson-process.ts";

const execVersion = "client.authentication.k8s.io/v1";

/** Who watches each target, in the order of their ids. */
const readHolders = statement<undefined, { readonly owner: string }>(
  "readHolders",
  (sql) => sql`SELECT lease_owner AS owner FROM fleet.targets ORDER BY cluster_id`,
);

const readAnnounced = statement<undefined>(
  "readAnnounced",
  (sql) => sql`
    SELECT FROM lifecycle.reconciliation_schedule WHERE last_reconciled_at IS NOT NULL`,
);

suite("keelson serve", () => {
  test("replicas start at once on an empty database, know their callers, and survive a restart of it", async (t) => {
    await using folder = await temporaryFolder();
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" });
    await using database = await postgres.createDatabase();
    const tokensFile = join(folder.path, "tokens.json");
    const tokens = [{ name: "ops", sha256: hash("sha256", "let-me-in"), role: "admin" }];
    await writeFile(tokensFile, JSON.stringify({ tokens }));
    const environment = {
      DATABASE_URL: database.url,
      KEELSON_TOKENS_FILE: tokensFile,
      KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
      RECONCILIATION_CHECK_INTERVAL: "1s",
    };
    const replica = (name: string, roles: string, ...flags: string[]): KeelsonProcess =>
      new KeelsonProcess(join(folder.path, name), {
        command: "serve",
        flags: ["--roles", roles, ...flags],
        environment,
      });
    // One cluster by a plugin of the configuration file, for the central worker; one from inside, for its own worker.
    await using cluster = await startTestServer({}, t.signal);
    const server = { server: cluster.url };
    const credential = { apiVersion: execVersion, kind: "ExecCredential", status: { token: "x" } };
    const exec = {
      apiVersion: execVersion,
      command: "/bin/echo",
      args: [JSON.stringify(credential)],
      interactiveMode: "Never",
    };
    const configFile = join(folder.path, "keelson.config.yaml");
    const outside = { cluster_id: "outside", kubeconfig: kubeconfigOf(server, { exec }) };
    await writeFile(configFile, JSON.stringify({ targets: [outside] }));
    const inside = join(folder.path, "inside.kubeconfig");
    await writeFile(inside, JSON.stringify(kubeconfigOf(server)));
    await using one = replica("one", "rest,worker,scheduler", "--config", configFile);
    await using other = replica("other", "rest");
    await using worker = replica(
      "worker",
      "worker",
      "--cluster-id",
      "inside",
      "--kubeconfig",
      inside,
    );
    const [{ rest = "" }, , { rest: none, metrics = "" }] = await Promise.all([
      one.ready(),
      other.ready(),
      worker.ready(),
    ]);
    // Whoever hangs up in the middle of an answer has most likely ended, and says why.
    const fetch = async (url: string, options: RequestInit = {}): Promise<Response> =>
      await globalThis
        .fetch(url, { signal: t.signal, ...options })
        .catch((error: unknown) =>
          Promise.reject(new Error(`${url}\n${one.output.slice(-4_000)}`, { cause: error })),
        );
    assert.equal(none, undefined);
    await expectAnswer(() => fetch(`${metrics}/readyz`), 200, t.signal);

    for (const [path, headers, status] of [
      ["/readyz", {}, 200],
      ["/api/v1/info", {}, 200],
      ["/api/v1/nothing", {}, 401],
      ["/api/v1/nothing", { authorization: "Bearer wrong" }, 401],
      ["/api/v1/nothing", { authorization: "Bearer let-me-in" }, 404],
    ] as const) {
      await expectAnswer(() => fetch(`${rest}${path}`, { headers }), status, t.signal);
    }

    const headers = { authorization: "Bearer let-me-in", "content-type": "application/json" };
    const ask = async (path: string, body?: object, method = "POST") => {
      const sent = body === undefined ? {} : { method, body: JSON.stringify(body) };
      const answer = await fetch(`${rest}/api/v1${path}`, { headers, ...sent });
      return JSON.parse(await answer.text());
    };
    const map = (clusterId: string) => ({
      cluster_id: clusterId,
      namespace: "default",
      kind: "ConfigMap",
      name: clusterId,
      desired_spec: { data: { a: "1" } },
    });
    const ids: number[] = [];
    for (const clusterId of ["outside", "inside"]) {
      const { id } = await ask("/resources", map(clusterId));
      await until(async () => (await ask(`/resources/${id}`)).status === "synced", t.signal);
      ids.push(id);
    }
    const changed = { desired_spec: { data: { a: "2" } } };
    // How a cluster is stands in its own row, which is written beside those of its resources.
    const targets = await until(async () => {
      const all = (await ask("/targets")).targets as readonly Record<string, unknown>[];
      return all.every(({ health }) => health === "Healthy") ? all : undefined;
    }, t.signal);
    assert.deepEqual(
      targets.map(({ cluster_id, agent }) => [cluster_id, agent]),
      [
        ["inside", true],
        ["outside", false],
      ],
    );
    await using tables = openDatabase({ url: database.url, name: "test", ...patience });
    const holders = await tables.run(readHolders, undefined, t.signal);
    assert.deepEqual(
      holders.map(({ owner }) => Number(owner.split(" ")[1])),
      [worker.pid, one.pid],
    );

    await postgres.stop({ mode: "fast" });
    const down = await fetch(`${rest}/readyz`);
    assert.deepEqual([down.status, down.headers.get("retry-after")], [503, "5"]);
    // F7: it lives, is not ready, and whatever needs the database says so.
    for (const path of ["/livez", "/health", "/health/live"]) {
      assert.equal((await fetch(`${rest}${path}`)).status, 200, path);
    }
    const resource = `/resources/${ids[0]}`;
    const batch = { changes: [{ op: "create", ...map("outside"), name: "more" }] };
    for (const [method, path, body] of [
      ["GET", "/clusters"],
      ["GET", "/resources"],
      ["GET", resource],
      ["GET", `${resource}/revisions`],
      ["GET", `${resource}/diff`],
      ["GET", "/targets"],
      ["GET", "/global-resources"],
      ["POST", "/resources", { ...map("outside"), name: "more" }],
      ["PUT", "/resources", map("outside")],
      ["PUT", resource, changed],
      ["PUT", `${resource}?dryRun=true`, changed],
      ["POST", `${resource}/sync`],
      ["POST", "/batch", batch],
      ["POST", "/targets", { cluster_id: "third", agent: true }],
      ["DELETE", resource],
    ] as const) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const bare = { authorization: headers.authorization };
      const refused = await fetch(`${rest}/api/v1${path}`, {
        method,
        headers: body === undefined ? bare : headers,
        ...sent,
      });
      const { code: word } = (await refused.json()) as { readonly code: string };
      assert.deepEqual(
        [method, path, refused.status, refused.headers.get("retry-after"), word],
        [method, path, 503, "5", "DATABASE_UNAVAILABLE"],
      );
    }
    await postgres.start();
    let status = 0;
    while (status !== 200) status = (await fetch(`${rest}/readyz`)).status;

    // Nothing was restarted: what was refused left no trace, and a change arrives as before.
    const { total } = await until(async () => {
      const answer = await ask("/resources");
      return answer.total === undefined ? undefined : (answer as { readonly total: number });
    }, t.signal);
    assert.equal(total, 2);
    for (const id of ids) {
      const path = `/resources/${id}`;
      await until(async () => (await ask(path, changed, "PUT")).generation === 2, t.signal);
      await until(async () => {
        const { status: word, generation } = await ask(path);
        return word === "synced" && generation === 2;
      }, t.signal);
    }
    // A cluster is declared, told of and announced.
    const made = await until(async () => {
      const answer = await ask("/clusters", { name: "one", spec: { platform: { type: "gcp" } } });
      return answer.id === undefined ? undefined : (answer as { readonly id: string });
    }, t.signal);
    await until(async () => (await ask(`/clusters/${made.id}/events`)).events.length > 0, t.signal);
    await until(
      async () => (await tables.run(readAnnounced, undefined, t.signal)).length > 0,
      t.signal,
    );

    for (const replica of [one, other, worker]) {
      const { code, output } = await replica.stop("SIGTERM");
      assert.equal(code, 0, output);
      assert.deepEqual(leftBehind(replica.dataDir), []);
      assert.ok(!output.includes("let-me-in") && !output.includes(new URL(database.url).password));
    }
  });
});
