// An Application on `keelson up`, as README has it: applied with kubectl, running with a database of its own, and gone.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openDatabase, statement } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { until } from "../tools/until.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { kubectl, withoutKubectl } from "./kubectl.ts";

const manifest = `
apiVersion: platform.internal/v1alpha1
kind: Application
metadata: { name: shop }
spec:
  repository: git@example.com:shop
  framework: nextjs
  environment: production
  imageRef: registry.example.com/shop:1
  database: { enabled: true }
`;

const whereWeAre = statement<undefined, { readonly path: string }>(
  "whereWeAre",
  (sql) => sql`SELECT current_setting('search_path') AS path`,
);

suite("applications", { skip: withoutKubectl }, () => {
  test("one is applied, runs, lives through a restart with its password, and goes", async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    const dataDir = join(folder.path, "data");
    const file = join(folder.path, "shop.yaml");
    await writeFile(file, manifest);
    await using first = new KeelsonProcess(dataDir);
    let running = await first.ready();
    const run = (...words: string[]): Promise<string> =>
      kubectl(running.kubeconfig ?? "", words, signal);
    const isRunning = () =>
      until(async () => (await run("get", "app", "--no-headers")).includes(" Running "), signal);
    const variable = async (name: string): Promise<string> =>
      Buffer.from(
        await run("get", "secret/shop-db", `-o=jsonpath={.data.${name}}`),
        "base64",
      ).toString();
    const enters = async (url: string): Promise<string> => {
      await using database = openDatabase({ url, name: "test", ...patience });
      const [row] = await database.run(whereWeAre, undefined, signal);
      return row?.path ?? "";
    };

    await run("apply", "-f", file);
    await isRunning();
    assert.match(
      await run("get", "app", "--no-headers"),
      /^shop +nextjs +production +Running +https:\/\/shop\.localhost /,
    );
    const password = await variable("DB_PASSWORD");
    assert.equal(await enters(await variable("DATABASE_URL")), "prod_shop");
    // Not where Keelson keeps its own.
    const ours = new URL(running.database ?? "");
    ours.username = "prod_shop_app";
    ours.password = password;
    await assert.rejects(enters(ours.href), ({ cause }: Error) => {
      assert.match(String(cause), /permission denied for database/);
      return true;
    });
    const ready = await (await fetch(`${running.rest}/readyz?verbose`, { signal })).text();
    assert.match(ready, /\[\+\]operator ok/);
    const health = await fetch(`${running.metrics}/healthz`, { signal });
    assert.equal(await health.text(), "ok\n");
    assert.match(
      await (await fetch(`${running.metrics}/metrics`, { signal })).text(),
      /plattr_application_phase\{namespace="default",app="shop",environment="production"\} 2/,
    );
    assert.equal((await first.stop()).code, 0);

    await using second = new KeelsonProcess(dataDir);
    running = await second.ready();
    // Its PostgreSQL listens elsewhere now, and the Secret follows.
    await until(async () => {
      const { port } = new URL(running.database ?? "");
      return (await variable("DB_PORT")) === port;
    }, signal);
    assert.equal(await variable("DB_PASSWORD"), password);
    assert.equal(await enters(await variable("DATABASE_URL")), "prod_shop");
    await isRunning();

    await run("delete", "app", "shop", "--timeout=100s");
    assert.equal(await run("get", "deployments,ingresses,secrets", "--no-headers"), "");
    assert.equal((await second.stop()).code, 0);
    for (const { output } of [first, second]) assert.equal(output.includes(password), false);
  });

  test("the operator alone says at once all that it lacks", async () => {
    await using folder = await temporaryFolder();
    await using process = new KeelsonProcess(join(folder.path, "data"), {
      command: "serve",
      flags: ["--roles", "operator", "--ingress-rewrite", "haproxy"],
      environment: { CONCURRENCY: "many", METRICS_ADDR: "9090" },
    });
    const { code, output } = await process.ended;
    assert.equal(code, 2);
    for (const name of [
      "KEELSON_BASE_DOMAIN",
      "--ingress-rewrite",
      "CONCURRENCY",
      "METRICS_ADDR",
    ]) {
      assert.match(output, new RegExp(`^ +${name} `, "m"));
    }
    assert.doesNotMatch(output, /KEELSON_(DATABASE_URL|ENCRYPTION_KEY)/);
  });
});
