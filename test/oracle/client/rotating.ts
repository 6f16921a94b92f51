// Credentials that can be replaced while they are in use, one for each way that they are named.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";

import { systemClock, type JsonObject } from "@keelson/base";
import { loadKubeconfig, type Access, type Client } from "@keelson/client";

import { CertificateAuthority } from "../../tools/certificates.ts";
import type { Oracle } from "../cluster.ts";
import { kubeconfigOf } from "../../tools/kubeconfig.ts";
import { until } from "../../tools/until.ts";
import { AccountTokens, untilRefused } from "./account-tokens.ts";
import type { OidcIssuer } from "./oidc-issuer.ts";

export interface Parts {
  readonly oracle: Oracle;
  /** Of 127.0.0.1, on the way to the API server. */
  readonly port: number;
  readonly issuer: OidcIssuer;
  readonly serving: ServingFiles;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** What the API server shows under a name of its own; it looks at the files again and again. */
export interface ServingFiles {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  /** The authority behind it at the start. */
  readonly ca: string;
}

export interface Rotating {
  readonly access: Access;
  /** Puts another credential in place of the one in use. */
  readonly rotate: () => Promise<void>;
  /** Makes whoever uses what was used before be refused, and waits until it is so. */
  readonly refuseOld: () => Promise<void>;
  /** Whether the server knows a client as the present credential says. */
  readonly isUsed: (client: Client) => Promise<boolean>;
}

export const oidcClient = { clientId: "keelson", clientSecret: "s3cret-of-ours" } as const;

export const rotatingKinds: Readonly<Record<string, (parts: Parts) => Promise<Rotating>>> = {
  "a token in a file": async (parts) => {
    const { oracle, folder, signal } = parts;
    const file = join(folder, "token");
    const tokens = new AccountTokens(oracle, signal);
    put(file, await tokens.next());
    return {
      access: await accessOf(parts, { user: { tokenFile: file } }),
      rotate: async () => put(file, await tokens.next()),
      refuseOld: () => tokens.revokeBefore(),
      isUsed: async (client) => (await userOf(client, signal)).includes(tokens.account),
    };
  },

  "a token in a Pod": async ({ oracle, folder, port, signal }) => {
    const tokens = new AccountTokens(oracle, signal);
    const account = join(folder, "var/run/secrets/kubernetes.io/serviceaccount");
    mkdirSync(account, { recursive: true });
    let version = 0;
    // As the kubelet does it: a new folder, then a link that is replaced as a whole.
    const write = async (): Promise<void> => {
      const present = join(account, `..${++version}`);
      mkdirSync(present);
      writeFileSync(join(present, "token"), await tokens.next());
      writeFileSync(join(present, "ca.crt"), oracle.ca);
      writeFileSync(join(present, "namespace"), "team");
      symlinkSync(`..${version}`, join(account, "..new"));
      renameSync(join(account, "..new"), join(account, "..data"));
      rmSync(join(account, `..${version - 1}`), { recursive: true, force: true });
    };
    await write();
    for (const file of ["token", "ca.crt", "namespace"]) {
      symlinkSync(join("..data", file), join(account, file));
    }
    const pod = { inCluster: true, root: folder, server: `https://127.0.0.1:${port}` } as const;
    const access = await loadKubeconfig(pod, { clock: systemClock });
    assert.equal(access.namespace, "team");
    return {
      access,
      rotate: write,
      refuseOld: () => tokens.revokeBefore(),
      isUsed: async (client) => (await userOf(client, signal)).includes(tokens.account),
    };
  },

  "a plugin whose token expires": async (parts) => {
    const { oracle, folder, signal } = parts;
    const tokens = new AccountTokens(oracle, signal);
    const state = join(folder, "credential");
    const write = async (): Promise<void> => {
      // Two seconds: it expires in the middle of what follows.
      const expirationTimestamp = new Date(Date.now() + 2_000).toISOString();
      const status = { token: await tokens.next(), expirationTimestamp };
      put(state, JSON.stringify({ apiVersion: execVersion, kind: "ExecCredential", status }));
    };
    await write();
    const exec = { apiVersion: execVersion, command: "cat", args: [state] };
    return {
      access: await accessOf(parts, { user: { exec } }),
      rotate: write,
      refuseOld: () => tokens.revokeBefore(),
      isUsed: async (client) => (await userOf(client, signal)).includes(tokens.account),
    };
  },

  "a plugin whose certificate expires": async (parts) => {
    const { oracle, folder, signal } = parts;
    const state = join(folder, "credential");
    let issued = 0;
    const write = async (): Promise<void> => {
      const pair = await oracle.issue({ name: `plugged-${issued++}`, groups: ["testers"] });
      const status = {
        clientCertificateData: pair.certificate,
        clientKeyData: pair.key,
        expirationTimestamp: new Date(Date.now() + 2_000).toISOString(),
      };
      put(state, JSON.stringify({ apiVersion: execVersion, kind: "ExecCredential", status }));
    };
    await write();
    const exec = { apiVersion: execVersion, command: "cat", args: [state] };
    return {
      access: await accessOf(parts, { user: { exec } }),
      rotate: write,
      refuseOld: noRevocation,
      isUsed: async (client) => (await userOf(client, signal)) === `plugged-${issued - 1}`,
    };
  },

  "a certificate in a file": async (parts) => {
    const { oracle, folder, signal } = parts;
    const [certificate, key] = [join(folder, "crt"), join(folder, "key")];
    let issued = 0;
    const write = async (): Promise<void> => {
      const pair = await oracle.issue({ name: `filed-${issued++}`, groups: ["testers"] });
      put(certificate, pair.certificate);
      put(key, pair.key);
    };
    await write();
    const user = { "client-certificate": certificate, "client-key": key };
    return {
      access: await accessOf(parts, { user }),
      rotate: write,
      refuseOld: noRevocation,
      isUsed: async (client) => (await userOf(client, signal)) === `filed-${issued - 1}`,
    };
  },

  "an ID token of a provider": async (parts) => {
    const { oracle, issuer, folder, signal } = parts;
    const { idToken, refreshToken } = issuer.issue();
    const config = {
      "idp-issuer-url": issuer.url,
      "idp-certificate-authority-data": Buffer.from(issuer.ca).toString("base64"),
      "client-id": oidcClient.clientId,
      "client-secret": oidcClient.clientSecret,
      "id-token": idToken,
      "refresh-token": refreshToken,
    };
    const access = await accessOf(parts, { user: { "auth-provider": { name: "oidc", config } } });
    return {
      access,
      // It is the client that replaces it, before it runs out.
      rotate: async () => {
        const before = issuer.idTokens.length;
        await until(() => issuer.idTokens.length > before, signal);
      },
      refuseOld: () => untilRefused(oracle, idToken, signal),
      isUsed: async (client) => {
        const before = issuer.idTokens.length;
        const user = await userOf(client, signal);
        // Each was asked for with the refresh token of the one before, which is good for one use.
        assert.equal(issuer.refusals, 0);
        const written = readFileSync(join(folder, "kubeconfig"), "utf8");
        assert.ok(
          issuer.idTokens.slice(1).some((token) => written.includes(token)),
          written,
        );
        return user === `oidc:user-${before - 1}`;
      },
    };
  },

  "the server's certificate and its authority": async (parts) => {
    const { oracle, serving, folder, port, signal } = parts;
    const file = join(folder, "ca.crt");
    writeFileSync(file, serving.ca);
    const { certificate, key } = oracle.admin;
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const access = await accessOf(parts, {
      user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) },
      cluster: { "certificate-authority": file, "tls-server-name": serving.name },
    });
    let present = serving.ca;
    return {
      access,
      // First both are trusted, then the other is shown.
      rotate: async () => {
        const authority = await CertificateAuthority.create("other-ca");
        const pair = await authority.issue({ name: serving.name, hosts: [serving.name] });
        put(file, `${present}\n${authority.certificate}`);
        present = authority.certificate;
        put(serving.key, pair.key);
        put(serving.certificate, pair.certificate);
      },
      refuseOld: async () => {
        const ask = { port, host: "127.0.0.1", servername: serving.name, ca: present };
        await until(() => isTrusted(ask), signal);
        put(file, present);
      },
      isUsed: async (client) => (await userOf(client, signal)) === "oracle-admin",
    };
  },
};

const execVersion = "client.authentication.k8s.io/v1";

/** There is no list of revoked certificates: another user tells that the other is in use. */
const noRevocation = async (): Promise<void> => undefined;

/** Who a client is to the server. */
async function userOf(client: Client, signal: AbortSignal): Promise<string> {
  const kind = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const reviews = await client.resource(kind, signal);
  const review = await reviews.create({ ...kind, metadata: {} }, {}, signal);
  return (
    (review as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username ?? ""
  );
}

/** Whether whoever answers there shows a certificate of this authority. */
async function isTrusted(options: {
  readonly port: number;
  readonly host: string;
  readonly servername: string;
  readonly ca: string;
}): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(options, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** As a whole: a reader must not see half of it. */
function put(file: string, text: string): void {
  writeFileSync(`${file}.next`, text);
  renameSync(`${file}.next`, file);
}

async function accessOf(
  { oracle, folder, port }: Parts,
  { user, cluster = {} }: { user: JsonObject; cluster?: JsonObject },
): Promise<Access> {
  const data = Buffer.from(oracle.ca).toString("base64");
  const trust = "certificate-authority" in cluster ? {} : { "certificate-authority-data": data };
  const server = `https://127.0.0.1:${port}`;
  const file = join(folder, "kubeconfig");
  writeFileSync(file, JSON.stringify(kubeconfigOf({ server, ...trust, ...cluster }, user)));
  return await loadKubeconfig({ files: [file] }, { clock: systemClock });
}
