// The files a cluster's programs read: certificates, keys, tokens, kubeconfigs.

import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CertificateAuthority, createSigningKey, type KeyPair } from "../tools/certificates.ts";
import { kubeconfigOf } from "../tools/kubeconfig.ts";

/** Who talks to the API server with a certificate of its own. */
const users = {
  admin: { name: "oracle-admin", groups: ["system:masters"] },
  "kube-controller-manager": { name: "system:kube-controller-manager", groups: ["system:masters"] },
  "kube-scheduler": { name: "system:kube-scheduler", groups: [] },
} as const;

/** What a client of a cluster, or an aggregated server behind it, needs to know. */
export interface ClusterIdentity {
  /** Signs the serving certificate and every client certificate. */
  readonly authority: CertificateAuthority;
  /** Signs whoever may speak for others by `X-Remote-User`. */
  readonly frontProxyAuthority: CertificateAuthority;
  readonly admin: KeyPair & { readonly token: string };
}

/** Writes everything into `folder`; `url` is where the API server will be. */
export async function writeClusterFiles(folder: string, url: string): Promise<ClusterIdentity> {
  const [authority, frontProxyAuthority, signing] = await Promise.all([
    CertificateAuthority.create("oracle-ca"),
    CertificateAuthority.create("oracle-front-proxy-ca"),
    createSigningKey(),
  ]);
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  const writePair = (name: string, { certificate, key }: KeyPair): void => {
    write(`${name}.crt`, certificate);
    write(`${name}.key`, key);
  };

  writePair("ca", authority);
  writePair("front-proxy-ca", frontProxyAuthority);
  writePair("front-proxy-client", await frontProxyAuthority.issue({ name: "front-proxy-client" }));
  write("service-accounts.pub", signing.public);
  write("service-accounts.key", signing.private);
  const hosts = ["127.0.0.1", "localhost", "10.96.0.1", "kubernetes.default.svc"];
  writePair("apiserver", await authority.issue({ name: "kube-apiserver", hosts }));

  const pairs = await Promise.all(
    Object.entries(users).map(async ([file, subject]) => ({
      file,
      pair: await authority.issue(subject),
    })),
  );
  for (const { file, pair } of pairs) {
    write(`${file}.kubeconfig`, kubeconfigFor({ url, ca: authority.certificate, ...pair }));
  }

  const token = randomBytes(24).toString("hex");
  write("tokens.csv", `${token},${users.admin.name},oracle-admin,"system:masters"\n`);
  // The system's folder of short-lived files would do, but it is not ours to fill.
  mkdirSync(join(folder, "etcd"), { mode: 0o700 });
  const admin = pairs.find(({ file }) => file === "admin");
  if (admin === undefined) throw new Error("there is no admin");
  return { authority, frontProxyAuthority, admin: { ...admin.pair, token } };
}

export type KubeconfigParts = { readonly url: string; readonly ca: string } & (
  | KeyPair
  | { readonly token: string }
);

/** A kubeconfig with everything inside, a key or a token. JSON, which is YAML. */
export function kubeconfigFor({ url, ca, ...by }: KubeconfigParts): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const user =
    "token" in by
      ? { token: by.token }
      : { "client-certificate-data": base64(by.certificate), "client-key-data": base64(by.key) };
  const cluster = { server: url, "certificate-authority-data": base64(ca) };
  return `${JSON.stringify(kubeconfigOf(cluster, user), undefined, 2)}\n`;
}
