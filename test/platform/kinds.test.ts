// Both kinds as people meet them, with the real kubectl: columns, explanations, defaults, and what is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { Client, refOf, type DynamicObject, type ResourceClient } from "@keelson/client";
import { platformDefinitions } from "@keelson/platform";
import { reasonForNoOracle } from "../oracle/build.ts";
import { clusterSuite, startCluster, type TestCluster } from "../tools/test-cluster.ts";

const apiVersion = "platform.internal/v1alpha1";
const options = { simulatesWorkloads: false, definitions: platformDefinitions() };
const noKubectl = reasonForNoOracle() ?? false;

function application(name: string, spec: JsonObject = {}): DynamicObject {
  const metadata = { name, namespace: "default" };
  const wanted = { repository: "r", framework: "nextjs", environment: "staging" };
  return { apiVersion, kind: "Application", metadata, spec: { ...wanted, ...spec } };
}

function preview(name: string, spec: JsonObject = {}): DynamicObject {
  const metadata = { name, namespace: "default" };
  const wanted = { applicationRef: "my-app", pullRequest: 42, branch: "fix" };
  return { apiVersion, kind: "PreviewEnvironment", metadata, spec: { ...wanted, ...spec } };
}

clusterSuite("the kinds of the platform, served", () => {
  test("kubectl shows and explains them", { skip: noKubectl }, async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    await bed.applications.create(application("my-app"), {}, signal);
    await bed.previews.create(preview("pr-42"), {}, signal);
    const status = { phase: "Running", url: "https://my-app.staging.example.com" };
    await setStatus(bed.applications, "my-app", status, signal);
    await setStatus(bed.previews, "pr-42", { expiresAt: "2026-01-04T00:00:00Z" }, signal);

    for (const name of ["app", "apps", "application", "applications.platform.internal"]) {
      const [header, row] = await bed.table(["get", name, "-n", "default"]);
      assert.deepEqual(header, ["NAME", "FRAMEWORK", "ENVIRONMENT", "PHASE", "URL", "AGE"], name);
      assert.deepEqual(row?.slice(0, 5), ["my-app", "nextjs", "staging", "Running", status.url]);
    }
    const [header, row] = await bed.table(["get", "previewenvironments", "-A"]);
    assert.deepEqual(header, "NAMESPACE NAME APP PR PHASE URL EXPIRES AGE".split(" "));
    assert.deepEqual(row?.slice(0, 4), ["default", "pr-42", "my-app", "42"]);
    assert.ok(row?.includes("2026-01-04T00:00:00Z"));

    const explained = await bed.kubectl(["explain", "app.spec.scaling"]);
    for (const [field, type] of [
      ["max", "integer"],
      ["min", "integer"],
      ["targetCPU", "integer"],
    ]) {
      assert.match(explained, new RegExp(`\\b${field}\\s+<${type}>`));
    }
    assert.match(explained, /How many pods there are/);
    const all = await bed.kubectl(["explain", "previewenvironments", "--recursive"]);
    for (const field of ["applicationRef", "pullRequest", "ttl", "expiresAt", "owned"]) {
      assert.match(all, new RegExp(`\\b${field}\\b`));
    }
  });

  test("what is left out is filled in", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const made = await bed.applications.create(application("my-app", { auth: {} }), {}, signal);
    assert.deepEqual(made["spec"], {
      repository: "r",
      branch: "main",
      framework: "nextjs",
      environment: "staging",
      auth: { enabled: false, providers: [] },
      scaling: { min: 2, max: 20, targetCPU: 70 },
      deletionPolicy: "Delete",
    });
    const other = await bed.previews.create(preview("pr-42"), {}, signal);
    assert.equal((other["spec"] as JsonObject)["ttl"], "72h");
  });

  test("P6, P7, P40: schemas, times and names that cannot be are refused", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const refusals: [DynamicObject, RegExp][] = [
      ...['a"b', "a-b", "Ab", "pg_x", "public"].map((schemaName): [DynamicObject, RegExp] => [
        application("my-app", { database: { enabled: true, schemaName } }),
        /spec\.database\.schemaName/,
      ]),
      ...["72", "-1h", "0m", "1w", "31d"].map((ttl): [DynamicObject, RegExp] => [
        preview("pr-42", { ttl }),
        /spec\.ttl/,
      ]),
      ...["master", "admin", "postgres", "public", "kube-x", "pg-x"].map(
        (name): [DynamicObject, RegExp] => [application(name), /metadata\.name is reserved/],
      ),
      [application("1st"), /metadata\.name must begin with a letter/],
      [application("my-app", { scaling: { min: 3, max: 2 } }), /min must not be above max/],
      [application("my-app", { cors: { origins: ["*"] } }), /spec\.cors\.origins\[0\]/],
    ];
    for (const [object, problem] of refusals) {
      const objects = object.kind === "Application" ? bed.applications : bed.previews;
      await assert.rejects(objects.create(object, {}, signal), { message: problem });
    }
    for (const objects of [bed.applications, bed.previews]) {
      assert.deepEqual((await objects.list({}, signal)).items, []);
    }
  });

  test("what is said once stays", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const { applications, previews } = bed;
    const schema = (schemaName: string) => ({ database: { enabled: true, schemaName } });
    await applications.create(application("my-app", schema("one")), {}, signal);
    await previews.create(preview("pr-42"), {}, signal);
    const change = (objects: ResourceClient, name: string, spec: JsonObject) =>
      objects.patch({ namespace: "default", name }, { type: "merge", body: { spec } }, signal);
    const refused = { message: /cannot be changed/ };
    await assert.rejects(change(applications, "my-app", { environment: "uat" }), refused);
    await assert.rejects(change(applications, "my-app", schema("two")), refused);
    await assert.rejects(change(previews, "pr-42", { applicationRef: "other" }), refused);
    await assert.rejects(change(previews, "pr-42", { pullRequest: 43 }), refused);
    const { metadata } = await change(previews, "pr-42", { imageRef: "my-app:2" });
    assert.equal(metadata.generation, 2);
  });

  test("a status is written apart, and moves no generation", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const { applications } = bed;
    const given = { ...application("my-app"), status: { phase: "Running" } };
    const made = await applications.create(given, {}, signal);
    assert.deepEqual([made["status"], made.metadata.generation], [undefined, 1]);
    const written = await setStatus(applications, "my-app", { phase: "Pending" }, signal);
    assert.deepEqual([written["status"], written.metadata.generation], [{ phase: "Pending" }, 1]);
    const spec = { imageRef: "my-app:1" };
    const ref = refOf(made);
    const changed = await applications.patch(
      ref,
      { type: "merge", body: { spec, status: { phase: "Failed" } } },
      signal,
    );
    assert.deepEqual([changed["status"], changed.metadata.generation], [{ phase: "Pending" }, 2]);
    await assert.rejects(setStatus(applications, "my-app", { phase: "Asleep" }, signal), {
      message: /status\.phase: Unsupported value/,
    });
  });
});

async function open(signal: AbortSignal) {
  await using setup = new AsyncDisposableStack();
  const cluster: TestCluster = setup.use(await startCluster(options, signal));
  const client = setup.use(new Client({ access: cluster.accessAt(cluster.port) }));
  const applications = await client.resource({ apiVersion, kind: "Application" }, signal);
  const previews = await client.resource({ apiVersion, kind: "PreviewEnvironment" }, signal);
  const kubectl = async (words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(words, signal);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const kept = setup.move();
  return {
    applications,
    previews,
    kubectl,
    table: async (words: readonly string[]): Promise<string[][]> =>
      (await kubectl(words))
        .trim()
        .split("\n")
        .map((line) => line.split(/\s{2,}/).map((cell) => cell.trim())),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function setStatus(
  objects: ResourceClient,
  name: string,
  status: JsonObject,
  signal: AbortSignal,
): Promise<DynamicObject> {
  const subresource = { subresource: "status" };
  return objects.patch(
    { namespace: "default", name },
    { type: "merge", body: { status }, options: subresource },
    signal,
  );
}
