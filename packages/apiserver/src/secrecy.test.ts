import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";

import { auditLines } from "./audit.ts";
import { Api } from "./testing/api.ts";
import { startTestServer } from "./testing/test-server.ts";

const hidden = "hunter2-correct-horse";
const encoded = Buffer.from(hidden).toString("base64");

suite("what a Secret holds", () => {
  test("is in the answer to who may read it, and nowhere else", async (t) => {
    const log = new RecordingLog();
    const lines: string[] = [];
    const audit = auditLines((line) => lines.push(line));
    await using server = await startTestServer({ log, audit }, t.signal);
    const api = new Api(server.url, t.signal);
    const secrets = "/api/v1/namespaces/default/secrets";
    const secret = (more: JsonObject = {}): JsonObject => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      stringData: { password: hidden },
      ...more,
    });
    const told: string[] = [];
    const tell = (text: string): void => void told.push(text);
    assert.equal((await api.create(secrets, secret())).code, 201);
    assert.equal((await api.get(`${secrets}/s`)).text.includes(encoded), true);
    const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    tell((await api.send("GET", secrets, { headers: table })).text);
    // Whatever is wrong with it, it is not repeated.
    tell((await api.create(secrets, secret())).text);
    tell((await api.create(secrets, secret({ metadata: { name: "Not A Name" } }))).text);
    tell(
      (await api.create(secrets, secret({ metadata: { name: "t" }, type: "kubernetes.io/tls" })))
        .text,
    );
    const wrong = secret({ metadata: { name: "u" }, data: { password: `${hidden}%%` } });
    tell((await api.create(secrets, wrong)).text);
    const unknown = secret({ metadata: { name: "v" }, unknown: { a: hidden } });
    const strict = await api.send("POST", `${secrets}?fieldValidation=Strict`, { body: unknown });
    assert.equal(strict.code, 400);
    tell(strict.text);
    tell((await api.send("DELETE", `${secrets}/s`)).text);
    const everything = [
      ...told,
      ...lines,
      ...log.entries.map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`),
    ].join("\n");
    assert.ok(lines.length >= 8);
    assert.ok(!everything.includes(hidden) && !everything.includes(encoded));
  });
});
