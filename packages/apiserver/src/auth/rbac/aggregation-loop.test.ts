import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemRandom, TaskScope, type JsonObject } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import type { MirrorChange, Mirrored } from "../../mirror.ts";
import { runAggregation } from "./aggregation-loop.ts";

suite("the aggregation loop", () => {
  test("writes until nothing changes, one level after the other, past a role that is wrong", async (t) => {
    const roles = new Map<string, JsonObject>();
    const listeners = new Set<(change: MirrorChange) => void>();
    const entryOf = (name: string): Mirrored => ({
      key: { kind: "ClusterRole", namespace: "", name },
      object: roles.get(name) ?? {},
      uid: name,
      revision: 1,
    });
    const put = (name: string, role: JsonObject): void => {
      roles.set(name, role);
      const change = { type: "set", entry: entryOf(name), previous: undefined } as const;
      for (const listener of listeners) listener(change);
    };
    const gathering = (name: string, label: string, own: JsonObject = {}): JsonObject => ({
      metadata: { name, labels: own },
      rules: null,
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: label } }] },
    });
    const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
    put("admin", gathering("admin", "admin"));
    put("bad", {
      ...gathering("bad", "x"),
      aggregationRule: {
        clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "?" }] }],
      },
    });
    put("edit", gathering("edit", "edit", { to: "admin" }));
    put("pods", { metadata: { name: "pods", labels: { to: "edit" } }, rules: [rule] });

    const clock = new ManualClock();
    await using scope = new TaskScope(t.signal);
    scope.spawn("aggregation", (signal) =>
      runAggregation(
        {
          clusterRoles: {
            values: () => [...roles.keys()].map(entryOf).values(),
            onChange: (listener) => {
              listeners.add(listener);
              return { [Symbol.dispose]: () => void listeners.delete(listener) };
            },
          },
          write: async ({ name, rules }) => put(name, { ...roles.get(name), rules }),
          clock,
          random: systemRandom,
          log: silentLog,
        },
        signal,
      ),
    );
    await clock.advance(60_000);
    assert.deepEqual(roles.get("edit")?.["rules"], [rule]);
    assert.deepEqual(roles.get("admin")?.["rules"], [rule]);
    put("more", {
      metadata: { name: "more", labels: { to: "admin" } },
      rules: [{ ...rule, verbs: ["list"] }],
    });
    await clock.advance(60_000);
    assert.deepEqual(roles.get("admin")?.["rules"], [rule, { ...rule, verbs: ["list"] }]);
  });
});
