// Our server behind a real kube-apiserver: API-1, kubectl, RBAC by the host, identity (API-15), namespaces and garbage
// collection by the host's controllers, and nothing of ours in its etcd.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { suite } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createNamespace } from "../apiserver/create-namespace.ts";
import { drivers } from "../apiserver/ours.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { programPath } from "../oracle/programs.ts";
import { until } from "../tools/until.ts";
import { create, expectStatus, kubectl, messageOf } from "./asking.ts";
import { startBed, type Bed } from "./bed.ts";
import { controllersWalk } from "./controllers-walk.ts";
import { identityWalk } from "./identity-walk.ts";
import { memory, pathOf } from "./objects.ts";

const eightVerbs = "create,delete,deletecollection,get,list,patch,update,watch";

suite("behind a host", { concurrency: 2 }, () => {
  for (const driver of drivers) {
    oracleTest(`${driver}: a cluster with our kinds works as one`, async (t) => {
      const controllers = ["namespace-controller", "garbage-collector-controller"];
      await using bed = await startBed({ driver, oracle: { controllers } }, t.signal);
      const { signal } = t;

      await t.test("API-1: every kind is there with its verbs, beside the host's own", async () => {
        const words = ["api-resources", "--api-group=ark.mckinsey.com", "-o", "wide"];
        const [, ...lines] = (await kubectl(bed, words, signal)).trim().split("\n");
        assert.equal(lines.length, 13);
        for (const line of lines) {
          const verbs = /\S+,watch|\S*watch\S*/.exec(line)?.[0] ?? "";
          assert.equal(verbs.split(",").sort().join(","), eightVerbs, line);
        }
        await kubectl(bed, ["get", "queries", "-A"], signal);
        await kubectl(bed, ["get", "pods", "-A"], signal);
      });

      await t.test("kubectl explains, applies, gets, watches, patches and deletes", () =>
        kubectlWalk(bed, signal),
      );
      await t.test("API-11: nothing is created in a namespace that is not there", async () => {
        const path = pathOf("memories", "ghost");
        const request = { method: "POST", path, body: memory("m") } as const;
        const { body } = await expectStatus(bed.oracle.client, request, 404, signal);
        const { message } = body as { message: string };
        assert.equal(message, 'namespaces "ghost" not found');
      });
      await t.test("a namespace that was made a moment ago can be used", async () => {
        for (let n = 0; n < 20; n += 1) {
          await createNamespace(bed.oracle, `fresh-${n}`, signal);
          await create(bed, pathOf("memories", `fresh-${n}`), memory("m"), signal);
        }
      });
      await t.test("who callers are and what they may is the host's word", () =>
        identityWalk(bed, signal),
      );
      await t.test("our rules look at the host's Secrets and ConfigMaps", () =>
        valuesWalk(bed, signal),
      );
      await t.test("the host's controllers reach our objects", () => controllersWalk(bed, signal));
      await t.test("nothing of ours is in etcd", () => etcdWalk(bed, signal));
    });
  }
});

async function kubectlWalk(bed: Bed, signal: AbortSignal): Promise<void> {
  // The host reads our documents a moment after it reads our kinds.
  const explained = await until(async () => {
    const { code, stdout } = await bed.oracle.kubectl(["explain", "query.spec.target"], signal);
    return code === 0 ? stdout : undefined;
  }, signal);
  assert.match(
    explained,
    /FIELDS:\s+name\t<string> -required-[\s\S]*enum: agent, team, model, tool/,
  );

  await createNamespace(bed.oracle, "walk", signal);
  const file = join(bed.folder, "memory.json");
  const write = (address: string): void =>
    writeFileSync(file, JSON.stringify(memory("m", { address, labels: { app: "walk" } })));
  const versionOf = async (): Promise<string> =>
    await kubectl(
      bed,
      ["get", "memory", "m", "-n", "walk", "-o", "jsonpath={.metadata.resourceVersion}"],
      signal,
    );
  await using watch = watchByKubectl(bed, ["get", "memories", "-n", "walk", "-w", "-o", "name"]);
  // Whoever tells of this one misses nothing that comes after it.
  await create(bed, pathOf("memories", "walk"), memory("first"), signal);
  const first = "memory.ark.mckinsey.com/first";
  await until(() => watch.lines.includes(first), signal, "kubectl to watch");
  write("http://one");
  assert.match(await kubectl(bed, ["apply", "-n", "walk", "-f", file], signal), /created/);
  const version = await versionOf();
  // API-3: the second time nothing changes, whichever way.
  assert.match(await kubectl(bed, ["apply", "-n", "walk", "-f", file], signal), /unchanged/);
  assert.equal(await versionOf(), version);
  write("http://two");
  assert.match(await kubectl(bed, ["apply", "-n", "walk", "-f", file], signal), /configured/);
  const serverSide = ["apply", "--server-side", "--force-conflicts", "-n", "walk", "-f", file];
  await kubectl(bed, serverSide, signal);
  const applied = await versionOf();
  await kubectl(bed, serverSide, signal);
  assert.equal(await versionOf(), applied);
  const status = ["patch", "memory", "m", "-n", "walk", "--subresource=status", "--type=merge"];
  await kubectl(bed, [...status, "-p", '{"status":{"phase":"ready"}}'], signal);
  assert.match(await kubectl(bed, ["get", "memories", "-n", "walk"], signal), /m\s+ready/);
  await until(() => watch.lines.length >= 5, signal, "kubectl to tell of four changes");
  assert.match(
    await kubectl(bed, ["describe", "memory", "m", "-n", "walk"], signal),
    /Phase:\s+ready/,
  );
  const wait = ["wait", "memory/m", "-n", "walk", "--for=jsonpath={.status.phase}=ready"];
  await kubectl(bed, wait, signal);
  await kubectl(bed, ["delete", "memory", "m", "-n", "walk", "--wait"], signal);
  assert.deepEqual(
    watch.lines.filter((line) => line !== "memory.ark.mckinsey.com/m"),
    [first],
  );
  await expectStatus(bed.oracle.client, { path: pathOf("memories", "walk", "m") }, 404, signal);
}

/** A kubectl that watches, and the lines it has printed. */
function watchByKubectl(bed: Bed, words: readonly string[]) {
  const { kubeconfig, folder } = bed.oracle;
  const child = spawn(programPath("kubectl"), words, {
    env: { KUBECONFIG: kubeconfig, HOME: folder, PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  return {
    lines,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** §3.4: a Model's keys are in a Secret of the cluster, as they are now. */
async function valuesWalk(bed: Bed, signal: AbortSignal): Promise<void> {
  const { client } = bed.oracle;
  await createNamespace(bed.oracle, "values", signal);
  const path = pathOf("models", "values");
  const from = (name: string, key: string): object => ({
    valueFrom: { secretKeyRef: { name, key } },
  });
  const body = {
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind: "Model",
    metadata: { name: "default" },
    spec: {
      model: { value: "m" },
      type: "completions",
      provider: "openai",
      config: {
        openai: {
          baseUrl: { value: "https://models.example.com/v1" },
          apiKey: from("keys", "api"),
        },
      },
    },
  };
  const request = { method: "POST", path, body } as const;
  const missing = await expectStatus(client, request, 422, signal);
  assert.match(messageOf(missing), /keys/);
  const secrets = "/api/v1/namespaces/values/secrets";
  const secret = { metadata: { name: "keys" }, stringData: { other: "x" } };
  await create(bed, secrets, secret, signal);
  await expectStatus(client, request, 422, signal);
  const merge = { "content-type": "application/merge-patch+json" };
  await expectStatus(
    client,
    {
      method: "PATCH",
      path: `${secrets}/keys`,
      body: { stringData: { api: "secret" } },
      headers: merge,
    },
    200,
    signal,
  );
  await expectStatus(client, request, 201, signal);
}

async function etcdWalk(bed: Bed, signal: AbortSignal): Promise<void> {
  const marker = "http://nowhere-but-in-sql.example.com";
  await createNamespace(bed.oracle, "marked", signal);
  await create(bed, pathOf("memories", "marked"), memory("marked", { address: marker }), signal);
  const request = {
    method: "POST",
    body: JSON.stringify({ key: "AA==", range_end: "AA==" }),
    signal,
  };
  const response = await fetch(new URL("/v3/kv/range", bed.oracle.etcdUrl), request);
  const { kvs } = (await response.json()) as { kvs: { key: string; value: string }[] };
  const all = kvs.map(({ key, value }) => ({
    key: Buffer.from(key, "base64").toString("utf8"),
    value: Buffer.from(value, "base64").toString("latin1"),
  }));
  assert.ok(all.length > 50, "etcd shows the cluster's own objects");
  assert.ok(all.some(({ key }) => key === "/registry/namespaces/marked"));
  const ours = all.filter(
    ({ key, value }) => key.startsWith("/registry/ark.") || value.includes(marker),
  );
  assert.deepEqual(ours, []);
}
