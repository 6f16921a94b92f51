import assert from "node:assert/strict";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";

import type { Credential } from "./credentials.ts";
import { loadKubeconfig, type KubeconfigOptions } from "./kubeconfig.ts";

const good = {
  clusters: { c: { server: "https://c" } },
  users: { u: { token: "secret" } },
  contexts: { ctx: { cluster: "c", user: "u" } },
  current: "ctx",
};

/** Plugins, as programs of the shell. */
const printer = `#!/bin/sh
printf '{"kind":"ExecCredential","status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')"
`;
const counter = `#!/bin/sh
echo run >> "$1"
echo '{"kind":"ExecCredential","status":{"token":"t"}}'
`;
const gated = `#!/bin/sh
while [ ! -e "$1" ] && [ -e "$0" ]; do sleep 0.05; done
echo '{"kind":"ExecCredential","status":{"token":"passed"}}'
`;

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

  test("a plugin is told of the cluster it is asked for, whichever file names it", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    writeFileSync(join(folder.path, "ca.crt"), "CA");
    writeFileSync(join(folder.path, "plugin"), printer, { mode: 0o755 });
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "./plugin",
      provideClusterInfo: true,
    };
    const extension = { audience: "us" };
    const first = write(folder.path, "one", {
      clusters: {
        a: { server: "https://a" },
        b: {
          server: "https://b",
          "certificate-authority": "ca.crt",
          "tls-server-name": "inner",
          extensions: [
            { name: "other", extension: {} },
            { name: "client.authentication.k8s.io/exec", extension },
          ],
        },
      },
      contexts: { x: { cluster: "a", user: "shared" }, y: { cluster: "b", user: "shared" } },
      current: "x",
    });
    const second = write(folder.path, "two", { users: { shared: { exec } } });
    const { credentials } = await loadKubeconfig(
      { files: [first, second] },
      options({ context: "y" }),
    );
    const { headers } = await credentials.current(never);
    const told = Buffer.from(String(headers["authorization"]).slice(7), "base64").toString();
    assert.deepEqual((JSON.parse(told) as { spec: unknown }).spec, {
      interactive: false,
      cluster: {
        server: "https://b",
        "certificate-authority-data": base64("CA"),
        "tls-server-name": "inner",
        config: extension,
      },
    });
  });

  test("a plugin's cluster whose authority cannot be read is refused by the file's name", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "plugin" };
    const file = write(folder.path, "config", {
      ...good,
      clusters: { c: { server: "https://c", "certificate-authority": "gone.crt" } },
      users: { u: { exec } },
    });
    await assert.rejects(loadKubeconfig({ files: [file] }, options()), {
      code: "BAD_KUBECONFIG",
      message: `the certificate-authority ${join(folder.path, "gone.crt")} cannot be read`,
    });
  });

  test("entries that are not finished, and files that are empty, are in nobody's way", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const empty = join(folder.path, "empty");
    writeFileSync(empty, "# nothing yet\n");
    const file = write(folder.path, "config", {
      ...good,
      clusters: { ...good.clusters, half: {} },
      contexts: { ...good.contexts, half: { user: "u" } },
    });
    const { server } = await loadKubeconfig({ files: [empty, file] }, options());
    assert.equal(server, "https://c");
  });

  test("one plugin runs for all who are refused about the same time", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const clock = new ManualClock();
    const log = join(folder.path, "runs");
    writeFileSync(join(folder.path, "plugin"), counter, { mode: 0o755 });
    const exec = { command: "./plugin", args: [log] };
    const file = write(folder.path, "config", { ...good, users: { u: { exec } } });
    const { credentials } = await loadKubeconfig({ files: [file] }, options({ clock }));
    const runs = (): number => readFileSync(log, "utf8").trim().split("\n").length;
    await credentials.current(never);
    for (let i = 0; i < 5; i++) {
      credentials.renew();
      await credentials.current(never);
    }
    assert.equal(runs(), 2);
    await clock.advance(1_000);
    credentials.renew();
    await credentials.current(never);
    assert.equal(runs(), 3);
  });

  test("a plugin that never ends is given up, and run anew", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
    const clock = new ManualClock();
    const gate = join(folder.path, "gate");
    writeFileSync(join(folder.path, "plugin"), gated, { mode: 0o755 });
    const exec = { command: "./plugin", args: [gate] };
    const file = write(folder.path, "config", { ...good, users: { u: { exec } } });
    const { credentials } = await loadKubeconfig({ files: [file] }, options({ clock }));
    const waiting = credentials.current(never);
    const refused = assert.rejects(waiting, { code: "BAD_KUBECONFIG", message: /cannot be had/ });
    await clock.advance(60_000);
    await refused;
    writeFileSync(gate, "open");
    const { headers } = await credentials.current(never);
    assert.equal(headers["authorization"], "Bearer passed");
  });

  const proxied: readonly (readonly [
    what: string,
    proxyUrl: string,
    expected: string | undefined,
  ])[] = [
    ["its own proxy goes before the environment's", "proxy:3128", "http://proxy:3128"],
    ["without one the environment's is used", "", "http://env:1"],
  ];
  for (const [what, proxyUrl, expected] of proxied) {
    test(what, async () => {
      const clusters = { c: { server: "https://c", "proxy-url": proxyUrl } };
      const text = document({ ...good, clusters });
      const proxies = { httpsProxy: "http://env:1", noProxy: "d" };
      const access = await loadKubeconfig({ text }, options({ proxies }));
      assert.equal(access.proxyUrl, expected);
    });
  }

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
      const named = await loadKubeconfig({ ...source, server: "https://named" }, options());
      assert.equal(named.server, "https://named");
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

  const bad: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ["no YAML", "a: [", /cannot be understood/],
    ["no object", "- a", /must be an object/],
    ["no context", document({ ...good, current: "" }), /no current context/],
    ["an unknown context", document({ ...good, current: "x" }), /no context x/],
    ["an unknown cluster", document({ ...good, clusters: {} }), /no cluster that is there/],
    [
      "a proxy that nobody can use",
      document({ ...good, clusters: { c: { server: "https://c", "proxy-url": "ftp://p" } } }),
      /the proxy on the way to https:\/\/c cannot be used/,
    ],
    [
      "a provider to ask",
      document({ ...good, users: { u: { "auth-provider": { name: "oidc" } } } }),
      /user u uses auth-provider/,
    ],
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
