// Writes of targets that are only tried (3.3): what would come of the target and of the copies in it, and nothing is kept.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startTestServer } from "@keelson/apiserver/testing";
import { kubeconfigOf } from "../tools/kubeconfig.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { HttpProxy, refusal } from "../tools/http-proxy.ts";
import type { Details } from "./bed.ts";
import { as, startFleetRest, type FleetRest } from "./fleet-rest.ts";

const secret = "a-very-secret-token";
const kubeconfig = (port: number) =>
  kubeconfigOf({ server: `http://127.0.0.1:${port}` }, { token: secret });
const map = (name: string) => ({
  namespace: "default",
  kind: "ConfigMap",
  name,
  desired_spec: { data: { a: "1" } },
});
const tierOne = { selector: { matchLabels: { tier: "one" } } };

/** Everything that a write would leave behind. */
const everything = (it: FleetRest) =>
  it.tables.query(`
    SELECT (SELECT jsonb_agg(to_jsonb(t) ORDER BY cluster_id) FROM targets t) AS targets,
           (SELECT jsonb_agg(to_jsonb(r) ORDER BY id) FROM resources r) AS rows,
           (SELECT jsonb_agg(to_jsonb(p) ORDER BY global_id, cluster_id) FROM global_placements p) AS placements,
           (SELECT count(*)::integer FROM events_unnumbered) AS events,
           (SELECT sum(requests)::integer FROM resource_attempts) AS asked`);

const codes = (all: readonly Details[]) => all.map(({ code }) => code);
const copies = ({ body }: { body: Details }) =>
  body.copies.map(({ name, outcome, code, result }: Details) => [
    name,
    outcome,
    code ?? result?.data ?? null,
  ]);
const pending = (path: string, desired: unknown, former: unknown) => ({
  path,
  desired,
  applied: former,
  current: former,
  owner: null,
  cause: "pending",
});

suite("a write of a target that is only tried", () => {
  test("3.3: tells what would come of it and of the copies in it, by the rules of a write, and changes nothing", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const port = Number(new URL(server.url).port);
    await using proxy = await TcpProxy.to(port);
    await using it = await startFleetRest({
      tokens: {
        admin: { role: "admin" },
        editor: { role: "editor" },
        "only-old": { role: "admin", clusters: ["old"] },
      },
    });
    const ask = (...[method, path, body, headers]: Parameters<FleetRest["ask"]>) =>
      it.ask(method, path, body, headers ?? as("admin"));
    const old = { cluster_id: "old", kubeconfig: kubeconfig(port) };
    assert.equal((await ask("POST", "/targets", old)).code, 201);
    for (const name of ["settings", "taken"]) {
      const made = await ask("POST", "/global-resources", { ...map(name), ...tierOne });
      assert.equal(made.code, 201);
    }
    for (const cluster_id of ["old", "new"]) {
      await ask("POST", "/resources", { cluster_id, ...map("taken") });
    }
    const before = await everything(it);

    const fresh = { cluster_id: "new", kubeconfig: kubeconfig(proxy.port) };
    const created = await ask("POST", "/targets?dryRun=true", {
      ...fresh,
      labels: { tier: "one" },
      paused: true,
    });
    assert.equal(created.code, 200, JSON.stringify(created.body));
    const { copies: _copies, warnings, ...rest } = created.body;
    const shown = {
      cluster_id: "new",
      server: `http://127.0.0.1:${proxy.port}`,
      labels: { tier: "one" },
      paused: true,
      health: "Unknown",
      health_message: null,
      last_contact_at: null,
      agent: false,
      deleting: false,
    };
    assert.deepEqual(rest, {
      dry_run: true,
      result: shown,
      diff: [
        pending("/agent", false, null),
        pending("/labels/tier", "one", null),
        pending("/paused", true, null),
        pending("/server", shown.server, null),
      ],
      conflicts: [],
    });
    assert.deepEqual(codes(warnings), ["conflict", "paused"]);
    assert.match(warnings[0].message, /ConfigMap taken/);
    assert.deepEqual(copies(created), [["settings", "created", { a: "1" }]]);
    assert.deepEqual(_copies[0].result.metadata.annotations["kontrol/generation"], "1");

    const inside = await ask("POST", "/targets?dryRun=true", {
      cluster_id: "new",
      agent: true,
      labels: { tier: "one" },
    });
    assert.deepEqual([inside.code, inside.body.result.agent], [200, true]);
    assert.deepEqual(copies(inside), [["settings", "created", "TARGET_UNREACHABLE"]]);

    const relabelled = await ask("PUT", "/targets/old?dryRun=true", { labels: { tier: "one" } });
    assert.deepEqual(relabelled.body.diff, [pending("/labels/tier", "one", null)]);
    assert.deepEqual(codes(relabelled.body.warnings), ["conflict"]);
    assert.deepEqual(copies(relabelled), [["settings", "created", { a: "1" }]]);
    const moved = await ask("PUT", "/targets/old?dryRun=true", {
      kubeconfig: kubeconfig(proxy.port),
    });
    assert.deepEqual(
      [moved.code, moved.body.diff, codes(moved.body.warnings), moved.body.copies],
      [200, [pending("/server", shown.server, `http://127.0.0.1:${port}`)], ["credential"], []],
    );
    const same = await ask("PUT", "/targets/old?dryRun=true", { kubeconfig: kubeconfig(port) });
    assert.deepEqual(
      [same.body.diff, same.body.warnings, same.body.result.cluster_id],
      [[], [], "old"],
    );

    // By the rules of a write.
    for (const [method, path, body, expected] of [
      ["POST", "/targets", old, [409, "TARGET_EXISTS"]],
      ["POST", "/targets", { cluster_id: "new" }, [400, "VALIDATION_FAILED"]],
      ["PUT", "/targets/nobody", { paused: true }, [404, "RESOURCE_NOT_FOUND"]],
      ["PUT", "/targets/old", {}, [400, "VALIDATION_FAILED"]],
      ["DELETE", "/targets/nobody", undefined, [404, "RESOURCE_NOT_FOUND"]],
      ["DELETE", "/targets/old", undefined, [409, "TARGET_IN_USE"]],
    ] as const) {
      const refused = await ask(method, `${path}?dryRun=true`, body);
      assert.deepEqual([refused.code, refused.body.code], expected, `${method} ${path}`);
    }
    const may = await ask("POST", "/targets?dryRun=true", fresh, as("editor"));
    assert.equal(may.code, 403);
    assert.equal((await ask("POST", "/targets?dryRun=true", fresh, as("only-old"))).code, 403);
    const forgotten = await ask("DELETE", "/targets/old?dryRun=true&orphan=true");
    assert.deepEqual(
      [
        forgotten.code,
        forgotten.body.result,
        codes(forgotten.body.warnings),
        forgotten.body.copies,
      ],
      [200, null, ["forgotten"], []],
    );

    proxy.isRefusing = true;
    proxy.cut();
    const away = await ask("POST", "/targets?dryRun=true", fresh);
    assert.deepEqual([away.code, away.body.code], [502, "TARGET_UNREACHABLE"]);
    for (const { body } of [created, moved, away]) {
      assert.ok(!JSON.stringify(body).includes(secret));
    }
    assert.deepEqual(await everything(it), before);
  });

  test("3.3: a deletion tells of the copies that would go, and a cluster that is not ready or lets nobody in says so", async (t) => {
    await using server = await startTestServer({}, t.signal);
    await using proxy = await HttpProxy.to(Number(new URL(server.url).port));
    await using it = await startFleetRest();
    const named = { cluster_id: "old", kubeconfig: kubeconfig(proxy.port) };
    assert.equal((await it.ask("POST", "/targets", named)).code, 201);
    assert.equal((await it.ask("POST", "/global-resources", map("settings"))).code, 201);
    // As a worker would have left it: what it has begun is deleted in the cluster before the target goes.
    await it.tables.query(`UPDATE resource_attempts SET last_attempt_at = now()`);
    const before = await everything(it);
    const leaving = await it.ask("DELETE", "/targets/old?dryRun=true");
    assert.deepEqual(
      [leaving.code, leaving.body.result.deleting, copies(leaving)],
      [200, true, [["settings", "deleted", null]]],
    );
    const forgotten = await it.ask("DELETE", "/targets/old?dryRun=true&orphan=true");
    assert.deepEqual(
      [forgotten.body.result, copies(forgotten)],
      [null, [["settings", "forgotten", null]]],
    );
    const other = { cluster_id: "new", kubeconfig: kubeconfig(proxy.port) };
    for (const [said, expected] of [
      [refusal(500, "InternalError", "not yet"), [200, "not_ready"]],
      [refusal(401, "Unauthorized", "who is there?"), [502, "TARGET_UNREACHABLE"]],
    ] as const) {
      proxy.intercept = ({ path }) => (path === "/readyz" ? said : undefined);
      const { code, body } = await it.ask("POST", "/targets?dryRun=true", other);
      assert.deepEqual([code, body.code ?? body.warnings[0]?.code], expected);
    }
    assert.deepEqual(await everything(it), before);
  });
});
