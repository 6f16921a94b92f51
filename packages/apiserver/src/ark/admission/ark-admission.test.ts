import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";
import type { JsonObject } from "@keelson/base";

import { admitArk } from "../../testing/ark-bed.ts";

const gone = { input: "hi", target: { type: "agent", name: "gone" }, type: "user", timeout: "5m" };

suite("admission of the Ark kinds", () => {
  test("who changes only metadata is not asked for what the object names", async () => {
    const old = { spec: { ...gone, ttl: "1h" } };
    const labelled = { plural: "queries", spec: old.spec, old, metadata: { labels: { a: "b" } } };
    assert.deepEqual((await admitArk(labelled)).errors, []);
    const changed = await admitArk({ ...labelled, spec: { ...old.spec, input: "other" } });
    assert.deepEqual(changed.errors, [
      'spec.target.name: Not found: "gone": there is no Agent of this name in namespace team',
    ]);
  });

  test("nor is who changes nothing once older values are rewritten", async () => {
    const members = [{ name: "gone", type: "agent" }];
    const old = { spec: { members, strategy: "sequential" } };
    const again = { members, strategy: "round-robin" };
    assert.deepEqual((await admitArk({ plural: "teams", spec: again, old })).errors, []);
  });

  test("nor is who changes nothing where older values are still stored", async () => {
    const spec = { members: [{ name: "gone", type: "agent" }], strategy: "graph" };
    const outcome = await admitArk({ plural: "teams", spec, old: { spec } });
    assert.deepEqual([outcome.spec["strategy"], outcome.errors], ["sequential", []]);
    const query = await admitArk({ plural: "queries", spec: gone, old: { spec: gone } });
    assert.deepEqual([query.spec["ttl"], query.errors], ["720h", []]);
  });

  test("an object that is going is left in peace", async () => {
    const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const outcome = await admitArk({
      plural: "queries",
      spec: { input: "", type: "messages" },
      metadata,
      old: { spec: gone, metadata },
    });
    assert.deepEqual([outcome.errors, outcome.warnings, outcome.spec["ttl"]], [[], [], undefined]);
  });

  test("a status is no business of these rules", async () => {
    const spec = { input: "", type: "messages" };
    const outcome = await admitArk({
      plural: "queries",
      subresource: "status",
      spec,
      old: { spec: gone },
    });
    assert.deepEqual([outcome.errors, outcome.warnings], [[], []]);
  });

  test("headers and parameters have one source in every kind that has rules", async () => {
    const address = { value: "x" };
    const headers = [{ name: "h", value: {} }];
    const parameters = [{ name: "p" }];
    const missing = "Required value: value or valueFrom must be given";
    const cases: readonly (readonly [string, JsonObject, string])[] = [
      ["mcpservers", { address, headers }, `spec.headers[0].value: ${missing}`],
      ["a2aservers", { address, headers }, `spec.headers[0].value: ${missing}`],
      ["evaluators", { address, parameters }, `spec.parameters[0]: ${missing}`],
      [
        "evaluations",
        { config: {}, evaluator: { name: "e", parameters } },
        `spec.evaluator.parameters[0]: ${missing}`,
      ],
    ];
    for (const [plural, spec, error] of cases) {
      assert.deepEqual((await admitArk({ plural, spec })).errors, [error], plural);
    }
  });

  test("of a Memory and of an A2ATask their schema is all that is asked", async () => {
    const address = { value: "x" };
    const from = { secretKeyRef: { name: "gone", key: "k" }, queryParameterRef: { name: "q" } };
    const headers = [
      { name: "neither", value: {} },
      { name: "both", value: { value: "v", valueFrom: from } },
    ];
    const refs = { queryRef: { name: "gone" }, a2aServerRef: { name: "gone" }, agentRef: {} };
    const kinds: Readonly<Record<string, JsonObject>> = {
      memories: { address, headers },
      a2atasks: { ...refs, taskId: "t" },
    };
    for (const [plural, spec] of Object.entries(kinds)) {
      const { errors, warnings } = await admitArk({ plural, spec });
      assert.deepEqual([errors, warnings], [[], []], plural);
    }
  });

  test("evaluations have a ttl of their own", async () => {
    const ttl = async (spec: object, config?: JsonObject) => {
      const world = config === undefined ? {} : { "ArkConfig/default": { spec: config } };
      return (await admitArk({ plural: "evaluations", spec: { config: {}, ...spec }, world })).spec[
        "ttl"
      ];
    };
    assert.equal(await ttl({}), "720h");
    assert.equal(await ttl({}, { evaluationTTL: "2h", queryTTL: "1h" }), "2h");
    assert.equal(await ttl({}, { queryTTL: "1h" }), "720h");
    assert.equal(await ttl({ ttl: "3h" }, { evaluationTTL: "2h" }), "3h");
  });

  test("an ArkConfig says how long, and is called default", async () => {
    const write = (name: string, spec: object) => admitArk({ plural: "arkconfigs", name, spec });
    const good = await write("default", { queryTTL: "1h", evaluationTTL: "2h" });
    assert.deepEqual([good.errors, good.warnings], [[], []]);
    const other = await write("other", { queryTTL: "1h" });
    assert.deepEqual(
      [other.errors, other.warnings],
      [[], ["ArkConfig other is never read, only default is"]],
    );
    const bad = await write("default", { queryTTL: "0s", evaluationTTL: "-1h" });
    assert.deepEqual(bad.errors, [
      'spec.queryTTL: Invalid value: "0s": must be longer than 0',
      'spec.evaluationTTL: Invalid value: "-1h": must be longer than 0',
    ]);
  });

  test("whatever stands in a spec, filling it in twice changes nothing, and nothing fails", async () => {
    const anything = fc.jsonValue({ maxDepth: 2 });
    const nonsense = anything.filter((value) => value !== null);
    const message = fc.record({
      role: fc.constantFrom("user", "system", "assistant"),
      content: fc.oneof(
        fc.string(),
        fc.array(fc.record({ type: fc.constantFrom("text", "image_url"), text: fc.string() })),
        anything,
      ),
    });
    const specs = {
      agents: fc.record(
        {
          modelRef: fc.oneof(fc.record({ name: fc.string() }), anything),
          tools: fc.oneof(
            fc.array(
              fc.record(
                { type: fc.constantFrom("custom", "mcp"), name: fc.string() },
                { requiredKeys: ["type"] },
              ),
            ),
            anything,
          ),
        },
        { requiredKeys: [] },
      ),
      teams: fc.record(
        {
          strategy: fc.constantFrom("sequential", "round-robin", "selector", "graph"),
          members: fc.oneof(fc.constant([]), anything),
          loops: fc.oneof(fc.boolean(), anything),
          maxTurns: fc.oneof(fc.nat(), anything),
          graph: anything,
        },
        { requiredKeys: ["strategy"] },
      ),
      models: fc.record(
        {
          type: fc.oneof(fc.constantFrom("completions", "openai", "azure", "bedrock"), anything),
          provider: fc.constantFrom("openai", "azure"),
          config: anything,
        },
        { requiredKeys: [] },
      ),
      queries: fc.record(
        {
          type: fc.constantFrom("user", "messages"),
          input: fc.oneof(fc.array(message), fc.string(), anything),
          ttl: fc.constantFrom("1h", "2h"),
        },
        { requiredKeys: ["input"] },
      ),
      evaluations: fc.record({ ttl: fc.constantFrom("1h") }, { requiredKeys: [] }),
    };
    for (const [plural, spec] of Object.entries(specs)) {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof({ weight: 9, arbitrary: spec }, { weight: 1, arbitrary: nonsense }),
          async (spec) => {
            const once = await admitArk({ plural, spec });
            const { annotations } = once;
            const twice = await admitArk({ plural, spec: once.spec, metadata: { annotations } });
            assert.deepEqual([twice.spec, twice.annotations], [once.spec, once.annotations]);
          },
        ),
        { numRuns: 150 },
      );
    }
  });
});
