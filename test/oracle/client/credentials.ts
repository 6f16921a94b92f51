// Credentials that change in the middle of a watch: no event is lost.

import assert from "node:assert/strict";
import { mkdtempDisposableSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "@keelson/base";
import { loadKubeconfig, type Client } from "@keelson/client";

import { startOracle, type Oracle } from "../cluster.ts";
import { oracleTest } from "../oracle-test.ts";
import type { TcpProxy } from "../tcp-proxy.ts";
import { until } from "../until.ts";
import { accessTo, clientOf, configMap, configMapKind, follow, proxyTo } from "./bed.ts";

/** Short, so that many watches begin while the credentials change. */
const limits = { quietMs: 400, shortSeconds: 1, silenceMs: 5_000, longSeconds: 1 };

/** In each the server takes ten seconds until it refuses: it remembers tokens for so long. */
const rounds = Number(process.env["CREDENTIALS_ROUNDS"] ?? 1);

/** Declares the test. */
export function describeCredentials(): void {
  oracleTest(
    "tokens, plugins and certificates change in mid-watch, and no event is lost",
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      await using near = clientOf(accessTo(oracle));
      const maps = await near.resource(configMapKind, t.signal);
      const bindings = await near.resource(bindingKind, t.signal);
      await bindings.create(adminsBinding, {}, t.signal);
      await Promise.all(
        Object.entries(kinds).map(async ([what, prepare]) => {
          using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-credentials-"));
          await using proxy = await proxyTo(oracle);
          const parts = { oracle, folder: folder.path, signal: t.signal };
          const { user, rotate, refuseOld, isUsed } = await prepare(parts);
          const file = join(folder.path, "kubeconfig");
          writeFileSync(file, kubeconfig(oracle, proxy, user));
          const access = await loadKubeconfig({ files: [file] }, { clock: systemClock });
          await using far = clientOf(access);
          await using followed = follow(far, { resource: maps.resource, limits });
          const prefix = `event-${what.replaceAll(" ", "-")}-`;
          const seen: string[] = [];
          followed.cache.subscribe(({ type, object: { metadata } }) => {
            const { name = "" } = metadata;
            if (type === "added" && name.startsWith(prefix)) seen.push(name);
          });
          await followed.cache.untilSynced(t.signal);
          const written: string[] = [];
          const write = async (): Promise<void> => {
            for (let i = 0; i < 10; i++) {
              const name = `${prefix}${written.length}`;
              await maps.create(configMap(name, {}), {}, t.signal);
              written.push(name);
            }
          };
          for (let round = 0; round < rounds; round++) {
            await write();
            await rotate();
            await write();
            await refuseOld();
            proxy.cut();
            await write();
          }
          await until(() => seen.length >= written.length, t.signal);
          assert.deepEqual(seen, written, `${what}: each is announced once, in order`);
          await until(() => isUsed(far), t.signal); // Within a second: files are looked at no oftener.
        }),
      );
    },
  );
}

interface Parts {
  readonly oracle: Oracle;
  readonly folder: string;
  readonly signal: AbortSignal;
}

interface Rotating {
  /** The user of the kubeconfig. */
  readonly user: object;
  /** Puts another credential in place of the one in use. */
  readonly rotate: () => Promise<void>;
  /** Makes the server refuse what was used before, and waits until it does. */
  readonly refuseOld: () => Promise<void>;
  /** Whether the server knows a client as the present credential says. */
  readonly isUsed: (client: Client) => Promise<boolean>;
}

const kinds: Readonly<Record<string, (parts: Parts) => Promise<Rotating>>> = {
  "a token in a file": async ({ oracle, folder, signal }) => {
    const file = join(folder, "token");
    const tokens = accountTokens(oracle, signal);
    put(file, await tokens.next());
    return {
      user: { tokenFile: file },
      rotate: async () => put(file, await tokens.next()),
      refuseOld: () => tokens.revokeBefore(),
      isUsed: async (client) => (await userOf(client, signal)).includes(tokens.account),
    };
  },
  "a plugin whose credential expires": async ({ oracle, folder, signal }) => {
    const tokens = accountTokens(oracle, signal);
    const state = join(folder, "credential");
    const write = async (): Promise<void> => {
      // Two seconds: it expires in the middle of what follows.
      const expirationTimestamp = new Date(Date.now() + 2_000).toISOString();
      const status = { token: await tokens.next(), expirationTimestamp };
      put(state, JSON.stringify({ apiVersion: execVersion, kind: "ExecCredential", status }));
    };
    await write();
    return {
      user: { exec: { apiVersion: execVersion, command: "cat", args: [state] } },
      rotate: write,
      refuseOld: () => tokens.revokeBefore(),
      isUsed: async (client) => (await userOf(client, signal)).includes(tokens.account),
    };
  },
  "a certificate in a file": async ({ oracle, folder, signal }) => {
    const [certificate, key] = [join(folder, "crt"), join(folder, "key")];
    let issued = 0;
    const write = async (): Promise<void> => {
      const pair = await oracle.issue({ name: `user-${issued++}`, groups: ["testers"] });
      put(certificate, pair.certificate);
      put(key, pair.key);
    };
    await write();
    return {
      user: { "client-certificate": certificate, "client-key": key },
      rotate: write,
      // There is no list of revoked certificates: another user tells that the other is in use.
      refuseOld: async () => undefined,
      isUsed: async (client) => (await userOf(client, signal)) === `user-${issued - 1}`,
    };
  },
};

const execVersion = "client.authentication.k8s.io/v1";
const bindingKind = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" };
const adminsBinding = {
  ...bindingKind,
  metadata: { name: "testers" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  subjects: [
    { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "testers" },
    { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:serviceaccounts" },
  ],
};

/** Tokens of service accounts, each bound to a Secret: without the Secret the token is refused. */
function accountTokens(oracle: Oracle, signal: AbortSignal) {
  const issued: { readonly name: string; readonly token: string }[] = [];
  const send = async (method: "POST" | "DELETE", path: string, body?: object) => {
    const response = await oracle.client.send({ method, path, body }, signal);
    assert.ok(response.status < 300, response.text);
    return response.body as { metadata: { uid: string }; status: { token: string } };
  };
  const account = `account-${crypto.randomUUID().slice(0, 8)}`;
  let isThere = false;
  return {
    account,
    next: async (): Promise<string> => {
      if (!isThere) {
        const body = { metadata: { name: account } };
        await send("POST", "/api/v1/namespaces/default/serviceaccounts", body);
        isThere = true;
      }
      const name = `bound-${crypto.randomUUID().slice(0, 8)}`;
      const secret = await send("POST", "/api/v1/namespaces/default/secrets", {
        metadata: { name },
      });
      const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid: secret.metadata.uid };
      const path = `/api/v1/namespaces/default/serviceaccounts/${account}/token`;
      const { status } = await send("POST", path, { spec: { boundObjectRef } });
      issued.push({ name, token: status.token });
      return status.token;
    },
    revokeBefore: async (): Promise<void> => {
      for (const { name, token } of issued.splice(0, issued.length - 1)) {
        await send("DELETE", `/api/v1/namespaces/default/secrets/${name}`);
        using old = oracle.connectAs({ token });
        const ask = { path: "/api/v1/namespaces" };
        await until(async () => (await old.send(ask, signal)).status === 401, signal);
      }
    },
  };
}

/** Who a client is to the server. */
async function userOf(client: Client, signal: AbortSignal): Promise<string> {
  const kind = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const reviews = await client.resource(kind, signal);
  const review = await reviews.create({ ...kind, metadata: {} }, {}, signal);
  return (
    (review as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username ?? ""
  );
}

/** As a whole: a reader must not see half of it. */
function put(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function kubeconfig(oracle: Oracle, proxy: TcpProxy, user: object): string {
  const { clusters } = JSON.parse(readFileSync(oracle.kubeconfig, "utf8")) as {
    clusters: { cluster: object }[];
  };
  const server = `https://127.0.0.1:${proxy.port}`;
  return JSON.stringify({
    clusters: [{ name: "c", cluster: { ...clusters[0]?.cluster, server } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}
