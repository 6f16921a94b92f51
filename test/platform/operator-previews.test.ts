// Previews as the operator sees to them: apart from their parents, for a while, and gone without a trace.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@keelson/base";
import type { CallPoint } from "@keelson/platform";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { hasLogin, hasStorage, namespaceKind, PreviewBed } from "./preview-bed.ts";

const secretKind = { apiVersion: "v1", kind: "Secret" } as const;
const image = "registry.example.com/shop:1";
const dayMs = 86_400_000;
/** What a parent asks for besides, as far as it is to be had here. */
const services = {
  ...(hasStorage ? { storage: { enabled: true, buckets: [{ name: "uploads" }] } } : {}),
  ...(hasLogin ? { auth: { enabled: true } } : {}),
};

clusterSuite("previews", () => {
  test("P47, P48: a preview is its parent once more, in a namespace of its own", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal, { hasStorage, hasLogin });
    const { app, schema } = bed;
    await using _operator = bed.operators.start();
    await bed.namespaced(["staging", "dev"]);
    const secret = (name: string, labels: Record<string, string>) =>
      bed.create({
        ...secretKind,
        metadata: { name, namespace: "staging", labels },
        data: { key: Buffer.from(name).toString("base64") },
      });
    await secret("shared", { "platform.internal/preview": "true" });
    await secret("billing", {});
    const from = (name: string) => ({ secretKeyRef: { name, key: "key" } });
    await bed.parent({
      imageRef: image,
      database: { enabled: true },
      ...services,
      domain: "shop.example.org",
      envVars: [
        { name: "SHARED", ...from("shared") },
        { name: "BILLING", ...from("billing") },
      ],
    });
    await bed.preview("pr", { applicationRef: `staging/${app}`, imageRef: "shop:pr42" });
    const running = await bed.until("pr", ({ phase }) => phase === "Running");

    const place = `preview-${app}-pr-42`;
    assert.deepEqual(
      [running.url, running.status["namespace"], running.observedGeneration],
      [`https://pr-42.${app}.preview.example.com`, place, 1],
    );
    const created = Date.parse(running.object.metadata.creationTimestamp ?? "");
    assert.equal(Date.parse(running.status["expiresAt"] as string), created + 3 * dayMs);
    assert.deepEqual(running.owned.toSorted(), [
      ...(hasStorage ? [`Bucket plattr-preview-${app}-pr42-uploads Ready`] : []),
      `Namespace ${place} Ready`,
      ...(hasLogin ? [`Realm ${app}-pr42-preview Ready`] : []),
      `Role ${schema}_anon Ready`,
      `Role ${schema}_app Ready`,
      `Schema ${schema} Ready`,
    ]);
    const namespace = await bed.operators.find(namespaceKind, place, "");
    assert.equal(namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"], "restricted");
    const children = (await bed.operators.children(place)).map((one) =>
      one.split(" ").slice(0, 2).join(" "),
    );
    assert.deepEqual(children, [
      ...(hasLogin ? [`ConfigMap ${app}-pr42-auth`] : []),
      ...(hasStorage ? [`ConfigMap ${app}-pr42-storage`] : []),
      `Deployment ${app}-pr42`,
      `HorizontalPodAutoscaler ${app}-pr42`,
      `Ingress ${app}-pr42`,
      `Ingress ${app}-pr42-api`,
      "Secret shared",
      `Secret ${app}-pr42-db`,
      ...(hasStorage ? [`Secret ${app}-pr42-s3`] : []),
      `Service ${app}-pr42`,
      `ServiceAccount ${app}-pr42`,
    ]);
    await bed.operators.until(app, ({ phase }) => phase === "Running", "staging");
    assert.deepEqual(await bed.outside(), [
      ...(hasStorage
        ? [`plattr-preview-${app}-pr42-uploads`, `plattr-staging-${app}-uploads`]
        : []),
      ...(hasLogin ? [`${app}-pr42-preview`, `${app}-staging`] : []),
    ]);
    const { scaling } = await bed.scaling(place);
    assert.deepEqual(scaling, { minReplicas: 1, maxReplicas: 2 });
    const containers = await bed.containers(place);
    assert.deepEqual(
      containers.map(({ name, image: runs }) => [name, runs]),
      [
        ["app", "shop:pr42"],
        ["postgrest", "postgrest/postgrest:v12.2.3"],
      ],
    );
    const variables = containers[0]?.env.map(({ name }) => name) ?? [];
    assert.deepEqual([variables.includes("SHARED"), variables.includes("BILLING")], [true, false]);
    assert.match(
      running.messages["DeploymentReady"] ?? "",
      /goes without BILLING \(Secret billing\)/,
    );
    assert.ok(running.conditions.includes("DeploymentReady True VariablesLeftOut"));

    // What PostgREST would run, as whom and where.
    const rest = new Map(containers[1]?.env.map(({ name, value }) => [name, value]));
    assert.deepEqual(
      [rest.get("PGRST_DB_SCHEMAS"), rest.get("PGRST_DB_ANON_ROLE")],
      [schema, `${schema}_anon`],
    );
    const { DATABASE_URL: url = "" } = (await bed.operators.secret(`${app}-pr42-db`, place)) ?? {};
    await bed.operators.database.queryAs(url, "CREATE TABLE todos (id integer)");
    const asAnon = `SET ROLE ${schema}_anon; SELECT tablename FROM pg_tables
      WHERE has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT') AND schemaname = '${schema}'`;
    const listed = await bed.operators.database.queryAs(url, asAnon);
    assert.deepEqual(JSON.parse(JSON.stringify(listed.at(-1))), [{ tablename: "todos" }]);

    // A Secret that changes, and one that is marked later.
    const body = { metadata: { labels: { "platform.internal/preview": "true" } } };
    await bed.operators.patch(secretKind, "billing", body, "staging");
    await bed.until("pr", ({ conditions }) =>
      conditions.includes("DeploymentReady True Available"),
    );
    assert.deepEqual(await bed.operators.secret("billing", place), { key: "billing" });
    const data = { key: Buffer.from("another").toString("base64") };
    await bed.operators.patch(secretKind, "shared", { data }, "staging");
    await until(
      async () => (await bed.operators.secret("shared", place))?.["key"] === "another",
      t.signal,
    );

    await bed.delete("pr");
    await bed.untilGone("pr");
    await bed.nothingIsLeft(place);
  });

  test("P49: without its parent it waits, and begins when that appears", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await using _operator = bed.operators.start();
    await bed.namespaced(["staging", "dev"]);
    await bed.preview("pr", { applicationRef: `staging/${bed.app}` });
    const waiting = await bed.until("pr", ({ phase }) => phase !== undefined);
    assert.deepEqual(
      [waiting.phase, waiting.conditions, waiting.messages["Ready"], waiting.owned],
      [
        "Pending",
        ["Ready False ParentNotFound"],
        `Application staging/${bed.app} is not there`,
        [],
      ],
    );
    const place = `preview-${bed.app}-pr-42`;
    assert.equal(await bed.operators.find(namespaceKind, place, ""), undefined);
    assert.equal(waiting.object.metadata.finalizers, undefined);
    await bed.parent({ imageRef: image });
    const running = await bed.until("pr", ({ phase }) => phase === "Running");
    assert.ok(running.conditions.includes("DeploymentReady True ParentImage"));
  });

  test("P52: a push changes the image alone, and moves its end; what the parent changes flows in", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await using _operator = bed.operators.start();
    await bed.namespaced(["staging", "dev"]);
    await bed.parent({ imageRef: image, database: { enabled: true } });
    await bed.preview("pr", {
      applicationRef: `staging/${bed.app}`,
      imageRef: "shop:1",
      ttl: "2h",
    });
    await bed.until("pr", ({ phase }) => phase === "Running");
    const place = `preview-${bed.app}-pr-42`;
    const secret = await bed.operators.secret(`${bed.app}-pr42-db`, place);
    const { DATABASE_URL: url = "" } = secret ?? {};
    await bed.operators.database.queryAs(url, "CREATE TABLE kept AS SELECT 7 AS seven");

    const refreshMs = Math.floor(systemClock.now() / 1000) * 1000;
    const annotations = { "platform.internal/refresh": new Date(refreshMs).toISOString() };
    await bed.patch("pr", { metadata: { annotations }, spec: { imageRef: "shop:2" } });
    const pushed = await bed.until(
      "pr",
      ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 2,
    );
    const created = Date.parse(pushed.object.metadata.creationTimestamp ?? "");
    const base = Math.max(created, refreshMs); // Both may be of one second.
    assert.equal(Date.parse(pushed.status["expiresAt"] as string), base + 7_200_000);
    assert.equal((await bed.containers(place))[0]?.image, "shop:2");
    assert.deepEqual(await bed.operators.secret(`${bed.app}-pr42-db`, place), secret);
    assert.deepEqual(await bed.operators.database.queryAs(url, "TABLE kept"), [{ seven: 7 }]);

    await bed.parent({
      imageRef: image,
      database: { enabled: true },
      envVars: [{ name: "NEW", value: "1" }],
    });
    await until(
      async () => (await bed.containers(place))[0]?.env.some(({ name }) => name === "NEW"),
      t.signal,
    );
    assert.equal((await bed.containers(place))[0]?.image, "shop:2");
  });

  test("P41: one whose parent is gone is cleaned up as fully", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal, { hasStorage, hasLogin });
    await using _operator = bed.operators.start();
    await bed.namespaced(["staging", "dev"]);
    const database = { enabled: true, schemaName: bed.schemaName };
    await bed.parent({ imageRef: image, database, ...services });
    await bed.preview("pr", { applicationRef: `staging/${bed.app}` });
    await bed.until("pr", ({ phase }) => phase === "Running");
    await bed.operators.delete(bed.app, "staging");
    await bed.operators.untilGone(bed.app, "staging");
    const left = await bed.until("pr", ({ conditions }) =>
      conditions.includes("Ready False ParentNotFound"),
    );
    const place = `preview-${bed.app}-pr-42`;
    assert.ok(left.owned.includes(`Namespace ${place} Ready`));
    assert.deepEqual(await bed.outside(), [
      ...(hasStorage ? [`plattr-preview-${bed.app}-pr42-uploads`] : []),
      ...(hasLogin ? [`${bed.app}-pr42-preview`] : []),
    ]);
    assert.notDeepEqual(await bed.operators.children(place), []);

    // One that comes after it and names another schema changes nothing: the preview's data would be gone.
    const another = { enabled: true, schemaName: `${bed.schemaName}_2` };
    await bed.parent({ imageRef: image, database: another, ...services });
    const kept = await bed.until("pr", ({ conditions }) =>
      conditions.includes("DatabaseReady False InvalidSpec"),
    );
    assert.deepEqual(kept.owned, left.owned);
    assert.deepEqual(
      await bed.operators.database.query(
        `SELECT nspname FROM pg_namespace WHERE nspname LIKE '${bed.schemaName}%pr42'`,
      ),
      [{ nspname: bed.schema }],
    );
    await bed.delete("pr");
    await bed.untilGone("pr");
    await bed.nothingIsLeft(place);
  });

  test("one pull request of an app has one preview", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await using _operator = bed.operators.start();
    await bed.namespaced(["staging", "dev"]);
    await bed.parent({ imageRef: image, database: { enabled: true } });
    const spec = { applicationRef: `staging/${bed.app}` };
    await bed.preview("first", spec);
    await bed.until("first", ({ phase }) => phase === "Running");
    await bed.preview("second", spec);
    const second = await bed.until("second", ({ phase }) => phase === "Failed");
    assert.deepEqual(
      [second.conditions, second.owned, second.status["namespace"]],
      [["Ready False Conflict"], [], undefined],
    );
    assert.match(second.messages["Ready"] ?? "", /belongs to dev\/first: it is left alone/);
    assert.equal((await bed.see("first"))?.phase, "Running");
    const pods = await bed.operators.resource({ apiVersion: "v1", kind: "Pod" });
    const { items } = await pods.list({ namespace: `preview-${bed.app}-pr-42` }, t.signal);
    assert.notDeepEqual(items, []);
    // They are the first's: nobody waits for their end.
    await bed.delete("second");
    await bed.untilGone("second");
    assert.equal((await bed.see("first"))?.phase, "Running");

    await bed.preview("second", spec);
    await bed.until("second", ({ phase }) => phase === "Failed");
    await bed.delete("first");
    await bed.untilGone("first");
    await bed.until("second", ({ phase }) => phase === "Running");
  });

  test("P50, P51: what expired while nobody was there, or the database was away, goes", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await bed.namespaced(["staging", "dev", "other"]);
    {
      await using _operator = bed.operators.start();
      await bed.parent({ imageRef: image, database: { enabled: true } });
      await bed.preview("pr", { applicationRef: `staging/${bed.app}`, ttl: "2h" });
      await bed.preview("later", {
        applicationRef: `staging/${bed.app}`,
        pullRequest: 7,
        ttl: "9h",
      });
      await bed.until("pr", ({ phase }) => phase === "Running");
      await bed.until("later", ({ phase }) => phase === "Running");
    }
    const later = { ...systemClock, now: () => systemClock.now() + 3 * 3_600_000 };
    let isAway = true;
    const onCall = ({ service }: CallPoint): void => {
      if (service === "sql" && isAway) throw new Error("connection refused");
    };
    await using _operator = bed.operators.start({ clock: later, onCall });
    const stuck = await bed.until("pr", ({ conditions }) =>
      conditions.includes("DatabaseReady False CleanupFailed"),
    );
    assert.equal(stuck.phase, "Terminating");
    const place = `preview-${bed.app}-pr-42`;
    assert.notEqual(await bed.operators.find(namespaceKind, place, ""), undefined);
    isAway = false;
    await bed.untilGone("pr");
    assert.equal(await bed.operators.find(namespaceKind, place, ""), undefined);
    const roles = await bed.operators.database.query(
      `SELECT rolname FROM pg_roles WHERE rolname LIKE '${bed.schema}%'`,
    );
    assert.deepEqual(roles, []);
    assert.equal((await bed.see("later"))?.object.metadata.deletionTimestamp, undefined);
    await until(async () => (await bed.events("pr")).includes("Expired"), t.signal);
  });

  test("P54: without a database nothing is asked of one", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    const calls: string[] = [];
    const onCall = ({ service, name }: CallPoint): void => {
      if (service !== "kubernetes") calls.push(`${service} ${name}`);
    };
    await using _operator = bed.operators.start({ onCall });
    await bed.namespaced(["staging", "dev"]);
    await bed.parent({ imageRef: image });
    await bed.preview("pr", { applicationRef: `staging/${bed.app}` });
    await bed.until("pr", ({ phase }) => phase === "Running");
    await bed.delete("pr");
    await bed.untilGone("pr");
    assert.deepEqual(calls, []);
  });

  test("what cannot be is said, and nothing is made for it", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await using _operator = bed.operators.start();
    await bed.namespaced(["dev"]);
    const long = `a${"b".repeat(50)}`;
    await bed.operators.apply(
      long,
      { imageRef: image, environment: "staging" },
      { namespace: "dev" },
    );
    await bed.preview("pr", { applicationRef: long, pullRequest: 1_234_567 });
    const refused = await bed.until("pr", ({ phase }) => phase === "Failed");
    assert.deepEqual(refused.conditions, ["Ready False InvalidSpec"]);
    assert.match(
      refused.messages["Ready"] ?? "",
      /the namespace would be called preview-a.*-pr-1234567, 7 more than the 63 bytes/,
    );
    assert.equal(refused.object.metadata.finalizers, undefined);
  });
});
