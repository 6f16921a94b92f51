// Credentials that change in the middle of a watch: no event is lost.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CertificateAuthority } from "../../tools/certificates.ts";
import { startOracle } from "../cluster.ts";
import { oracleTest } from "../oracle-test.ts";
import { until } from "../../tools/until.ts";
import { accessTo, clientOf, configMap, configMapKind, follow, proxyTo } from "./bed.ts";
import { OidcIssuer } from "./oidc-issuer.ts";
import { oidcClient, rotatingKinds, type ServingFiles } from "./rotating.ts";

/** Short, so that many watches begin while the credentials change. */
const limits = { quietMs: 400, shortSeconds: 1, silenceMs: 5_000, longSeconds: 1 };

/** In each the server takes ten seconds until it refuses: it remembers tokens for so long. */
const rounds = Number(process.env["CREDENTIALS_ROUNDS"] ?? 1);

/** Declares the test. */
export function describeCredentials(): void {
  oracleTest(
    "tokens, plugins, providers and certificates change in mid-watch, and no event is lost",
    async (t) => {
      using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-credentials-"));
      const groups = ["testers"];
      await using issuer = await OidcIssuer.start({ ...oidcClient, groups, lifeSeconds: 4 });
      const serving = await servingFiles(folder.path);
      const flags = { "kube-apiserver": flagsFor(issuer, serving, folder.path) };
      await using oracle = await startOracle({ flags }, t.signal);
      await using near = clientOf(accessTo(oracle));
      const maps = await near.resource(configMapKind, t.signal);
      const bindings = await near.resource(bindingKind, t.signal);
      await bindings.create(adminsBinding, {}, t.signal);
      await Promise.all(
        Object.entries(rotatingKinds).map(async ([what, prepare]) => {
          const prefix = `event-${what.replaceAll(/\W/g, "-").toLowerCase()}-`;
          const own = join(folder.path, prefix);
          mkdirSync(own);
          await using proxy = await proxyTo(oracle);
          const { port } = proxy;
          const parts = { oracle, issuer, serving, folder: own, port, signal: t.signal };
          const { access, rotate, refuseOld, isUsed } = await prepare(parts);
          await using far = clientOf(access);
          await using followed = follow(far, { resource: maps.resource, limits });
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

async function servingFiles(folder: string): Promise<ServingFiles> {
  const authority = await CertificateAuthority.create("first-ca");
  const name = "rotating.test";
  const pair = await authority.issue({ name, hosts: [name] });
  const [certificate, key] = [join(folder, "serving.crt"), join(folder, "serving.key")];
  writeFileSync(certificate, pair.certificate);
  writeFileSync(key, pair.key);
  return { name, certificate, key, ca: authority.certificate };
}

function flagsFor(issuer: OidcIssuer, serving: ServingFiles, folder: string): string[] {
  const ca = join(folder, "issuer.crt");
  writeFileSync(ca, issuer.ca);
  return [
    `--oidc-issuer-url=${issuer.url}`,
    `--oidc-client-id=${oidcClient.clientId}`,
    `--oidc-ca-file=${ca}`,
    "--oidc-username-claim=sub",
    "--oidc-username-prefix=oidc:",
    "--oidc-groups-claim=groups",
    `--tls-sni-cert-key=${serving.certificate},${serving.key}:${serving.name}`,
  ];
}
