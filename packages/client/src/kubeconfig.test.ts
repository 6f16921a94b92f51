import assert from "node:assert/strict";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";

import type { Credential } from "./credentials.ts";
import { loadKubeconfig, type KubeconfigOptions } from "./kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

suite("kubeconfig", () => {
  test("of several files the first to name a thing wins, and missing ones are skipped", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const first = write(folder.path, "one", {
      clusters: { shared: { server: "https://first:6443/" } },
      users: { me: { token: "one" } },
    });
    const second = write(folder.path, "two", {
      clusters: { shared: { server: "https://second" }, other: { server: "https://other" } },
      users: { me: { token: "two" } },
      contexts: { ctx: { cluster: "shared", user: "me", namespace: "team" } },
      current: "ctx",
    });
    const files = [join(folder.path, "missing"), first, second];
    const { server, namespace, credentials } = await loadKubeconfig({ files }, options());
    const { headers } = await credentials.current(never);
    assert.deepEqual(
      { server, namespace, headers },
      { server: "https://first:6443", namespace: "team", headers: { authorization: "Bearer one" } },
    );
  });

  test("certificates, names and impersonation reach the connection", async () => {
    const text = document({
      clusters: {
        c: {
          server: "https://c",
          "certificate-authority-data": base64("CA"),
          "tls-server-name": "inner",
          "proxy-url": "http://proxy:3128",
        },
      },
      users: {
        u: {
          "client-certificate-data": base64("CERT"),
          "client-key-data": base64("KEY"),
          as: "somebody",
          "as-groups": ["a", "b"],
          "as-user-extra": { "example.com/Scope": ["x"] },
        },
      },
      contexts: { ctx: { cluster: "c", user: "u" } },
      current: "ctx",
    });
    const access = await loadKubeconfig({ text }, options({ trust: "data" }));
    assert.equal(access.proxyUrl, "http://proxy:3128");
    assert.deepEqual(await access.credentials.current(never), {
      headers: {
        "impersonate-user": "somebody",
        "impersonate-group": ["a", "b"],
        "impersonate-extra-example.com%2fscope": ["x"],
      },
      tls: { ca: "CA", certificate: "CERT", key: "KEY", serverName: "inner" },
    } satisfies Credential);
  });

  test("files are looked at again: tokens and certificates may rotate", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const clock = new ManualClock();
    const put = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
    put("token", "first\n");
    put("crt", "CERT 1");
    put("key", "KEY 1");
    const file = write(folder.path, "config", {
      clusters: { c: { server: "https://c" } },
      users: { u: { tokenFile: "token", "client-certificate": "crt", "client-key": "key" } },
      contexts: { ctx: { cluster: "c", user: "u" } },
      current: "ctx",
    });
    const { credentials } = await loadKubeconfig({ files: [file] }, options({ clock }));
    const seen = async (): Promise<unknown> => {
      const { headers, tls } = await credentials.current(never);
      return [headers["authorization"], tls.certificate];
    };
    assert.deepEqual(await seen(), ["Bearer first", "CERT 1"]);
    put("token", "second");
    put("crt", "CERT 2");
    assert.deepEqual(await seen(), ["Bearer first", "CERT 1"], "held for a second");
    await clock.advance(1_000);
    assert.deepEqual(await seen(), ["Bearer first", "CERT 2"], "tokens are held for a minute");
    credentials.renew();
    assert.deepEqual(await seen(), ["Bearer second", "CERT 2"]);
  });

  test("a plugin runs once for all who ask at once, and again when told", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const log = join(folder.path, "runs");
    const plugin = join(folder.path, "plugin.mjs");
    writeFileSync(
      plugin,
      `import { appendFileSync, readFileSync } from "node:fs";
       appendFileSync(${JSON.stringify(log)}, process.env.KUBERNETES_EXEC_INFO + "\\n");
       const runs = readFileSync(${JSON.stringify(log)}, "utf8").trim().split("\\n").length;
       console.log(JSON.stringify({ kind: "ExecCredential", status: { token: "token-" + runs } }));`,
    );
    const text = document({
      clusters: { c: { server: "https://c", "certificate-authority-data": base64("CA") } },
      users: {
        u: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: process.execPath,
            args: [plugin],
            provideClusterInfo: true,
          },
        },
      },
      contexts: { ctx: { cluster: "c", user: "u" } },
      current: "ctx",
    });
    const { credentials } = await loadKubeconfig({ text }, options());
    const tokens = async (): Promise<unknown[]> => {
      const three = await Promise.all([1, 2, 3].map(() => credentials.current(never)));
      return three.map(({ headers }) => headers["authorization"]);
    };
    assert.deepEqual(new Set(await tokens()), new Set(["Bearer token-1"]));
    credentials.renew();
    assert.deepEqual(new Set(await tokens()), new Set(["Bearer token-2"]));
    const [told = ""] = readFileSync(log, "utf8").split("\n");
    assert.deepEqual(JSON.parse(told), {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: {
        interactive: false,
        cluster: { server: "https://c", "certificate-authority-data": base64("CA") },
      },
    });
  });

  test("in a cluster the Pod's own account is used", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const account = join(folder.path, "var/run/secrets/kubernetes.io/serviceaccount");
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, "ca.crt"), "CA");
    writeFileSync(join(account, "token"), "pod-token");
    writeFileSync(join(account, "namespace"), "team");
    process.env["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
    process.env["KUBERNETES_SERVICE_PORT"] = "443";
    try {
      const source = { inCluster: true, root: folder.path } as const;
      const { server, namespace, credentials } = await loadKubeconfig(source, options());
      assert.deepEqual([server, namespace], ["https://10.96.0.1:443", "team"]);
      assert.deepEqual(await credentials.current(never), {
        headers: { authorization: "Bearer pod-token" },
        tls: { ca: "CA" },
      });
    } finally {
      delete process.env["KUBERNETES_SERVICE_HOST"];
      delete process.env["KUBERNETES_SERVICE_PORT"];
    }
  });

  test("outside a cluster nobody finds one", async () => {
    const loading = loadKubeconfig({ inCluster: true }, options());
    await assert.rejects(loading, /this is no Pod of a cluster/);
  });

  const good = {
    clusters: { c: { server: "https://c" } },
    users: { u: { token: "secret" } },
    contexts: { ctx: { cluster: "c", user: "u" } },
    current: "ctx",
  };
  const bad: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ["no YAML", "a: [", /cannot be understood/],
    ["no object", "- a", /must be an object/],
    ["no context", document({ ...good, current: "" }), /no current context/],
    ["an unknown context", document({ ...good, current: "x" }), /no context x/],
    ["an unknown cluster", document({ ...good, clusters: {} }), /no cluster that is there/],
    ["a strange server", document({ ...good, clusters: { c: { server: "ftp://c" } } }), /http/],
    [
      "a program to run",
      document({ ...good, users: { u: { exec: { command: "id" } } } }),
      /user u uses exec, which is not allowed/,
    ],
    [
      "a file to read",
      document({ ...good, users: { u: { tokenFile: "/etc/passwd" } } }),
      /user u uses tokenFile/,
    ],
    [
      "a file of a cluster",
      document({
        ...good,
        clusters: { c: { server: "https://c", "certificate-authority": "/x" } },
      }),
      /cluster c uses certificate-authority/,
    ],
  ];
  for (const [what, text, message] of bad) {
    test(`refuses ${what}`, async () => {
      const loading = loadKubeconfig({ text }, options({ trust: "data" }));
      await assert.rejects(loading, { code: "BAD_KUBECONFIG", message });
    });
  }
});

const never = new AbortController().signal;

function options(more: Partial<KubeconfigOptions> = {}): KubeconfigOptions {
  return { clock: new ManualClock(), ...more };
}

interface Parts {
  readonly clusters?: Readonly<Record<string, object>>;
  readonly users?: Readonly<Record<string, object>>;
  readonly contexts?: Readonly<Record<string, object>>;
  readonly current?: string;
}

/** JSON, which is YAML. */
function document({ clusters = {}, users = {}, contexts = {}, current = "" }: Parts): string {
  const list = (entries: Readonly<Record<string, object>>, key: string): object[] =>
    Object.entries(entries).map(([name, value]) => ({ name, [key]: value }));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: list(clusters, "cluster"),
    users: list(users, "user"),
    contexts: list(contexts, "context"),
    "current-context": current,
  });
}

function write(folder: string, name: string, parts: Parts): string {
  const path = join(folder, name);
  writeFileSync(path, document(parts));
  return path;
}
