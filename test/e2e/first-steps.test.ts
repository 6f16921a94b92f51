// The first steps of README, as a person takes them, on `keelson up`, over REST; and nothing secret is in what it says meanwhile. The
// same by commands is a guide: `test/guides`.

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { kubeconfigOf } from "../tools/kubeconfig.ts";
import { until } from "../tools/until.ts";
import { askRest, type Ask } from "./ask-rest.ts";
import { KeelsonProcess, leftBehind, temporaryFolder } from "./keelson-process.ts";
import { kubectl, withoutKubectl } from "./kubectl.ts";

const deployment = (image: string, replicas: number) => ({
  desired_spec: {
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image }] },
      },
    },
  },
});
const web = { cluster_id: "local", namespace: "default", kind: "Deployment", name: "web" };

suite("first steps", { skip: withoutKubectl }, () => {
  test("a Deployment is posted, synced, repaired after an edit and rolled back; a restart goes on; secrets stay secret", async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    const dataDir = join(folder.path, "data");
    const flags = ["--log-level", "debug"];
    let said = "";
    await using first = new KeelsonProcess(dataDir, { flags });
    let { rest = "", metrics = "", kubeconfig = "" } = await first.ready();

    const ask: Ask = (...asked) => askRest({ rest }, signal)(...asked);
    const run = (...words: string[]): Promise<string> => kubectl(kubeconfig, words, signal);
    const imageAndReplicas = (): Promise<string> =>
      run(
        "get",
        "deployment/web",
        "-o=jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas}",
      );
    const synced = (id: number, generation: number) =>
      until(async () => {
        const { body } = await ask("GET", `/resources/${id}`);
        return body.status === "synced" && body.generation === generation ? body : undefined;
      }, signal);

    const created = await ask("POST", "/resources", { ...web, ...deployment("nginx:1.27", 2) });
    assert.deepEqual([created.code, created.body.warnings], [201, []]);
    const { id } = created.body;
    await synced(id, 1);
    assert.equal(await imageAndReplicas(), "nginx:1.27 2");

    await run("set", "image", "deployment/web", "web=nginx:broken");
    await until(async () => (await imageAndReplicas()) === "nginx:1.27 2", signal);
    assert.deepEqual((await synced(id, 1)).drift, null);

    await ask("PUT", `/resources/${id}`, deployment("nginx:1.28", 3));
    await synced(id, 2);
    assert.equal(await imageAndReplicas(), "nginx:1.28 3");
    const back = await ask("PUT", `/resources/${id}`, { revision: 1 });
    assert.deepEqual([back.body.generation, back.body.revision], [3, 1]);
    await synced(id, 3);
    assert.equal(await imageAndReplicas(), "nginx:1.27 2");

    // A Secret and a credential go through: neither is told anywhere.
    const secret = await ask("POST", "/resources", {
      ...web,
      kind: "Secret",
      name: "pass",
      desired_spec: { stringData: { word: "open-sesame" } },
    });
    await synced(secret.body.id, 1);
    const word = await run("get", "secret/pass", "-o=jsonpath={.data.word}");
    assert.equal(Buffer.from(word, "base64").toString(), "open-sesame");
    const nowhere = kubeconfigOf({ server: "https://127.0.0.1:1" }, { token: "token-of-nowhere" });
    await ask("POST", "/targets", { cluster_id: "nowhere", kubeconfig: nowhere });
    const target = await until(async () => {
      const { body } = await ask("GET", "/targets/nowhere");
      return body.health === "Unreachable" ? body : undefined;
    }, signal);
    assert.match(target.health_message, /^unreachable: /);
    const told = await Promise.all([
      ask("GET", "/resources"),
      ask("GET", `/resources/${secret.body.id}`),
      ask("GET", `/resources/${secret.body.id}/revisions`),
      ask("GET", "/targets"),
    ]);
    const figures = await (await fetch(`${metrics}/metrics`, { signal })).text();
    assert.match(
      figures,
      /keelson_fleet_apply_total\{cluster_id="local",result="success",class=""\} \d/,
    );

    const ended = await first.stop();
    assert.deepEqual([ended.code, leftBehind(dataDir)], [0, []]);
    said += ended.output;
    // The key is made once, for its owner alone, and what it opened before a restart it opens after.
    const key = await readFile(join(dataDir, "encryption.key"), "utf8");
    assert.equal((await stat(join(dataDir, "encryption.key"))).mode & 0o777, 0o600);
    await using second = new KeelsonProcess(dataDir, { flags });
    ({ rest = "", metrics = "", kubeconfig = "" } = await second.ready());
    await synced(id, 3);
    await run("scale", "deployment/web", "--replicas=7");
    await until(async () => (await imageAndReplicas()) === "nginx:1.27 2", signal);
    const again = await until(async () => {
      const { body } = await ask("GET", "/targets/nowhere");
      return body.health === "Unreachable" ? body : undefined;
    }, signal);
    assert.doesNotMatch(again.health_message, /key/);
    said += (await second.stop()).output;

    const everything = [said, figures, ...told.map(({ text }) => text)].join("\n");
    // What a request did in the database is a line with the request.
    assert.match(said, /^.*statement run.*$/m);
    for (const line of said.match(/^.*statement run.*$/gm) ?? []) assert.match(line, /request_id/);
    for (const hidden of ["open-sesame", word, "token-of-nowhere", key.trim()]) {
      assert.ok(!everything.includes(hidden), `something secret was told: ${hidden.slice(0, 4)}…`);
    }
  });
});
