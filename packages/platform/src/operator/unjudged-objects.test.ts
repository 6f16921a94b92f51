// What a cluster holds that our definitions would have refused: older ones, or none, may have let it in.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { ObjectCache } from "@keelson/controller";

import { previewIndexes } from "./preview-sources.ts";
import { hostOfApplication } from "./read-application.ts";
import { phaseLabelsOfPreview } from "./read-preview.ts";
import { secretsOf } from "./secret-digests.ts";

const naming = { baseDomain: "example.com", previewHosts: "nested" } as const;

function object(kind: string, name: string, spec: Json): DynamicObject {
  const metadata = { name, namespace: "default", uid: `${kind} ${name}`, resourceVersion: "1" };
  return { apiVersion: "platform.internal/v1alpha1", kind, metadata, spec };
}

test("Applications that cannot be are held like others, by the hosts that they name", () => {
  const hosts = (one: DynamicObject) => hostOfApplication(one, naming) ?? [];
  const cache = new ObjectCache({ indexes: { host: (one) => [hosts(one)].flat(), secretsOf } });
  const all = [
    object("Application", "master", { environment: "production" }),
    object("Application", "none", null),
    object("Application", "number", { environment: 1, domain: 2 }),
    object("Application", "domain", { environment: "staging", domain: { name: "a" } }),
    object("Application", "variables", { envVars: { A: "1" } }),
    object("Application", "variable", { envVars: [null, "a", { secretKeyRef: { name: 1 } }] }),
    object("Application", "shop", {
      environment: "production",
      envVars: [{ name: "A", secretKeyRef: { name: "keys", key: "a" } }],
    }),
  ];
  cache.replace(all, "1", { isBack: false });
  assert.ok(cache.isSynced);
  const found = (index: string, value: string) =>
    [...cache.byIndex(index, value)].map(({ metadata }) => metadata.name);
  assert.deepEqual(found("host", "master.example.com"), ["master"]);
  assert.deepEqual(found("host", "shop.example.com"), ["shop"]);
  assert.deepEqual(found("secretsOf", "default/keys"), ["shop"]);
});

test("so are PreviewEnvironments, by what they are of", () => {
  const cache = new ObjectCache({ indexes: previewIndexes(naming) });
  const all = [
    object("PreviewEnvironment", "none", null),
    object("PreviewEnvironment", "number", { applicationRef: 1, pullRequest: 2 }),
    object("PreviewEnvironment", "text", { applicationRef: "shop", pullRequest: "2" }),
    object("PreviewEnvironment", "pr", { applicationRef: "shop", pullRequest: 2 }),
  ];
  cache.replace(all, "1", { isBack: false });
  assert.ok(cache.isSynced);
  const found = (index: string, value: string) =>
    [...cache.byIndex(index, value)].map(({ metadata }) => metadata.name);
  assert.deepEqual(found("parent", "default/shop"), ["text", "pr"]);
  assert.deepEqual(found("namespace", "preview-shop-pr-2"), ["pr"]);
  assert.deepEqual(found("host", "pr-2.shop.preview.example.com"), ["pr"]);
  assert.deepEqual(
    all.map((one) => phaseLabelsOfPreview(one, naming).app),
    ["none", "number", "text", "shop-pr2"],
  );
});
