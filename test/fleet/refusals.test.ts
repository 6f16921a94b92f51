// Clusters that refuse, throttle and forget (F18, F32, F34, F35, F40, F43, F48).

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseUnavailable, statement } from "@keelson/database";
import { until } from "../tools/until.ts";
import { applied, definitionOf, inFlightMax, startBed, synced, web, type Bed } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";
import { refusal } from "../tools/http-proxy.ts";

const { KEELSON_TEST_AWAY_MS: awayMs = "0" } = process.env;
const ref = { namespace: "default", name: "web" };
const backoffMinMs = 500;
const skip = isOracle ? "the answers are the proxy's, whoever is behind it" : false;

suite("clusters that refuse", { skip }, () => {
  test("F18, F40: a refusal is shown with growing delays, Retry-After is obeyed, and others go on", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    // A call that a busy machine lets time out would be a failure of another class. The one that is to come back in an hour takes so long.
    const patient = { leaseMs: 240_000, callTimeoutMs: 15_000 };
    it.startWorker({ ...patient, backoffMs: { min: backoffMinMs, max: 60_000 } });
    const { http } = it;
    assert.ok(http !== undefined);
    const isOf = (name: string, path: string) => path.endsWith(`/configmaps/${name}`);
    const [kept, other] = [await it.create(web), await it.create({ ...web, name: "other" })];
    for (const id of [kept, other]) await it.becomes(id, synced);
    const quota = "exceeded quota: compute, requested: count/configmaps=1";
    http.intercept = ({ method, path }) => {
      if (method === "PATCH" && isOf("full", path)) return refusal(403, "Forbidden", quota);
      if (method === "PATCH" && isOf("busy", path)) {
        const busy = refusal(429, "TooManyRequests", "slow down");
        return { ...busy, headers: { "retry-after": "3600" } };
      }
      if (method === "DELETE" && isOf("web", path)) {
        return refusal(403, "Forbidden", "somebody may not delete configmaps");
      }
      return undefined;
    };
    const attemptsOf = await recordAttempts(it);
    const full = await it.create({ ...web, name: "full" });
    const busy = await it.create({ ...web, name: "busy" });
    await it.rest.ask("DELETE", `/resources/${kept}`);
    await it.rest.ask("DELETE", `/resources/${other}`);
    const { attempts, wait_ms: waitMs } = await until(async () => {
      const [row] = await it.rest.tables.query<{ attempts: number; wait_ms: number }>(
        `SELECT attempts, extract(epoch FROM due_at - last_attempt_at)::float8 * 1000 AS wait_ms
         FROM resource_attempts WHERE resource_id = $1 AND lease_owner IS NULL AND attempts >= 3`,
        [full],
      );
      return row;
    }, t.signal);
    const failed = (await it.rest.ask("GET", `/resources/${full}`)).body.last_error;
    assert.deepEqual([failed.class, failed.http_status, failed.message], ["forbidden", 403, quota]);
    assert.ok(failed.attempts >= attempts);
    // Twice as long each time, a fifth less at most.
    assert.ok(waitMs >= backoffMinMs * 2 ** (attempts - 1) * 0.8, `${waitMs} ms after ${attempts}`);
    const throttled = await it.becomes(busy, ({ last_error }) => last_error !== null);
    assert.equal(throttled.last_error.class, "throttled");
    const [next] = await it.rest.tables.query(
      `SELECT due_at > now() + interval '50 min' AS late FROM resource_attempts WHERE resource_id = $1`,
      [busy],
    );
    assert.deepEqual(next, { late: true });
    // A new wish is a new beginning, and so is a resumption.
    const beginnings = async () => (await attemptsOf(full)).filter((count) => count === 1).length;
    await it.rest.ask("PUT", `/resources/${full}`, { desired_spec: { data: { a: "2" } } });
    await until(async () => (await beginnings()) === 2, t.signal);
    await until(async () => ((await attemptsOf(full)).at(-1) ?? 0) > 1, t.signal);
    await it.rest.ask("POST", `/resources/${full}/pause`);
    await it.rest.ask("POST", `/resources/${full}/resume`);
    await until(async () => (await beginnings()) === 3, t.signal);
    const stuck = await it.becomes(kept, ({ last_error }) => last_error !== null);
    assert.deepEqual([stuck.status, stuck.last_error.class], ["deleting", "forbidden"]);
    await it.goes(other);
    http.intercept = () => undefined;
    for (const id of [full, busy, kept]) await it.rest.ask("POST", `/resources/${id}/sync`);
    for (const [id, generation] of [
      [full, 2],
      [busy, 1],
    ] as const) {
      const good = await it.becomes(id, applied(generation));
      assert.equal(good.last_error, null);
    }
    await it.goes(kept);
  });

  test("an answer without sense is a failure of its resource, with growing delays, and others go on", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker({ backoffMs: { min: 100, max: 60_000 } });
    const { http } = it;
    assert.ok(http !== undefined);
    const { body } = refusal(403, "Forbidden", "somebody may not patch configmaps");
    const senseless: Readonly<Record<string, { readonly code: number; readonly body: object }>> = {
      late: { code: 403, body: { ...body, details: { retryAfterSeconds: 1e300 } } },
      broken: { code: 403, body: { ...body, code: 403.5 } },
    };
    http.intercept = ({ method, path }) =>
      method === "PATCH" ? senseless[path.split("/").at(-1) ?? ""] : undefined;
    for (const name of Object.keys(senseless)) {
      const id = await it.create({ ...web, name });
      const failed = await it.becomes(id, ({ last_error: error }) => error?.attempts > 1);
      assert.equal(failed.last_error.class, "internal", name);
    }
    await it.becomes(await it.create(web), synced);
  });

  test("4.2: so many calls are under way at once, and the rest waits in the table", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    const { http } = it;
    assert.ok(http !== undefined);
    const held: (() => void)[] = [];
    let [isOpen, calls] = [false, 0];
    http.intercept = async ({ method }) => {
      if (method !== "PATCH") return undefined;
      calls += 1;
      if (!isOpen) await new Promise<void>((resolve) => void held.push(resolve));
      return undefined;
    };
    it.startWorker();
    const changes = Array.from({ length: 30 }, (_, n) => ({
      op: "create",
      ...web,
      name: `n-${n}`,
    }));
    const made = await it.rest.ask("POST", "/batch", { changes });
    const claimed = async () => {
      const rows = await it.rest.tables.query<{ claimed: number }>(
        `SELECT count(*)::integer AS claimed FROM resource_attempts WHERE lease_owner IS NOT NULL`,
      );
      return rows[0]?.claimed;
    };
    await until(() => calls === inFlightMax, t.signal);
    assert.equal(await claimed(), inFlightMax);
    // For each that ends one begins, whoever asks for more meanwhile.
    const late = await it.create(web);
    for (const release of held.splice(0, 3)) {
      const before = calls;
      release();
      await until(() => calls > before, t.signal);
      assert.equal(await claimed(), inFlightMax);
    }
    isOpen = true;
    for (const release of held) release();
    for (const { id } of made.body.results) await it.becomes(id, synced);
    await it.becomes(late, synced);
  });

  test("6.1, F42: what takes an object's place in the moment of its deletion survives", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker();
    const { http } = it;
    assert.ok(http !== undefined);
    const id = await it.create(web);
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    let isReplaced = false;
    http.intercept = async ({ method, path }) => {
      if (isReplaced || method !== "DELETE" || !path.endsWith("/configmaps/web")) return undefined;
      isReplaced = true;
      await maps.delete(ref, t.signal);
      const metadata = { ...ref };
      const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "theirs" } };
      await maps.apply(theirs, { fieldManager: "them" }, t.signal);
      return undefined;
    };
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    assert.ok(isReplaced);
    assert.deepEqual((await maps.get(ref, t.signal))["data"], { a: "theirs" });
  });

  test("4.2: what is to be made anew stays if it is rolled back, or paused, before it is deleted", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker();
    const { http } = it;
    assert.ok(http !== undefined);
    const fixed = (a: string) => ({ desired_spec: { immutable: true, data: { a } } });
    const id = await it.create({ ...web, immutable_policy: "recreate", ...fixed("1") });
    const { current } = await it.becomes(id, synced);
    const path = `/resources/${id}`;
    const whenRefused = async (change: object): Promise<void> => {
      let isChanged = false;
      http.intercept = async ({ method, path: asked }) => {
        if (isChanged || method !== "GET" || !asked.endsWith("/configmaps/web")) return undefined;
        isChanged = true;
        await it.rest.ask("PUT", path, change as never);
        return undefined;
      };
      await it.rest.ask("PUT", path, fixed("2"));
      await until(() => isChanged, t.signal);
    };
    await whenRefused({ revision: 1 });
    await it.becomes(id, (body) => synced(body) && body.applied.generation === 3);
    await whenRefused({ paused: true });
    const leases = `SELECT FROM resource_attempts WHERE lease_owner IS NOT NULL`;
    await until(async () => (await it.rest.tables.query(leases)).length === 0, t.signal);
    const { metadata } = await (await it.configMaps()).get(ref, t.signal);
    assert.deepEqual([metadata.uid, metadata.deletionTimestamp], [current.uid, undefined]);
  });

  test("6.1: what comes back after its purge is taken away, though the cluster refuses at first", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker();
    const { http } = it;
    assert.ok(http !== undefined);
    const id = await it.create(web);
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    const { annotations = {} } = (await maps.get(ref, t.signal)).metadata;
    await it.rest.ask("DELETE", `/resources/${id}`);
    await it.goes(id);
    const refusals = [
      refusal(500, "InternalError", "an accident"),
      refusal(403, "Forbidden", "no"),
    ];
    http.intercept = ({ method, path }) =>
      method === "DELETE" && path.endsWith("/configmaps/web") ? refusals.shift() : undefined;
    const late = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...ref, annotations } };
    await maps.apply(late, { fieldManager: "kontrol", force: true }, t.signal);
    await until(async () => (await maps.find(ref, t.signal)) === undefined, t.signal);
    assert.deepEqual(refusals, []);
  });

  test("F32, F34: a watch that has expired, by status or in the stream, is listed again, deletions included", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker();
    const { http } = it;
    assert.ok(http !== undefined);
    const report = { drift_policy: "report" };
    const [gone, changed] = [
      await it.create({ ...web, ...report }),
      await it.create({ ...web, ...report, name: "other" }),
    ];
    for (const id of [gone, changed]) await it.becomes(id, synced);
    const maps = await it.configMaps();
    const expired = refusal(410, "Expired", "too old resource version");
    const answers = [expired, { code: 200, body: { type: "ERROR", object: expired.body } }];
    for (const [round, answer] of answers.entries()) {
      let isToExpire = true;
      let expirations = 0;
      http.intercept = ({ path, query }) => {
        const isWatch = path.endsWith("/configmaps") && query.get("watch") !== null;
        // Only what resumes: a list that comes as a watch is how it begins again.
        if (!isToExpire || !isWatch || query.get("sendInitialEvents") !== null) return undefined;
        expirations += 1;
        return answer;
      };
      const before = http.seen.length;
      // Nobody sees this: the stream is broken, and what resumes is told that it is too late.
      if (round === 0) await maps.delete(ref, t.signal);
      const value = `changed ${round}`;
      const body = { data: { a: value } };
      http.cut();
      await maps.patch({ ...ref, name: "other" }, { type: "merge", body }, t.signal);
      await until(() => expirations > 0, t.signal);
      isToExpire = false;
      await it.becomes(changed, ({ current }) => current.spec.data.a === value);
      const asked = http.seen.slice(before).filter((one) => one.includes("/configmaps"));
      assert.ok(asked.length < 60, `${asked.length} requests`);
    }
    const missing = await it.becomes(gone, ({ health }) => health === "Missing");
    assert.equal(missing.status, "drifted");
    const writes = await it.rest.tables.query(
      `SELECT count(*)::integer AS changes FROM events_unnumbered
       WHERE resource_id = $1 AND type IN ('resource.observed', 'resource.drifted')`,
      [changed],
    );
    // Once when it was made, once when it drifted: what was only listed again is not news.
    assert.deepEqual(writes, [{ changes: 2 }]);
  });

  test("4.3: a kind is watched while rows want one of it, and for a day after a deletion", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker({ kindsMs: 0 });
    const { http } = it;
    assert.ok(http !== undefined);
    const isWatched = (plural: string) => [...http.watched].some((path) => path.endsWith(plural));
    const secret = { ...web, kind: "Secret", desired_spec: { data: { a: "MQ==" } } };
    for (const body of [web, secret]) await it.becomes(await it.create(body), synced);
    const [forgotten] = (await it.rest.ask("GET", "/resources?kind=Secret")).body.resources;
    await it.rest.ask("DELETE", `/resources/${forgotten.id}?orphan=true`);
    await it.create({ ...web, name: "other" }); // What a worker is woken by.
    await until(() => !isWatched("/secrets"), t.signal);
    // Between two watches of a kind there is a moment without any.
    await until(() => isWatched("/configmaps"), t.signal);
    const again = await it.create(secret);
    await it.becomes(again, synced);
    // What was deleted may come back for a day: it stays watched.
    await it.rest.ask("DELETE", `/resources/${again}`);
    await it.goes(again);
    await it.becomes(await it.create({ ...web, name: "third" }), synced);
    await until(() => isWatched("/secrets"), t.signal);
  });

  test("F28: a kind that went without a word is asked for again before its row is purged", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    it.startWorker();
    const { http } = it;
    assert.ok(http !== undefined);
    const group = "quiet.example.com";
    const definition = await it.create(definitionOf(group, "Gadget", "gadgetry"));
    const gadget = await it.create({
      cluster_id: "prod",
      namespace: "default",
      kind: "Gadget",
      name: "one",
      api_version: `${group}/v1`,
      desired_spec: { spec: { size: 1 } },
    });
    for (const id of [definition, gadget]) {
      await it.becomes(id, synced);
      await it.rest.ask("POST", `/resources/${id}/pause`);
    }
    // Whoever watches the kind hears of an accident, and not that it is gone.
    http.intercept = ({ path }) =>
      path.endsWith("/gadgetry") ? refusal(500, "InternalError", "an accident") : undefined;
    http.cut();
    const definitions = await it.client.resource(
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
      t.signal,
    );
    const name = `gadgetry.${group}`;
    await definitions.delete({ name }, t.signal);
    await until(async () => (await definitions.find({ name }, t.signal)) === undefined, t.signal);
    await it.rest.ask("DELETE", `/resources/${gadget}`);
    await it.rest.ask("POST", `/resources/${gadget}/resume`);
    await it.goes(gadget);
    const told = await it.rest.tables.query(
      `SELECT data->>'reason' AS reason FROM events_unnumbered
       WHERE resource_id = $1 AND type = 'resource.deleted'`,
      [gadget],
    );
    assert.deepEqual(told, [{ reason: "KindNotServed" }]);
  });

  test("F35, F43: what happened while the database was away is right after it, without another change", async (t) => {
    let isAway = false;
    await using it = await startBed(t.signal, {
      onStatement: ({ phase }) => {
        if (isAway && phase === "before") throw new DatabaseUnavailable("away");
      },
    });
    it.startWorker();
    const [healed, deleted] = [await it.create(web), await it.create({ ...web, name: "other" })];
    for (const id of [healed, deleted]) await it.becomes(id, synced);
    isAway = true;
    const maps = await it.configMaps();
    await maps.patch(ref, { type: "merge", body: { data: { a: "changed" } } }, t.signal);
    await maps.delete({ ...ref, name: "other" }, t.signal);
    await it.rest.ask("PUT", `/resources/${deleted}`, { desired_spec: { data: { a: "2" } } });
    assert.equal(await it.status(healed), "synced");
    // As long as the changes take, or as was asked for, as in the scenario's 30 s.
    await wait(Math.min(Number(awayMs), 30_000), undefined, { signal: t.signal });
    isAway = false;
    const whole = await it.becomes(
      deleted,
      (body) => synced(body) && body.current.generation === 2,
    );
    assert.deepEqual(whole.current.spec.data, { a: "2" });
    await until(async () => {
      const object = await maps.get(ref, t.signal);
      return (object["data"] as { a: string }).a === "1";
    }, t.signal);
    await it.becomes(healed, synced);
  });

  test("F48: a lock on a row of one table of states keeps no writer of the others waiting", async (t) => {
    await using it = await startBed(t.signal);
    const { tables } = it.rest;
    const worker = it.startWorker();
    const id = await it.create(web);
    await it.becomes(id, synced);
    await using holder = tables.openAnother({ connectionsMax: 1 });
    const holding = async (table: string, meanwhile: () => Promise<unknown>): Promise<void> => {
      const lock = statement<undefined>("lock", (sql) =>
        sql.unsafe(
          `SELECT FROM ${table} WHERE ${table === "resources" ? "id" : "resource_id"} = ${id} FOR UPDATE`,
        ),
      );
      await holder.transaction(async (sql) => {
        await sql.run(lock, undefined);
        await meanwhile();
      }, t.signal);
    };
    // What the cluster says is locked: a new wish is written and applied.
    await holding("resource_current_states", async () => {
      await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "2" } } });
      await it.becomes(id, applied(2));
    });
    await it.becomes(id, synced);
    // What was applied is locked: what the cluster says is recorded, and a wish is written. In this order: what the
    // cluster says of the new wish is compared with the record of its apply, and waits for that.
    const maps = await it.configMaps();
    await holding("resource_applied_states", async () => {
      const body = { metadata: { labels: { x: "y" } } };
      await maps.patch(ref, { type: "merge", body }, t.signal);
      await it.becomes(id, ({ current }) => current.spec.metadata?.labels?.x === "y");
      await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "3" } } });
    });
    await it.becomes(id, (body) => synced(body) && body.generation === 3);
    await worker.stop();
  });
});

/** Keeps each number of attempts that a row has from now on: none of them is there for long. */
async function recordAttempts({ rest }: Bed): Promise<(id: number) => Promise<readonly number[]>> {
  await rest.tables.query(
    `CREATE TABLE recorded_attempts (id BIGINT GENERATED ALWAYS AS IDENTITY, resource_id INTEGER, attempts INTEGER);
     CREATE FUNCTION record_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO recorded_attempts (resource_id, attempts) VALUES (NEW.resource_id, NEW.attempts);
       RETURN NULL;
     END $$;
     CREATE TRIGGER record_attempts AFTER UPDATE ON resource_attempts FOR EACH ROW
       WHEN (OLD.attempts <> NEW.attempts) EXECUTE FUNCTION record_attempts()`,
  );
  return async (id) => {
    const rows = await rest.tables.query<{ attempts: number }>(
      `SELECT attempts FROM recorded_attempts WHERE resource_id = $1 ORDER BY id`,
      [id],
    );
    return rows.map(({ attempts }) => attempts);
  };
}
