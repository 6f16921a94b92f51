// Our server for a test, in this process: TLS, an authority of the test's own, SQLite or PostgreSQL.

import { randomBytes, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { ApiServer, anonymous, type Authenticator } from "@keelson/apiserver";
import { SqliteBackend, Store } from "@keelson/store";

import { CertificateAuthority, type Subject } from "../oracle/certificates.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { HttpClient } from "../oracle/http-client.ts";
import type { Target } from "./target.ts";

/** Starts it on loopback; it is gone after disposal. */
export async function startOurs(signal: AbortSignal): Promise<Target> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "keelson-ours-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const authority = await CertificateAuthority.create("oracle-ca");
  const serving = await authority.issue({
    name: "kube-apiserver",
    hosts: ["127.0.0.1", "localhost"],
  });
  const clock = systemClock;
  const backend = new SqliteBackend({ path: join(folder, "apiserver.db"), clock });
  const store = undo.use(await Store.open({ backend, clock, log: silentLog }, signal));
  const api = undo.use(
    await ApiServer.start(
      {
        store,
        clock,
        log: silentLog,
        random: systemRandom,
        metrics: noMetrics,
        authenticator: byCertificate,
        rootCertificate: authority.certificate,
        tls: { cert: serving.certificate, key: serving.key, ca: authority.certificate },
      },
      signal,
    ),
  );
  const { port } = await api.listen({ host: "127.0.0.1", port: 0 });
  const url = `https://127.0.0.1:${port}`;
  const ca = authority.certificate;
  const pair = await authority.issue({ name: "oracle-admin", groups: ["system:masters"] });
  const admin = { ...pair, token: randomBytes(24).toString("hex") };
  const kubeconfig = join(folder, "admin.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigFor({ url, ca, ...pair }), { mode: 0o600 });
  const client = undo.use(new HttpClient({ url, ca, ...pair }));
  const disposal = undo.move();
  return {
    url,
    ca,
    admin,
    kubeconfig,
    folder,
    client,
    connectAs: (identity) => new HttpClient({ url, ca, ...identity }),
    issue: async (subject: Subject) => await authority.issue(subject),
    [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
  };
}

const byCertificate: Authenticator = {
  authenticate: ({ certificates }) => {
    const [own] = certificates;
    return own === undefined ? { user: anonymous } : { user: userOf(own) };
  },
};

function userOf(certificate: X509Certificate): typeof anonymous {
  const parts = certificate.subject.split("\n").map((line) => line.split("="));
  const values = (key: string): string[] =>
    parts.filter(([name]) => name === key).map(([, ...value]) => value.join("="));
  return {
    name: values("CN")[0] ?? "",
    uid: "",
    groups: [...values("O"), "system:authenticated"],
    extra: {
      "authentication.kubernetes.io/credential-id": [
        `X509SHA256=${certificate.fingerprint256.replaceAll(":", "").toLowerCase()}`,
      ],
    },
  };
}
