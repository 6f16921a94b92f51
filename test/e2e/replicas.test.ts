// Replicas of the Kubernetes API on one PostgreSQL: what one of them signs the others believe, or they do not serve beside it.

import assert from "node:assert/strict";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { HttpClient } from "../tools/http-client.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { kubectl, withoutKubectl } from "./kubectl.ts";
import { runKeelson } from "./run-keelson.ts";

const keyFiles = ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key"];

suite("replicas of the Kubernetes API", { skip: withoutKubectl }, () => {
  test("have the same keys, or do not serve at once; one that comes after all others has any", async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" }, signal);
    await using database = await postgres.createDatabase();
    const flags = ["--storage-driver", "postgresql", "--database-url", database.url];
    const cwd = folder.path;
    const migrated = await runKeelson(["apiserver", "migrate", ...flags], { cwd }, signal);
    assert.equal(migrated.code, 0, migrated.output);
    const start = (name: string): KeelsonProcess =>
      new KeelsonProcess(join(folder.path, name), { command: "apiserver", flags });
    const kubeconfigOf = (name: string): string => join(folder.path, name, "kubeconfig");

    await using one = start("one");
    await one.ready(signal);

    await using refused = start("refused");

    // With the keys of the first, as that one will be told.
    await mkdir(join(folder.path, "two", "pki"), { recursive: true });
    for (const name of keyFiles) {
      await copyFile(join(folder.path, "one/pki", name), join(folder.path, "two/pki", name));
    }
    await using equal = start("two");
    const { kubernetes = "" } = await equal.ready(signal);
    assert.doesNotMatch(equal.output, /other keys/);
    const token = await kubectl(kubeconfigOf("one"), ["create", "token", "default"], signal);
    const whoAmI = ["auth", "whoami", "-o=jsonpath={.status.userInfo.username}"];
    const atTwo = [...whoAmI, "--server", kubernetes];
    assert.equal(await kubectl(kubeconfigOf("one"), atTwo, signal), "kubernetes-admin");
    const ca = await readFile(join(folder.path, "one/pki/ca.crt"), "utf8");
    using client = new HttpClient({ url: kubernetes, ca, token });
    const answer = await client.send({ path: "/apis" }, signal);
    assert.equal(answer.status, 200, "a token of the other is believed");

    await assert.rejects(refused.ready(signal), /^Error: ended with/, "it has started");
    const { code, output } = await refused.ended;
    assert.equal(code, 2, output);
    assert.equal(
      output.split("\n").find((line) => line.startsWith("keelson: ")),
      "keelson: another server that lives serves this database with other keys, so that each refuses what the other signs: give this one its --cert-dir, or copy ca.crt, ca.key, front-proxy-ca.crt, front-proxy-ca.key and sa.key from there into the one it has",
    );
    assert.doesNotMatch(output, /\n +at /, "no stack");

    await Promise.all([one.stop(), equal.stop()]);
    await using moved = start("moved");
    await moved.ready(signal);
    assert.match(
      moved.output,
      /"level":"warn".*"changed":\["ca","frontProxyCa","serviceAccounts"\].*served with other keys before/,
    );
  });
});
