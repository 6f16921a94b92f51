// What goes wrong around the operator: its database, its cluster, its own calls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordingMetrics } from "@keelson/base/testing";
import { leftovers, nothing } from "@keelson/platform/testing";
import { measure } from "../apiserver/scenarios/length.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { refusal } from "../tools/http-proxy.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { LeapingClock } from "./clocks.ts";
import { namespace, newName, OperatorBed } from "./operator-bed.ts";

const image = "registry.example.com/shop:1";
const withDatabase = { imageRef: image, database: { enabled: true } };
/** PostgreSQL is away for so long; the cluster; and one app is held up. */
const [awayMs, downMs, heldMs] = [
  measure({ gate: 0, full: 300_000 }),
  measure({ gate: 0, full: 60_000 }),
  measure({ gate: 0, full: 600_000 }),
];

/** PostgreSQL by a way that can be closed. */
async function reachable(bed: OperatorBed) {
  const url = new URL(bed.database.adminUrl);
  const proxy = await TcpProxy.to(Number(url.port));
  url.port = String(proxy.port);
  return {
    proxy,
    settings: { ...bed.settings, database: { adminUrl: () => Promise.resolve(url.href) } },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

clusterSuite("the operator in trouble", () => {
  test("P25, P26, P36: PostgreSQL is away at creation, while nothing happens, and at the end", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using way = await reachable(bed);
    const { proxy, settings } = way;
    proxy.isRefusing = true;
    const metrics = new RecordingMetrics();
    const clock = new LeapingClock();
    bed.start({ settings, metrics, clock });
    /** What waits to be tried again is, unless it is the wait that is looked at. */
    const hurry = (): void => {
      if (awayMs === 0) clock.leap(30_000);
    };
    const name = newName();
    const sinceMs = performance.now();
    await bed.apply(name, withDatabase);
    const away = await bed.until(name, ({ conditions }) =>
      conditions.includes("DatabaseReady False Unreachable"),
    );
    assert.match(away.messages["DatabaseReady"] ?? "", /^PostgreSQL at 127\.0\.0\.1:\d+: /);
    assert.ok(["Pending", "Failed"].includes(away.phase ?? ""), away.phase);
    // More than a hiccup after four tries; what needs no database is there meanwhile.
    await bed.until(name, ({ phase }) => {
      hurry();
      return phase === "Failed";
    });
    await until(() => {
      hurry();
      return proxy.refused >= 4;
    }, t.signal);
    assert.ok(await bed.find({ apiVersion: "v1", kind: "Service" }, name));
    assert.equal(await bed.find({ apiVersion: "apps/v1", kind: "Deployment" }, name), undefined);
    await until(async () => (await bed.events(name)).includes("RetryBackoff"), t.signal);
    const labels = { app: name, resource_type: "database", result: "error" };
    await until(() => (metrics.value("plattr_reconcile_total", labels) ?? 0) >= 4, t.signal);
    // However long it takes, nobody gives up, and no pause is above half a minute.
    await until(() => performance.now() - sinceMs >= awayMs, t.signal);
    assert.ok(proxy.refused >= awayMs / 45_000, `${proxy.refused} tries`);
    proxy.isRefusing = false;
    hurry();
    await bed.until(name, ({ phase }) => phase === "Running");

    proxy.cut();
    const other = newName();
    await bed.apply(other, withDatabase);
    await bed.until(other, ({ phase }) => phase === "Running");

    proxy.isRefusing = true;
    proxy.cut();
    await bed.delete(name);
    const stuck = await bed.until(name, ({ conditions }) =>
      conditions.includes("DatabaseReady False CleanupFailed"),
    );
    assert.equal(stuck.phase, "Terminating");
    assert.match(stuck.messages["DatabaseReady"] ?? "", /^PostgreSQL at /);
    await until(async () => (await bed.events(name)).includes("CleanupFailed"), t.signal);
    proxy.isRefusing = false;
    hurry();
    await bed.untilGone(name);
    await bed.delete(other);
    await bed.untilGone(other);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    // Gone with the app.
    await until(() => metrics.value("plattr_reconcile_total", labels) === undefined, t.signal);
    const phaseLabels = { namespace, app: name, environment: "production" };
    await until(
      () => metrics.value("plattr_application_phase", phaseLabels) === undefined,
      t.signal,
    );
  });

  test("P35, P37: what is deleted while nobody looks goes when somebody does, by an admin who is no superuser", async (t) => {
    await using bed = await OperatorBed.prepare({ rights: "ordinary" }, t.signal);
    assert.notEqual(bed.database.adminName, "postgres");
    const name = newName();
    {
      await using _first = bed.start();
      await bed.apply(name, withDatabase);
      await bed.until(name, ({ phase }) => phase === "Running");
    }
    await bed.delete(name);
    assert.notEqual((await bed.see(name))?.object.metadata.deletionTimestamp, undefined);
    bed.start();
    await bed.untilGone(name);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
  });

  test("P30, P33: the cluster conflicts, asks for patience, forgets, and goes away", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using proxy = await bed.proxy();
    const metrics = new RecordingMetrics();
    const troubles = new Map([
      ["conflict", refusal(409, "Conflict", "the object has been modified")],
      [
        "patience",
        { ...refusal(429, "TooManyRequests", "later"), headers: { "retry-after": "1" } },
      ],
      ["broken", refusal(500, "InternalError", "no")],
    ]);
    const seen = new Set<string>();
    proxy.intercept = ({ method, path }) => {
      // Each kind of trouble once, at a write of a status, a child and a finalizer.
      if (method !== "PATCH" || path.includes("/events")) return undefined;
      for (const [trouble, answer] of troubles) {
        const what = `${trouble} ${path.endsWith("/status") ? "status" : path.includes("/applications/") ? "object" : "child"}`;
        if (seen.has(what)) continue;
        seen.add(what);
        return answer;
      }
      return undefined;
    };
    const running = bed.start({ proxy, metrics });
    const name = newName();
    await bed.apply(name, withDatabase);
    await bed.until(name, ({ phase }) => phase === "Running");
    assert.equal(seen.size, 9, [...seen].join(", "));
    const labels = { app: name, resource_type: "database", result: "success" };
    await until(() => (metrics.value("plattr_reconcile_total", labels) ?? 0) >= 1, t.signal);

    // Its watches are refused as too old: everything is listed again, and nothing is missed.
    let expired = 0;
    proxy.intercept = ({ query }) => {
      if (!query.has("watch") || expired >= 6) return undefined;
      expired += 1;
      return refusal(410, "Expired", "too old resource version");
    };
    proxy.cut();
    const second = newName();
    await bed.apply(second, withDatabase);
    await bed.until(second, ({ phase }) => phase === "Running");
    assert.ok(expired > 0);

    // Nobody answers for a while; what is asked for meanwhile is done afterwards.
    let refused = 0;
    proxy.intercept = () => {
      refused += 1;
      return refusal(503, "ServiceUnavailable", "the server is starting");
    };
    proxy.cut();
    const sinceMs = performance.now();
    const third = newName();
    await bed.apply(third, withDatabase);
    await bed.delete(second);
    await until(() => refused > 20 && performance.now() - sinceMs >= downMs, t.signal);
    proxy.intercept = () => undefined;
    await bed.until(third, ({ phase }) => phase === "Running");
    await bed.untilGone(second);
    for (const one of [name, third]) {
      await bed.delete(one);
      await bed.untilGone(one);
    }
    await running.stop();
  });

  test("P33: what was done is told when the status that says so has landed", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using proxy = await bed.proxy();
    const metrics = new RecordingMetrics();
    let [hasSecret, hasFailed] = [false, false];
    proxy.intercept = ({ method, path }) => {
      if (method !== "PATCH") return undefined;
      if (path.includes("/secrets/")) hasSecret = true;
      // By then the ledger is written, and everything is done.
      if (!hasSecret || hasFailed || !path.endsWith("/status")) return undefined;
      hasFailed = true;
      return refusal(500, "InternalError", "no");
    };
    bed.start({ proxy, metrics });
    const name = newName();
    await bed.apply(name, { ...withDatabase, redis: { enabled: true } });
    await bed.until(name, ({ phase }) => phase === "Running");
    assert.ok(hasFailed);
    const labels = (resource_type: string) => ({ app: name, resource_type });
    for (const part of ["database", "redis", "workload"]) {
      const success = { ...labels(part), result: "success" };
      await until(() => (metrics.value("plattr_reconcile_total", success) ?? 0) > 0, t.signal);
    }
    for (const part of ["database", "workload"]) {
      const seconds = "plattr_provisioning_duration_seconds";
      await until(() => (metrics.value(seconds, labels(part)) ?? 0) > 0, t.signal);
    }
  });

  test("what the cluster forbids is said, be it the beginning or what shall go", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using proxy = await bed.proxy();
    let forbidden = "PATCH /applications/";
    proxy.intercept = ({ method, path }) => {
      const isForbidden =
        !path.endsWith("/status") && `${method} ${path}`.match(/^(\w+) .*(\/\w+\/)/);
      const [, verb, kind] = isForbidden || [];
      return `${verb} ${kind}` === forbidden ? refusal(403, "Forbidden", "not you") : undefined;
    };
    bed.start({ proxy });
    const name = newName();
    await bed.apply(name, withDatabase);
    const refused = await bed.until(name, ({ phase }) => phase === "Failed");
    assert.deepEqual(refused.conditions, ["Ready False Refused"]);
    assert.match(refused.messages["Ready"] ?? "", /not you/);
    await until(async () => (await bed.events(name)).includes("RetryBackoff"), t.signal);

    // It would be tried again in half a minute; whoever changes something is not kept waiting.
    forbidden = "DELETE /ingresses/";
    await bed.apply(name, { ...withDatabase, branch: "other" });
    await bed.until(name, ({ phase }) => phase === "Running");
    await bed.apply(name, { imageRef: image });
    // What has become of the rest is said all the same.
    const stuck = await bed.until(
      name,
      ({ conditions }) =>
        conditions.includes("IngressReady False Refused") &&
        !conditions.some((one) => one.startsWith("DatabaseReady")),
    );
    assert.equal(stuck.phase, "Failed");
    forbidden = "";
    await bed.apply(name, { imageRef: image, branch: "other" });
    await bed.until(
      name,
      ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 4,
    );
    assert.equal(
      await bed.find({ apiVersion: "networking.k8s.io/v1", kind: "Ingress" }, `${name}-api`),
      undefined,
    );
  });

  test("P31: a database that hangs holds up nobody who does not need it", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const open = Promise.withResolvers<void>();
    let hanging = 0;
    bed.start({
      onCall: async ({ service, when }) => {
        if (service !== "sql" || when === "after") return;
        hanging += 1;
        await open.promise;
      },
    });
    const slow = Array.from({ length: 10 }, newName);
    for (const name of slow) await bed.apply(name, withDatabase);
    await until(() => hanging >= 4, t.signal);
    const quick = Array.from({ length: 10 }, newName);
    for (const name of quick) await bed.apply(name, { imageRef: image });
    for (const name of quick) await bed.until(name, ({ phase }) => phase === "Running");
    assert.equal(hanging, 4); // Half of the workers, however many want it.
    open.resolve();
    for (const name of slow) await bed.until(name, ({ phase }) => phase === "Running");
    for (const name of slow) await bed.delete(name);
    for (const name of slow) await bed.untilGone(name);
  });

  test("P31: one app whose call blocks keeps none waiting who need the same service", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const open = Promise.withResolvers<void>();
    let isHeld = false;
    bed.start({
      onCall: async ({ service, when }) => {
        if (service !== "sql" || when === "after" || isHeld) return;
        isHeld = true;
        await open.promise;
      },
    });
    const sinceMs = performance.now();
    const held = newName();
    await bed.apply(held, withDatabase);
    await until(() => isHeld, t.signal);
    const others = Array.from({ length: measure({ gate: 5, full: 50 }) }, newName);
    for (const name of others) await bed.apply(name, withDatabase);
    for (const name of others) await bed.until(name, ({ phase }) => phase === "Running");
    await until(() => performance.now() - sinceMs >= heldMs, t.signal);
    const [late = ""] = others;
    await bed.apply(late, { imageRef: "registry.example.com/shop:2", database: { enabled: true } });
    await bed.until(
      late,
      ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 2,
    );
    assert.notEqual((await bed.see(held))?.phase, "Running");
    open.resolve();
    await bed.until(held, ({ phase }) => phase === "Running");
    for (const name of [held, ...others]) await bed.delete(name);
    for (const name of [held, ...others]) await bed.untilGone(name);
  });
});
