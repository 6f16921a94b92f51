// Lists as long as a request can bring them hold nobody else up.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { answerInThread, threadOf } from "@keelson/kube/testing";

import { aggregatedRules } from "./auth/rbac/aggregation.ts";
import { describeRules, uncoveredRules } from "./auth/rbac/covers.ts";
import type { PolicyRule } from "./auth/rbac/policy-rule.ts";
import { Api } from "./testing/api.ts";
import { configMap, core } from "./testing/objects.ts";
import { startTestServer } from "./testing/test-server.ts";

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const words = (count: number): string[] => many(count, (i) => `w${i}`);

const rule = (part: Partial<PolicyRule>): PolicyRule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...part,
});

const named = (resourceNames: readonly string[]): PolicyRule =>
  rule({ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames });

/** A rule that stands for more parts than anybody can look at. */
const wide = rule({
  verbs: words(1000),
  apiGroups: words(1000),
  resources: words(1000),
  resourceNames: words(1000),
});

/** What a server of its own answers to requests, one after the other. */
async function answers(
  ...requests: readonly (readonly [method: string, path: string, body?: JsonObject])[]
): Promise<readonly number[]> {
  const { signal } = new AbortController();
  await using server = await startTestServer({}, signal);
  const api = new Api(server.url, signal);
  const codes: number[] = [];
  for (const [method, path, body] of requests) {
    codes.push((await api.send(method, path, body === undefined ? {} : { body })).code);
  }
  return codes;
}

/** Each case and what it gives. */
const cases: Readonly<Record<string, readonly [run: () => unknown, gives: unknown]>> = {
  "rights beyond count are refused": [
    () => describeRules(uncoveredRules([rule({ verbs: ["get"] })], [wide])).length > 0,
    true,
  ],
  "rights beyond count are held by whoever holds all": [
    () => uncoveredRules([rule({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] })], [wide]),
    [],
  ],
  "rights to many names are held in another order": [
    () => {
      const names = words(99_000);
      const owned = many(10, (i) => named(i === 9 ? names : names.map((name) => `${i}${name}`)));
      return uncoveredRules(owned, [named([...names.toReversed(), "x"])]);
    },
    [named(["x"])],
  ],
  "rights to many paths are held in another order": [
    () => {
      const owned = rule({ verbs: ["get"], nonResourceURLs: many(99_000, (i) => `/p${i}/*`) });
      const paths = many(99_000, (i) => `/p${98_999 - i}/a`);
      const wanted = rule({ verbs: ["get"], nonResourceURLs: [...paths, "/x"] });
      return uncoveredRules(
        many(5, () => owned),
        [wanted],
      );
    },
    [rule({ verbs: ["get"], nonResourceURLs: ["/x"] })],
  ],
  "rights to a path of many stars are held": [
    () => {
      const stars = "*".repeat(1_000_000);
      const owned = rule({ verbs: ["get"], nonResourceURLs: [`/a${stars}b*`] });
      return uncoveredRules([owned], [rule({ verbs: ["get"], nonResourceURLs: [`/a${stars}bc`] })]);
    },
    [],
  ],
  "many verbs of one resource are described together": [
    () => {
      const wanted = rule({ verbs: words(90_000), apiGroups: [""], resources: ["pods"] });
      return describeRules(uncoveredRules([], [wanted])).length;
    },
    1,
  ],
  "a role gathers many rules, each once": [
    () => {
      const rules = many(30_000, (i) => ({ verbs: ["a"], apiGroups: [""], resources: [`${i}`] }));
      const part = (name: string) => ({ metadata: { name, labels: { to: "all" } }, rules });
      const clusterRoleSelectors = [{ matchLabels: { to: "all" } }];
      const whole = { metadata: { name: "all" }, aggregationRule: { clusterRoleSelectors } };
      return aggregatedRules(whole, [part("a"), part("b")])?.length;
    },
    30_000,
  ],
  "an object has many owners": [
    () => {
      const ownerReferences = many(100_000, (i) => ({ uid: `u${i}` }));
      return answers([
        "POST",
        core("default", "configmaps"),
        configMap("a", { metadata: { ownerReferences } }),
      ]);
    },
    [422],
  ],
  "an object with many finalizers is deleted": [
    () => {
      const path = core("default", "configmaps");
      const finalizers = many(250_000, (i) => `a/${i}`);
      return answers(
        ["POST", path, configMap("a", { metadata: { finalizers } })],
        ["DELETE", `${path}/a`],
      );
    },
    [201, 200],
  ],
};

const runs = Object.fromEntries(Object.entries(cases).map(([name, [run]]) => [name, run]));

if (!answerInThread(runs)) {
  suite("long lists take time in proportion", () => {
    const thread = threadOf(import.meta.url);
    after(() => thread[Symbol.asyncDispose]());
    for (const [name, [, gives]] of Object.entries(cases)) {
      test(name, async () => assert.deepEqual(await thread.ask(name), gives));
    }
  });
}
