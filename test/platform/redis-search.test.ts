// Redis and search: what an app is told of them, and what is said of it in its status.

import assert from "node:assert/strict";
import { test } from "node:test";
import { refOf } from "@keelson/client";
import {
  cleanupRedis,
  cleanupSearch,
  conditionsOf,
  platformDefinitions,
  reconcileRedis,
  reconcileSearch,
  workloadOf,
} from "@keelson/platform";
import { appWith } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { prepareChildren } from "./children-bed.ts";

const settings = {
  ingressClass: "nginx",
  ingressRewrite: "nginx",
  clusterIssuer: "letsencrypt-prod",
} as const;
const applications = { apiVersion: "platform.internal/v1alpha1", kind: "Application" } as const;

clusterSuite("Redis and search", () => {
  test("P17: the variables are there, and the conditions are taken by the definition", async (t) => {
    const { signal } = t;
    await using bed = await prepareChildren(signal);
    const { client, children } = bed;

    const definitions = await client.resource(
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
      signal,
    );
    for (const definition of platformDefinitions()) {
      await definitions.apply(definition as never, { fieldManager: "test" }, signal);
    }
    const served = await until(
      () => client.resource(applications, signal).catch(() => undefined),
      signal,
    );
    const spec = appWith({ redis: { enabled: true }, search: { enabled: true } }).spec;
    const made = await until(
      () =>
        served
          .create(
            { ...applications, metadata: { name: "my-app", namespace: "default" }, spec },
            {},
            signal,
          )
          .catch((error: { readonly code?: number }) => {
            if (error.code === 404) return undefined; // Announced, and not there yet.
            throw error;
          }),
      signal,
    );
    const app = appWith(spec, made.metadata.uid);

    const redis = { children, settings: { endpoint: "cache.example.com:6380", tls: true } };
    const search = { children, settings: { endpoint: "https://search.example.com" } };
    const wanted = [
      ...(await reconcileRedis(redis, { app }, signal)).wanted,
      ...(await reconcileSearch(search, { app }, signal)).wanted,
    ];
    assert.deepEqual(
      wanted.map(({ metadata, data }) => [metadata.name, data]),
      [
        [
          "my-app-redis",
          {
            REDIS_URL: "rediss://cache.example.com:6380",
            REDIS_HOST: "cache.example.com",
            REDIS_PORT: "6380",
          },
        ],
        [
          "my-app-search",
          {
            OPENSEARCH_URL: "https://search.example.com",
            OPENSEARCH_INDEX_PREFIX: "prod_my_app_",
          },
        ],
      ],
    );
    const [, deployment] = workloadOf(app, settings, { image: "i", checksum: "c" });
    assert.match(
      JSON.stringify(deployment),
      /\{"configMapRef":\{"name":"my-app-redis"\}\},\{"configMapRef":\{"name":"my-app-search"\}\}/,
    );

    const is = (what: string) =>
      ({ status: "True", reason: "Provisioned", message: what }) as const;
    const conditions = conditionsOf(
      { RedisReady: is("Redis"), SearchReady: is("OpenSearch"), DeploymentReady: is("pods") },
      [],
      { generation: 1, now: "2026-01-01T00:00:00Z" },
    );
    const shown = await served.patch(
      refOf(made),
      { type: "merge", body: { status: { conditions } }, options: { subresource: "status" } },
      signal,
    );
    const { conditions: taken } = shown["status"] as {
      conditions: { type: string; status: string }[];
    };
    assert.deepEqual(
      taken.map(({ type, status }) => `${type} ${status}`),
      ["RedisReady True", "SearchReady True", "DeploymentReady True", "Ready True"],
    );

    // Nothing is written again; both go, once.
    const versions = wanted.map(({ metadata }) => metadata.resourceVersion);
    const again = [
      ...(await reconcileRedis(redis, { app }, signal)).wanted,
      ...(await reconcileSearch(search, { app }, signal)).wanted,
    ];
    assert.deepEqual(
      again.map(({ metadata }) => metadata.resourceVersion),
      versions,
    );
    const configMaps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
    for (let round = 0; round < 2; round += 1) {
      await cleanupRedis({ children }, { app }, signal);
      await cleanupSearch({ children }, { app }, signal);
      for (const object of wanted) {
        assert.equal(await configMaps.find(refOf(object), signal), undefined);
      }
    }
    for (const [reconcile, setting] of [
      [() => reconcileRedis({ children, settings: undefined }, { app }, signal), "REDIS_ENDPOINT"],
      [
        () => reconcileSearch({ children, settings: undefined }, { app }, signal),
        "OPENSEARCH_ENDPOINT",
      ],
    ] as const) {
      await assert.rejects(reconcile(), { reason: "NotConfigured", message: new RegExp(setting) });
    }
  });
});
