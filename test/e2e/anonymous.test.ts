// `keelson up` that lets nobody in without credentials. Beside the real server it is `test/aggregated`.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { HttpClient } from "../tools/http-client.ts";
import { until } from "../tools/until.ts";
import { expectAnswer } from "./expect-answer.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";

suite("keelson up without anonymous callers", () => {
  test("is 401 to them, and lets its own parts in", async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(folder.path, {
      environment: { KEELSON_ANONYMOUS_AUTH: "false" },
    });
    const { kubernetes = "", rest = "" } = await keelson.ready(signal);
    const ca = await readFile(join(folder.path, "pki", "ca.crt"), "utf8");
    using nobody = new HttpClient({ url: kubernetes, ca });
    for (const path of ["/healthz", "/version", "/api/v1/namespaces"]) {
      assert.equal((await nobody.send({ path }, signal)).status, 401, path);
    }
    await until(async () => {
      const answer = await fetch(`${rest}/api/v1/targets/local`, { signal });
      return (await answer.text()).includes('"health":"Healthy"');
    }, signal);
    await expectAnswer(() => fetch(`${rest}/readyz`, { signal }), 200, signal);
  });
});
