// One line of JSON for each request, where a user asks for it.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { suite, test } from "node:test";

import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { startOurs } from "./ours.ts";

interface Line {
  readonly auditId: string;
  readonly verb: string;
  readonly path: string;
  readonly code: number;
  readonly durationMs: number;
  readonly user?: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly object?: Readonly<Record<string, string>>;
}

const secrets = "/api/v1/namespaces/default/secrets";

suite("audit log", () => {
  test("keelson apiserver writes a line for each request, and nothing secret", async (t) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "audit.jsonl");
    const flags = ["--audit-log-path", path];
    await using ours = await startOurs({ driver: "sqlite", flags }, t.signal);
    const { client } = ours;
    const ids: unknown[] = [];
    const send = async (request: Parameters<typeof client.send>[0]): Promise<void> => {
      ids.push((await client.send(request, t.signal)).headers["audit-id"]);
    };
    await send({
      method: "POST",
      path: secrets,
      body: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        stringData: { password: "hunter2-in-the-body" },
      },
    });
    await send({ path: `${secrets}/s` });
    await send({ path: `${secrets}?labelSelector=hunter2-in-the-query` });
    const wrong = { authorization: "Bearer hunter2-in-the-header" };
    using stranger = ours.connectAs({ token: "hunter2-as-a-token" });
    ids.push((await stranger.send({ path: "/api" }, t.signal)).headers["audit-id"]);
    await send({
      path: `${secrets}/none`,
      headers: { "impersonate-user": "bob" },
    });
    await send({ path: "/healthz", headers: wrong });
    await ours.stop("SIGTERM");

    assert.equal(statSync(path).mode & 0o777, 0o600);
    const text = readFileSync(path, "utf8");
    assert.ok(!text.includes("hunter2"), text);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    assert.equal(new Set(lines.map(({ auditId }) => auditId)).size, lines.length);
    const object = { version: "v1", resource: "secrets", namespace: "default" };
    const told = ids.map((id) => lines.find(({ auditId }) => auditId === id));
    assert.deepEqual(
      told.map((line) => [
        line?.user?.username,
        line?.impersonatedUser?.username,
        line?.verb,
        line?.path,
        line?.object,
        line?.code,
      ]),
      [
        ["oracle-admin", undefined, "create", secrets, object, 201],
        ["oracle-admin", undefined, "get", `${secrets}/s`, { ...object, name: "s" }, 200],
        ["oracle-admin", undefined, "list", secrets, object, 200],
        [undefined, undefined, "get", "/api", undefined, 401],
        ["oracle-admin", "bob", "get", `${secrets}/none`, { ...object, name: "none" }, 403],
        ["oracle-admin", undefined, "get", "/healthz", undefined, 200],
      ],
    );
  });

  test("keelson up writes them to standard output, if told so", async (t) => {
    await using folder = await temporaryFolder();
    const flags = ["--kube-port", "0", "--audit-log-path", "-"];
    await using keelson = new KeelsonProcess(join(folder.path, "data"), { flags });
    const { kubernetes = "" } = await keelson.ready();
    const request = get(`${kubernetes}/version`, {
      headers: { "audit-id": "asked-by-a-test" },
      // Nothing is told here, and nobody's word is taken: the path is public.
      rejectUnauthorized: false,
      signal: t.signal,
    });
    await once(request, "response");
    request.destroy();
    await keelson.said(/^\{[^\n]*"auditId":"asked-by-a-test"[^\n]*"path":"\/version"[^\n]*\}$/m);
  });
});
