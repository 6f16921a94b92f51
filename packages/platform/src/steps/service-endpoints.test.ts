import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { redisVariables, searchUrl } from "./service-endpoints.ts";

suite("where apps find Redis", () => {
  for (const [endpoint, tls, expected] of [
    [
      "redis.plattr-system:6379",
      false,
      ["redis://redis.plattr-system:6379", "redis.plattr-system", "6379"],
    ],
    [
      "cache.example.com:6380",
      true,
      ["rediss://cache.example.com:6380", "cache.example.com", "6380"],
    ],
    ["cache.example.com", true, ["rediss://cache.example.com:6379", "cache.example.com", "6379"]],
    ["[fd00::1]:7000", false, ["redis://[fd00::1]:7000", "fd00::1", "7000"]],
    // As given, whatever is said of TLS beside it.
    [
      "redis://cache.example.com/2",
      true,
      ["redis://cache.example.com/2", "cache.example.com", "6379"],
    ],
  ] as const) {
    test(`${endpoint}${tls ? " with TLS" : ""}`, () => {
      const [REDIS_URL, REDIS_HOST, REDIS_PORT] = expected;
      assert.deepEqual(redisVariables({ endpoint, tls }), { REDIS_URL, REDIS_HOST, REDIS_PORT });
    });
  }
});

suite("where apps find OpenSearch", () => {
  for (const [endpoint, expected] of [
    ["http://opensearch.plattr-system:9200", "http://opensearch.plattr-system:9200"],
    ["https://search.example.com/base", "https://search.example.com/base"],
    ["search.example.com", "https://search.example.com:443"],
    ["search.example.com:9200", "https://search.example.com:9200"],
  ] as const) {
    test(endpoint, () => assert.equal(searchUrl(endpoint), expected));
  }
});

test("an endpoint that is none is refused, and what is secret in it is not shown", () => {
  const redis = (endpoint: string) => redisVariables({ endpoint, tls: false });
  for (const [parse, endpoint, setting] of [
    [redis, "", "REDIS_ENDPOINT"],
    [redis, "http://cache", "REDIS_ENDPOINT"],
    [redis, "cache:port", "REDIS_ENDPOINT"],
    [redis, "redis://:geheim@cache:6379", "REDIS_ENDPOINT"],
    [redis, "user:geheim@cache:6379", "REDIS_ENDPOINT"],
    [searchUrl, "redis://search", "OPENSEARCH_ENDPOINT"],
    [searchUrl, "https://user:geheim@search", "OPENSEARCH_ENDPOINT"],
  ] as const) {
    assert.throws(
      () => parse(endpoint),
      ({ name, message }: Error) =>
        name === "TypeError" && message.startsWith(setting) && !message.includes("geheim"),
      endpoint,
    );
  }
});
