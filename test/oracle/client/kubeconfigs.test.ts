// Kubeconfigs and proxies as kubectl understands them: the same files and the same environment, and what comes of them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite } from "node:test";

import { systemClock } from "@keelson/base";
import { environmentProxy, loadKubeconfig } from "@keelson/client";

import { oracleTest } from "../oracle-test.ts";
import { programPath } from "../programs.ts";
import { startHttpProxy } from "./proxies.ts";

interface File {
  readonly clusters?: Readonly<Record<string, object>>;
  readonly users?: Readonly<Record<string, object>>;
  readonly contexts?: Readonly<Record<string, object>>;
  readonly current?: string;
}

const [a, b] = [{ server: "https://a.test" }, { server: "https://b.test:6443/base" }];
const all: File = {
  clusters: { c: a, d: b },
  users: { u: { token: "u" }, v: { token: "v" } },
  contexts: { x: { cluster: "c", user: "u" }, y: { cluster: "d", user: "v", namespace: "n" } },
  current: "x",
};

/** Files in order, by the folder they are in. */
const sets: Readonly<Record<string, readonly (readonly [path: string, file: File | ""])[]>> = {
  "one file": [["one", all]],
  "the first current context counts": [
    ["one", { ...all, current: "y" }],
    ["two", { current: "x" }],
  ],
  "a later file has the current context": [
    ["one", { clusters: { c: a }, users: { u: { token: "u" } } }],
    ["two", { ...all, current: "y" }],
  ],
  "the same names with other contents": [
    ["one", { clusters: { c: b }, users: { u: { token: "first" } } }],
    ["two", all],
  ],
  "a context of the first on things of the second": [
    ["one", { contexts: { x: { cluster: "d", user: "v", namespace: "mine" } }, current: "x" }],
    ["two", all],
  ],
  "paths are relative to their own file": [
    [
      "certificates/config",
      { users: { u: { "client-certificate": "u.crt", "client-key": "u.key" } } },
    ],
    ["two/config", { clusters: { c: { ...a, "certificate-authority": "../ca.crt" } } }],
    ["three/config", { contexts: { x: { cluster: "c", user: "u" } }, current: "x" }],
  ],
  "an empty file among them": [
    ["empty", ""],
    ["two", all],
  ],
  "an entry that is not finished": [
    ["one", { ...all, contexts: { ...all.contexts, half: { user: "u" } } }],
  ],
};

suite("kubeconfigs as kubectl understands them", { concurrency: 2 }, () => {
  for (const [what, files] of Object.entries(sets)) {
    oracleTest(what, async () => {
      using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfigs-"));
      for (const name of ["ca.crt", "certificates/u.crt", "certificates/u.key"])
        write(folder.path, name, name);
      const paths = files.map(([path, file]) =>
        write(folder.path, path, file === "" ? "" : document(file)),
      );
      const { stdout } = await kubectl(
        ["config", "view", "--minify", "--flatten", "--raw", "-o", "json"],
        { KUBECONFIG: paths.join(":"), HOME: folder.path },
      );
      const { server, namespace, credentials } = await loadKubeconfig(
        { files: paths },
        { clock: systemClock },
      );
      const { headers, tls } = await credentials.current(new AbortController().signal);
      assert.deepEqual({ server, namespace, headers, tls }, chosen(stdout));
    });
  }
});

suite("proxies as kubectl understands them", () => {
  oracleTest("HTTPS_PROXY, HTTP_PROXY and NO_PROXY", async () => {
    const found: unknown[] = [];
    const expected: unknown[] = [];
    const waiting = [...proxyCases];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [noProxy, server] = next;
        await using proxy = await startHttpProxy();
        proxy.isRefusing = true;
        const { url } = proxy;
        const env = { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: noProxy };
        // With a token, or it would ask for a name and wait.
        const ask = ["get", "--raw", "/", "--request-timeout=15s"];
        await kubectl(["--server", server, "--token", "t", ...ask], env);
        expected.push([noProxy, server, proxy.asked.length > 0]);
        const ours = environmentProxy(server, { httpsProxy: url, httpProxy: url, noProxy });
        found.push([noProxy, server, ours !== undefined]);
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    assert.deepEqual(found, expected);
  });
});

const proxyCases: readonly (readonly [noProxy: string, server: string])[] = [
  ["", "https://api.example.test"],
  ["", "http://api.example.test"],
  ["", "https://127.0.0.1:1"],
  ["", "https://localhost:1"],
  ["*", "https://api.example.test"],
  ["example.test", "https://api.example.test"],
  ["EXAMPLE.test", "https://example.TEST"],
  ["example.test", "https://notexample.test"],
  [".example.test", "https://example.test"],
  ["*.example.test", "https://api.example.test"],
  ["other, example.test:6443", "https://example.test:6443"],
  ["example.test:6443", "https://example.test"],
  ["10.0.0.0/8", "https://10.96.0.1:1"],
  ["10.96.0.1:2", "https://10.96.0.1:1"],
];

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function document({ clusters = {}, users = {}, contexts = {}, current }: File): string {
  const list = (entries: Readonly<Record<string, object>>, key: string): object[] =>
    Object.entries(entries).map(([name, value]) => ({ name, [key]: value }));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: list(clusters, "cluster"),
    users: list(users, "user"),
    contexts: list(contexts, "context"),
    ...(current === undefined ? {} : { "current-context": current }),
  });
}

/** What kubectl would use, as we say it. */
function chosen(view: string): object {
  const { clusters, users, contexts } = JSON.parse(view) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[] | null;
    contexts: { context: { namespace?: string } }[];
  };
  const cluster = clusters[0]?.cluster ?? {};
  const user = users?.[0]?.user ?? {};
  const pem = (name: string, data: string | undefined): object =>
    data === undefined ? {} : { [name]: Buffer.from(data, "base64").toString() };
  const { token } = user;
  return {
    server: cluster["server"],
    namespace: contexts[0]?.context.namespace,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    tls: {
      ...pem("ca", cluster["certificate-authority-data"]),
      ...pem("certificate", user["client-certificate-data"]),
      ...pem("key", user["client-key-data"]),
    },
  };
}

async function kubectl(
  arguments_: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly stdout: string }> {
  return await new Promise((resolve) => {
    execFile(programPath("kubectl"), arguments_, { env, timeout: 120_000 }, (_, stdout) =>
      resolve({ stdout }),
    );
  });
}
