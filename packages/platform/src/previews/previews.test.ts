import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { ApplicationSpec } from "../kinds/application.ts";
import { expiresAtMs } from "./expiry.ts";
import { parentRef, previewApp } from "./preview-app.ts";

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

suite("a preview as an app", () => {
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
  const owner = { uid: "1", namespace: "dev", name: "pr-42" };
  const naming = { baseDomain: "example.com", previewHosts: "nested" } as const;
  const of = (imageRef?: string) => {
    const spec = { applicationRef: "staging/my-app", pullRequest: 42, branch: "fix", ttl: "72h" };
    const preview = { owner, spec: imageRef === undefined ? spec : { ...spec, imageRef } };
    return previewApp(preview, { name: "my-app", spec: parent }, naming);
  };

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
