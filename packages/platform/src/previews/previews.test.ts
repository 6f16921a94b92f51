import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { DynamicObject } from "@keelson/client";
import { parseQuantity, scaledValue } from "@keelson/kube";

import type { App } from "../app.ts";
import type { ApplicationSpec } from "../kinds/application.ts";
import { migrationJobOf } from "../steps/database-migrations.ts";
import { deploymentOf } from "../workload/deployment.ts";
import { expiresAtMs } from "./expiry.ts";
import { parentRef, previewApp } from "./preview-app.ts";
import { previewFinding } from "./preview-finding.ts";
import { guardsOf, namespaceOf, usualPreviewSettings } from "./preview-namespace.ts";
import { sharedVariables } from "./secret-copies.ts";

suite("how long a preview lives", () => {
  const createdMs = Date.parse("2026-01-01T00:00:00Z");
  const hourMs = 3_600_000;
  const hours = (ttl: string, refresh?: string, nowHours = 24): number => {
    const aging = { creationTimestamp: "2026-01-01T00:00:00Z", refresh, ttl };
    return (expiresAtMs(aging, createdMs + nowHours * hourMs) - createdMs) / hourMs;
  };

  test("from its creation", () => {
    assert.deepEqual([hours("90m"), hours("72h"), hours("30d")], [1.5, 72, 720]);
  });

  test("from a refresh that is later, and not in the future", () => {
    assert.equal(hours("72h", "2026-01-01T12:00:00Z"), 84);
    assert.equal(hours("72h", "2026-01-01T13:00:00.5+01:00"), 84 + 0.5 / 3600);
    for (const refresh of [
      "2025-12-31T23:59:59Z",
      "2026-01-02T00:00:01Z",
      "soon",
      "2026-01-01",
      "1767268800000",
      "",
    ]) {
      assert.equal(hours("72h", refresh), 72, refresh);
    }
  });

  test("a ttl that is none has no default here", () => {
    for (const ttl of ["72", "0m", "1w", ""]) assert.throws(() => hours(ttl), RangeError);
  });
});

const parent: ApplicationSpec = {
  repository: "r",
  branch: "main",
  framework: "nextjs",
  environment: "staging",
  imageRef: "my-app:1",
  domain: "shop.example.org",
  database: { enabled: true, schemaName: "shop" },
  scaling: { min: 2, max: 20, targetCPU: 70 },
  deletionPolicy: "Retain",
};

function of(imageRef?: string, changed: Partial<ApplicationSpec> = {}): App {
  const owner = { uid: "1", namespace: "dev", name: "pr-42" };
  const naming = { baseDomain: "example.com", previewHosts: "nested" } as const;
  const spec = { applicationRef: "staging/my-app", pullRequest: 42, branch: "fix", ttl: "72h" };
  const preview = { owner, spec: imageRef === undefined ? spec : { ...spec, imageRef } };
  return previewApp(preview, { name: "my-app", spec: { ...parent, ...changed } }, naming);
}

suite("a preview as an app", () => {
  test("is the parent's, with names, scale and an end of its own", () => {
    const { spec, names, namespace } = of("my-app:pr42");
    assert.deepEqual(
      [namespace, names.name, names.schema, names.domain],
      ["preview-my-app-pr-42", "my-app-pr42", "shop_pr42", "pr-42.my-app.preview.example.com"],
    );
    const { domain: _domain, ...kept } = parent;
    assert.deepEqual(spec, {
      ...kept,
      branch: "fix",
      environment: "preview",
      imageRef: "my-app:pr42",
      scaling: { min: 1, max: 2, targetCPU: 80 },
      deletionPolicy: "Delete",
    });
  });

  test("runs the parent's image until it has one", () => {
    assert.equal(of().spec.imageRef, "my-app:1");
  });

  test("its parent is in its own namespace unless it says otherwise", () => {
    assert.deepEqual(parentRef({ applicationRef: "my-app" }, "dev"), {
      namespace: "dev",
      name: "my-app",
    });
    assert.deepEqual(parentRef({ applicationRef: "staging/my-app" }, "dev"), {
      namespace: "staging",
      name: "my-app",
    });
  });
});

suite("the namespace of a preview", () => {
  test("says whose it is, and lets nothing run that may do too much", () => {
    const { metadata } = namespaceOf(of());
    assert.deepEqual(
      [metadata.name, metadata.annotations, metadata.labels],
      [
        "preview-my-app-pr-42",
        { "platform.internal/owner": "1 dev/pr-42" },
        {
          "platform.internal/managed-by": "plattr-operator",
          "platform.internal/app": "my-app-pr42",
          "platform.internal/environment": "preview",
          "pod-security.kubernetes.io/enforce": "restricted",
          "pod-security.kubernetes.io/audit": "restricted",
          "pod-security.kubernetes.io/warn": "restricted",
        },
      ],
    );
  });

  test("has room for two replicas, a rollout and a migration", () => {
    const migrations = { engine: "knex", path: "db" } as const;
    const app = of("my-app:pr42", { database: { enabled: true, migrations } });
    const pod = deploymentOf(app, { image: "my-app:pr42", checksum: "c" });
    const job = migrationJobOf(app, {});
    assert.ok(job !== undefined);
    const [quota] = guardsOf(app, usualPreviewSettings);
    assert.ok(quota !== undefined);
    const { hard } = quota["spec"] as unknown as { hard: Record<string, string> };
    for (const what of ["cpu", "memory"] as const) {
      // A rollout makes one more, before it takes one away that may take its time.
      const wanted = 3 * limitOf(pod, what) + Math.max(limitOf(pod, what), limitOf(job, what));
      const room = amountOf(hard[`limits.${what}`]);
      assert.ok(room >= wanted, `${what}: ${room} < ${wanted}`);
    }
  });

  test("lets in the ingress controller and itself, and out to all but other previews", () => {
    const settings = { ...usualPreviewSettings, ingressNamespace: "traefik" };
    const policy = guardsOf(of(), settings)[1];
    const name = { "kubernetes.io/metadata.name": "traefik" };
    const noPreview = {
      key: "platform.internal/environment",
      operator: "NotIn",
      values: ["preview"],
    };
    assert.deepEqual(policy?.["spec"], {
      podSelector: {},
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [{ namespaceSelector: { matchLabels: name } }, { podSelector: {} }] }],
      egress: [
        {
          to: [
            { namespaceSelector: { matchExpressions: [noPreview] } },
            { podSelector: {} },
            { ipBlock: { cidr: "0.0.0.0/0" } },
            { ipBlock: { cidr: "::/0" } },
          ],
        },
      ],
    });
  });

  function limitOf(object: DynamicObject, what: "cpu" | "memory"): number {
    const { template } = object["spec"] as unknown as {
      template: { spec: { containers: { resources: { limits: Record<string, string> } }[] } };
    };
    return template.spec.containers.reduce(
      (sum, { resources }) => sum + amountOf(resources.limits[what]),
      0,
    );
  }
});

suite("the variables of a preview", () => {
  const secret: DynamicObject = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "keys",
      namespace: "staging",
      labels: { "platform.internal/preview": "true" },
    },
    type: "example.com/keys",
    data: { a: "MQ==", b: "Mg==" },
  };
  const from = (name: string, key: string) => ({ secretKeyRef: { name, key } });
  const app = of(undefined, {
    envVars: [
      { name: "PLAIN", value: "1" },
      { name: "A", ...from("keys", "a") },
      { name: "B", ...from("keys", "b") },
      { name: "LIVE", ...from("billing", "key") },
      { name: "OURS", ...from("my-app-pr42-db", "DB_PASSWORD") },
    ],
  });
  const shared = sharedVariables(app, (name) =>
    name === "billing" ? undefined : { ...secret, metadata: { ...secret.metadata, name } },
  );

  test("come from copies of what is marked for it, and the others are left out", () => {
    const names = (shared.app.spec.envVars ?? []).map(({ name }) => name);
    assert.deepEqual(names, ["PLAIN", "A", "B"]);
    assert.deepEqual(shared.leftOut, ["LIVE (Secret billing)", "OURS (Secret my-app-pr42-db)"]);
    assert.deepEqual(
      shared.copies.map(({ metadata, type, data }) => [
        metadata.namespace,
        metadata.name,
        metadata.labels?.["platform.internal/preview"],
        metadata.annotations,
        type,
        data,
      ]),
      [
        [
          "preview-my-app-pr-42",
          "keys",
          undefined,
          {
            "platform.internal/owner": "1 dev/pr-42",
            "platform.internal/copied-from": "staging/keys",
          },
          "Opaque",
          secret["data"],
        ],
      ],
    );
  });

  test("and its condition says so, as it says whose image runs", () => {
    const well = {
      status: "True",
      reason: "Available",
      message: "Deployment a has its pod ready",
    } as const;
    const { leftOut } = shared;
    assert.deepEqual(previewFinding(well, { hasParentImage: false, leftOut: [] }), well);
    assert.deepEqual(previewFinding(well, { hasParentImage: true, leftOut: [] }), {
      status: "True",
      reason: "ParentImage",
      message: "Deployment a has its pod ready; it runs the image of its parent until it has one",
    });
    const without = previewFinding(well, { hasParentImage: false, leftOut });
    assert.equal(without.reason, "VariablesLeftOut");
    assert.match(without.message, /goes without LIVE \(Secret billing\), OURS/);
    const many = Array.from({ length: 128 }, (_, index) => `V${index} (Secret s)`);
    assert.match(
      previewFinding(well, { hasParentImage: false, leftOut: many }).message,
      /V8 \(Secret s\), V9 \(Secret s\) and 118 more: label/,
    );
    const failing = { ...well, status: "False", reason: "RollingOut" } as const;
    assert.equal(previewFinding(failing, { hasParentImage: true, leftOut }).reason, "RollingOut");
    // Its parent has none either.
    const none = { ...failing, reason: "NoImage" };
    assert.deepEqual(previewFinding(none, { hasParentImage: true, leftOut: [] }), none);
  });
});

function amountOf(quantity: string | undefined): number {
  return Number(scaledValue(parseQuantity(quantity ?? ""), -3));
}
