// The operator's variables by the names that people bring, from the environment to what the operator is told.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fixedCredentials } from "@keelson/client";
import type { Config } from "./config.ts";
import { elects, operatorSettings } from "./operator-settings.ts";
import { loadSettings } from "./testing/settings.ts";

const load = (environment: Readonly<Record<string, string>>): Promise<Config> =>
  loadSettings({ environment });

const own = {
  access: { server: "https://nowhere", credentials: fixedCredentials({}) },
  databaseUrl: undefined,
};

suite("the operator is told", () => {
  test("nothing: what is usual", async () => {
    const config = await load({});
    const { previewTlsSecret, redis, search, previewHosts, namespace, storage } = operatorSettings(
      config,
      own,
    );
    assert.deepEqual(
      { previewTlsSecret, redis, search, previewHosts, namespace, storage },
      {
        previewTlsSecret: undefined,
        redis: { endpoint: "redis.plattr-system:6379", tls: false },
        search: { endpoint: "http://opensearch.plattr-system:9200" },
        previewHosts: "nested",
        namespace: "plattr-system",
        storage: undefined,
      },
    );
  });

  test("what previews share, and how Redis is spoken with", async () => {
    const config = await load({
      PREVIEW_TLS_SECRET: "wildcard",
      PREVIEW_HOST_STYLE: "single-label",
      REDIS_TLS: "true",
      REDIS_ENDPOINT: "cache.example.com:6380",
    });
    const { previewTlsSecret, previewHosts, redis } = operatorSettings(config, own);
    assert.deepEqual(
      { previewTlsSecret, previewHosts, redis },
      {
        previewTlsSecret: "wildcard",
        previewHosts: "single-label",
        redis: { endpoint: "cache.example.com:6380", tls: true },
      },
    );
  });

  test("whether others may stand by: alone, unless somebody says so, or in a process of its own", async () => {
    const [unsaid, yes, no] = [
      await load({}),
      await load({ LEADER_ELECTION: "true" }),
      await load({ LEADER_ELECTION: "false" }),
    ];
    assert.deepEqual(
      [unsaid, yes, no].map((config) => [elects(config, own), elects(config, undefined)]),
      [
        [false, true],
        [true, true],
        [false, false],
      ],
    );
  });
});
