import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { DynamicObject } from "@keelson/client";

import { appWith, ownerless } from "../testing/index.ts";
import { sourcesReadBy } from "./read-sources.ts";
import { workloadOf } from "./workload.ts";

const settings = {
  ingressClass: "nginx",
  ingressRewrite: "nginx",
  clusterIssuer: "letsencrypt-prod",
} as const;
const app = appWith({ database: { enabled: true } });
const pods = { image: "shop:1", checksum: "c" };

suite("a workload", () => {
  test("has no token of the cluster's API, by its pods nor by their account", () => {
    const objects = workloadOf(app, settings, pods);
    const account = objects.find(({ kind }) => kind === "ServiceAccount");
    const deployment = objects.find(({ kind }) => kind === "Deployment");
    assert.ok(deployment !== undefined);
    const { template } = deployment["spec"] as unknown as {
      template: { spec: { automountServiceAccountToken?: boolean } };
    };
    assert.deepEqual(
      [account?.["automountServiceAccountToken"], template.spec.automountServiceAccountToken],
      [false, false],
    );
  });

  test("tells which Secrets and ConfigMaps its pods read", () => {
    const envVars = [{ name: "KEY", secretKeyRef: { name: "mail", key: "key" } }];
    const reading = appWith({ database: { enabled: true }, redis: { enabled: true }, envVars });
    const deployment = workloadOf(reading, settings, pods).find(
      ({ kind }) => kind === "Deployment",
    );
    assert.deepEqual([...sourcesReadBy(deployment)].toSorted(), [
      "ConfigMap my-app-redis",
      "Secret mail",
      "Secret my-app-db",
      "Secret my-app-env",
    ]);
    assert.deepEqual([...sourcesReadBy(undefined)], []);
  });

  test("of a preview has the certificate that previews share, and asks for none; others ask for theirs", () => {
    const shared = { ...settings, previewTlsSecret: "wildcard" };
    const issuer = "cert-manager.io/cluster-issuer";
    const shown = (objects: readonly DynamicObject[]) =>
      objects
        .filter(({ kind }) => kind === "Ingress")
        .map(({ metadata, spec }) => {
          const { tls } = spec as unknown as { tls: readonly { secretName: string }[] };
          const issuers = metadata.annotations?.[issuer] ?? "none";
          return [metadata.name, tls[0]?.secretName, issuers];
        });
    assert.deepEqual(shown(workloadOf(ownerless(app), shared, pods)), [
      ["my-app", "wildcard", "none"],
      ["my-app-api", "wildcard", "none"],
    ]);
    const own = [
      ["my-app", "my-app-tls", "letsencrypt-prod"],
      ["my-app-api", "my-app-tls", "none"],
    ];
    assert.deepEqual(shown(workloadOf(app, shared, pods)), own);
    assert.deepEqual(shown(workloadOf(ownerless(app), settings, pods)), own);
  });
});
