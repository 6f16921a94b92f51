// Apps that want the same thing, and what cannot be had at all.

import assert from "node:assert/strict";
import { test } from "node:test";
import { leftovers, nothing, stateOf } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { withoutWaitsFrom } from "./clocks.ts";
import { namespace, newName, OperatorBed, type Seen } from "./operator-bed.ts";

const image = "registry.example.com/shop:1";
const withDatabase = { imageRef: image, database: { enabled: true } };
const ingresses = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
const elsewhere = "elsewhere";

clusterSuite("apps beside each other", () => {
  test("P42, P44: a schema has one owner, whoever derives its name", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const [a, b] = [newName(), newName()];
    await bed.apply(a, withDatabase);
    await bed.until(a, ({ phase }) => phase === "Running");
    const role = `prod_${a.replaceAll("-", "_")}`;
    const names = { schema: role, appRole: `${role}_app`, anonRole: `${role}_anon` };
    const before = await stateOf(bed.database, names);

    const schemaName = a.replaceAll("-", "_");
    await bed.apply(b, { imageRef: image, database: { enabled: true, schemaName } });
    const refused = await bed.until(b, ({ phase }) => phase === "Failed");
    assert.ok(
      refused.conditions.includes("DatabaseReady False Conflict"),
      refused.conditions.join(),
    );
    assert.match(refused.messages["DatabaseReady"] ?? "", new RegExp(`${namespace}/${a}`));
    assert.deepEqual(await stateOf(bed.database, names), before);
    assert.deepEqual(refused.owned, []);
    await until(async () => (await bed.events(b)).includes("Conflict"), t.signal);

    // The owner goes, and it is the other's.
    await bed.delete(a);
    await bed.untilGone(a);
    await bed.patchApplication(b, { spec: { branch: "other" } });
    await bed.until(b, ({ phase }) => phase === "Running");
    await bed.delete(b);
    await bed.untilGone(b);
    assert.deepEqual(await leftovers(bed.database, a), nothing);
    assert.deepEqual(await leftovers(bed.database, b), nothing);
  });

  test("P43: of two of one name and environment the second waits, and so it is with hosts", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const namespaces = await bed.resource({ apiVersion: "v1", kind: "Namespace" });
    const kind = { apiVersion: "v1", kind: "Namespace" };
    await namespaces.create({ ...kind, metadata: { name: elsewhere } }, {}, t.signal);
    bed.start({ clock: withoutWaitsFrom(10_001) });
    const name = newName();
    await bed.apply(name, withDatabase);
    const first = await bed.until(name, ({ phase }) => phase === "Running");
    const secret = await bed.secret(`${name}-db`);
    // Perhaps in the same second: what the first has it keeps.
    await bed.apply(name, withDatabase, { namespace: elsewhere });
    const second = await bed.until(name, ({ phase }) => phase === "Failed", elsewhere);
    assert.deepEqual(
      second.conditions.filter((one) => one.includes("Conflict")),
      ["DatabaseReady False Conflict", "IngressReady False Conflict"],
    );
    assert.equal(
      second.messages["IngressReady"],
      `host ${name}.example.com belongs to Application ${namespace}/${name}, which asked for it first`,
    );
    assert.equal(await bed.find(ingresses, name, elsewhere), undefined);
    assert.deepEqual([first.url, second.url], [`https://${name}.example.com`, undefined]);
    const still = await bed.see(name);
    // An address may have come meanwhile.
    const withoutAddress = (seen: Seen | undefined) =>
      seen?.conditions.filter((one) => !/^IngressReady (True|Unknown) /.test(one));
    assert.deepEqual([withoutAddress(still), still?.owned], [withoutAddress(first), first.owned]);
    assert.deepEqual(await bed.secret(`${name}-db`), secret);

    await bed.delete(name);
    await bed.untilGone(name);
    // Host and schema are free, and the second hears of it: nothing is waited for.
    await bed.until(name, ({ phase }) => phase === "Running", elsewhere);
    await bed.delete(name, elsewhere);
    await bed.untilGone(name, elsewhere);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
  });

  test("P40: names that are reserved are refused, and nothing is made for what cannot be", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const calls: string[] = [];
    bed.start({
      onCall: ({ service, name, when }) => {
        if (service !== "kubernetes" && when === "before") calls.push(`${service} ${name}`);
      },
    });
    for (const name of ["master", "admin", "postgres", "kube-x"]) {
      await assert.rejects(bed.apply(name, withDatabase), /metadata\.name is reserved/);
    }
    const long = `${newName()}-${"x".repeat(50)}`.slice(0, 60);
    await bed.apply(long, withDatabase);
    const refused = await bed.until(long, ({ phase }) => phase === "Failed");
    assert.deepEqual(refused.conditions, ["Ready False InvalidSpec"]);
    const role = `prod_${long.replaceAll("-", "_")}`;
    assert.match(
      refused.messages["Ready"] ?? "",
      new RegExp(`the schema would be called ${role}, ${role.length - 63} more than the 63 bytes`),
    );
    assert.deepEqual([calls, refused.object.metadata.finalizers], [[], undefined]);
    assert.deepEqual(
      (await bed.children()).filter((child) => child.includes(long)),
      [],
    );
    // Without what does not fit it can be.
    await bed.apply(long, { imageRef: image });
    await bed.until(long, ({ phase }) => phase === "Running");
    await bed.delete(long);
    await bed.untilGone(long);
  });

  test("a child that is somebody else's stays theirs, and the rest is made", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const name = newName();
    const services = { apiVersion: "v1", kind: "Service" };
    const theirs = await (
      await bed.resource(services)
    ).create(
      { ...services, metadata: { name, namespace }, spec: { ports: [{ port: 1 }] } },
      {},
      t.signal,
    );
    bed.start();
    await bed.apply(name, { imageRef: image });
    const refused = await bed.until(name, ({ phase }) => phase === "Failed");
    assert.ok(
      refused.conditions.includes("DeploymentReady False Conflict"),
      refused.conditions.join(),
    );
    assert.match(refused.messages["DeploymentReady"] ?? "", /^Service .* is left alone$/);
    assert.ok(await bed.find(ingresses, name));
    const now = await bed.find(services, name);
    assert.equal(now?.metadata.resourceVersion, theirs.metadata.resourceVersion);
    await bed.delete(name);
    await bed.untilGone(name);
    assert.ok(await bed.find(services, name));
    await (await bed.resource(services)).delete({ namespace, name }, t.signal);
  });

  test("an app goes though its Deployment was taken from it, and that runs on", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const name = newName();
    await bed.apply(name, withDatabase);
    await bed.until(name, ({ phase }) => phase === "Running");
    const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
    const pods = await bed.resource({ apiVersion: "v1", kind: "Pod" });
    // As whoever deletes the app with its dependents orphaned has it.
    await (
      await bed.resource(deployments)
    ).patch(
      { namespace, name },
      { type: "merge", body: { metadata: { ownerReferences: null } } },
      t.signal,
    );
    await bed.until(name, ({ conditions }) =>
      conditions.includes("DeploymentReady False Conflict"),
    );
    await bed.delete(name);
    await bed.untilGone(name);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    assert.ok(await bed.find(deployments, name));
    const labelSelector = `platform.internal/app=${name}`;
    assert.notDeepEqual((await pods.list({ namespace, labelSelector }, t.signal)).items, []);
    await (await bed.resource(deployments)).delete({ namespace, name }, t.signal);
  });

  test("without a database an app that asks for one is told so, and one that does not runs", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const settings = { ...bed.settings, database: {} };
    bed.start({ settings });
    const [one, other] = [newName(), newName()];
    await bed.apply(one, withDatabase);
    await bed.apply(other, { imageRef: image });
    await bed.until(other, ({ phase }) => phase === "Running");
    const told = await bed.until(one, ({ conditions }) =>
      conditions.includes("DatabaseReady False NotConfigured"),
    );
    assert.ok(told.conditions.includes("DeploymentReady False Waiting"), told.conditions.join());
    await bed.delete(one);
    await bed.untilGone(one);
  });

  test("without the kind that routes need, the rest runs, and the condition says what is missing", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const settings = { ...bed.settings, ingressRewrite: "traefik" } as const;
    const { operator } = bed.start({ settings });
    await until(() => operator.isReady, t.signal);
    const [name, plain] = [newName(), newName()];
    await bed.apply(name, withDatabase);
    await bed.apply(plain, { imageRef: image });
    await bed.until(plain, ({ phase }) => phase === "Running");
    const told = await bed.until(name, ({ conditions }) =>
      conditions.includes("DeploymentReady True Available"),
    );
    assert.ok(told.conditions.includes("IngressReady False NotConfigured"), told.conditions.join());
    assert.match(
      told.messages["IngressReady"] ?? "",
      /serves no Middleware of traefik\.io.*INGRESS_REWRITE/,
    );
    for (const one of [name, plain]) await bed.delete(one);
    for (const one of [name, plain]) await bed.untilGone(one);
  });
});
