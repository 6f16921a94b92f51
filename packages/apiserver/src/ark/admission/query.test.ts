import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { admitArk, type ArkWrite } from "../../testing/ark-bed.ts";

const agent = { kind: "Agent", spec: {} };
const world = {
  "Agent/a": agent,
  "Team/t": {},
  "Model/m": {},
  "Tool/w": {},
  "Secret/s": { data: { token: "c2VjcmV0" } },
  "ConfigMap/c": { data: { host: "x" }, binaryData: { bytes: "AA==" } },
};
const target = { type: "agent", name: "a" };
const asked = { input: "hi", target };

function write(spec: unknown, more: Partial<ArkWrite> = {}) {
  return admitArk({ plural: "queries", spec, world, ...more });
}

async function judge(
  cases: readonly (readonly [what: string, spec: unknown, errors: readonly string[]])[],
): Promise<void> {
  for (const [what, spec, errors] of cases) {
    assert.deepEqual((await write(spec)).errors, errors, what);
  }
}

suite("admission of queries", () => {
  test("somebody must be asked, and be there", async () => {
    await judge([
      ["an agent", asked, []],
      ["a team", { input: "hi", target: { type: "team", name: "t" } }, []],
      ["a model", { input: "hi", target: { type: "model", name: "m" } }, []],
      ["a tool", { input: "hi", target: { type: "tool", name: "w" } }, []],
      ["a selector", { input: "hi", selector: { matchLabels: { a: "b" } } }, []],
      ["several", { input: "hi", targets: [target, { type: "team", name: "t" }] }, []],
      [
        "nobody",
        { input: "hi" },
        ["spec.target: Required value: target, targets or selector must be given"],
      ],
      [
        "an empty list",
        { input: "hi", targets: [] },
        ["spec.target: Required value: target, targets or selector must be given"],
      ],
      [
        "somebody who is not there",
        { input: "hi", target: { type: "agent", name: "b" } },
        ['spec.target.name: Not found: "b": there is no Agent of this name in namespace team'],
      ],
      [
        "one of another kind",
        { input: "hi", target: { type: "model", name: "a" } },
        ['spec.target.name: Not found: "a": there is no Model of this name in namespace team'],
      ],
      [
        "some who are not there",
        {
          input: "hi",
          targets: [{ type: "team", name: "u" }, target, { type: "tool", name: "v" }],
        },
        [
          'spec.targets[0].name: Not found: "u": there is no Team of this name in namespace team',
          'spec.targets[2].name: Not found: "v": there is no Tool of this name in namespace team',
        ],
      ],
    ]);
  });

  test("something must be asked", async () => {
    await judge([
      [
        "nothing",
        { input: "", target },
        ["spec.input: Required value: a query must ask something"],
      ],
      [
        "a list, as a text",
        { input: [{ role: "user", content: "hi" }], target },
        ["spec.input: Invalid value: must be a text where the type is user"],
      ],
      [
        "a number",
        { input: 1, target },
        ["spec.input: Invalid value: must be a text where the type is user"],
      ],
    ]);
  });

  test("messages become the text of the first user message", async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [[{ role: "user", content: "hi" }], "hi"],
      [
        [
          { role: "system", content: "be kind" },
          { role: "user", content: "first" },
          { role: "user", content: "second" },
        ],
        "first",
      ],
      [
        [
          {
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "image_url", image_url: { url: "https://x" }, text: "not this" },
              { type: "text", text: "here" },
            ],
          },
        ],
        "look\nhere",
      ],
    ];
    for (const [input, text] of cases) {
      const outcome = await write({ input, type: "messages", target, ttl: "1h" });
      const told =
        "type messages is deprecated, input is now the text of the first user message; conversationId continues a conversation";
      assert.deepEqual(outcome, {
        spec: { input: text, type: "user", target, ttl: "1h", timeout: "5m" },
        annotations: { "ark.mckinsey.com/migration-warning-input-type": told },
        warnings: [told],
        errors: [],
      });
    }
  });

  test("messages without a user's text are refused as they are", async () => {
    const message = (content: unknown, role = "user") => ({ role, content });
    for (const input of [
      "hi",
      {},
      [],
      ["hi"],
      [message("hi", "system")],
      [message("")],
      [message([])],
      [message([{ type: "image_url" }]), message("second")],
      [message(null)],
    ]) {
      const { spec, annotations, errors } = await write({ input, type: "messages", target });
      assert.deepEqual(
        [spec["type"], spec["input"], annotations, errors],
        [
          "messages",
          input,
          {},
          [
            "spec.input: Invalid value: must be a list of messages, the first of role user with some text",
          ],
        ],
      );
    }
  });

  test("a missing ttl comes from ArkConfig, else it is 720h", async () => {
    const ttl = async (spec: object, config?: JsonObject) => {
      const settings = config === undefined ? {} : { "ArkConfig/default": { spec: config } };
      const outcome = await write({ ...asked, ...spec }, { world: { ...world, ...settings } });
      assert.deepEqual(outcome.warnings, []);
      return outcome.spec["ttl"];
    };
    assert.equal(await ttl({}), "720h");
    assert.equal(await ttl({}, { queryTTL: "48h", evaluationTTL: "1h" }), "48h");
    assert.equal(await ttl({}, { evaluationTTL: "1h" }), "720h");
    assert.equal(await ttl({ ttl: "5m" }, { queryTTL: "48h" }), "5m");
    const { spec } = await admitArk({
      plural: "queries",
      spec: asked,
      world: { ...world, "ArkConfig/other": { spec: { queryTTL: "48h" } } },
    });
    assert.equal(spec["ttl"], "720h");
  });

  test("parameters have one source", async () => {
    const parameters = (parameter: object) => ({
      ...asked,
      parameters: [
        { name: "ok", value: "v" },
        { name: "p", ...parameter },
      ],
    });
    const secretKeyRef = { name: "s", key: "token" };
    const configMapKeyRef = { name: "c", key: "host" };
    const at = "spec.parameters[1]";
    await judge([
      ["a value", parameters({ value: "v" }), []],
      ["a Secret", parameters({ valueFrom: { secretKeyRef } }), []],
      ["a ConfigMap", parameters({ valueFrom: { configMapKeyRef } }), []],
      ["a Service", parameters({ valueFrom: { serviceRef: { name: "x" } } }), []],
      ["another parameter", parameters({ valueFrom: { queryParameterRef: { name: "x" } } }), []],
      ["an empty value beside", parameters({ value: "", valueFrom: { secretKeyRef } }), []],
      ["none", parameters({}), [`${at}: Required value: value or valueFrom must be given`]],
      [
        "an empty one",
        parameters({ value: "" }),
        [`${at}: Required value: value or valueFrom must be given`],
      ],
      [
        "from nowhere",
        parameters({ valueFrom: {} }),
        [`${at}.valueFrom: Required value: one source must be given`],
      ],
      [
        "two ways",
        parameters({ value: "v", valueFrom: { secretKeyRef } }),
        [`${at}.valueFrom: Forbidden: may not be given beside value`],
      ],
      [
        "from two places",
        parameters({ valueFrom: { secretKeyRef, configMapKeyRef } }),
        [`${at}.valueFrom.configMapKeyRef: Forbidden: may not be given beside secretKeyRef`],
      ],
      [
        "from three places",
        parameters({
          valueFrom: {
            configMapKeyRef,
            serviceRef: { name: "x" },
            queryParameterRef: { name: "x" },
          },
        }),
        [
          `${at}.valueFrom.serviceRef: Forbidden: may not be given beside configMapKeyRef`,
          `${at}.valueFrom.queryParameterRef: Forbidden: may not be given beside configMapKeyRef`,
        ],
      ],
    ]);
  });

  test("headers of overrides have one source", async () => {
    const overrides = (value: object) => ({
      ...asked,
      overrides: [{ resourceType: "model", headers: [{ name: "h", value }] }],
    });
    const at = "spec.overrides[0].headers[0].value";
    await judge([
      ["a value", overrides({ value: "v" }), []],
      ["a parameter", overrides({ valueFrom: { queryParameterRef: { name: "x" } } }), []],
      ["none", overrides({}), [`${at}: Required value: value or valueFrom must be given`]],
      [
        "both",
        overrides({ value: "v", valueFrom: { queryParameterRef: { name: "x" } } }),
        [`${at}.valueFrom: Forbidden: may not be given beside value`],
      ],
      [
        "a key that is not there",
        overrides({ valueFrom: { secretKeyRef: { name: "s", key: "no" } } }),
        [`${at}.valueFrom.secretKeyRef.key: Not found: "no": the Secret s has no such key`],
      ],
    ]);
  });

  test("keys of Secrets and ConfigMaps are there", async () => {
    const from = (valueFrom: object) => ({ ...asked, parameters: [{ name: "p", valueFrom }] });
    const at = "spec.parameters[0].valueFrom";
    await judge([
      [
        "no Secret",
        from({ secretKeyRef: { name: "no", key: "token" } }),
        [
          `${at}.secretKeyRef.name: Not found: "no": there is no Secret of this name in namespace team`,
        ],
      ],
      [
        "no key of a Secret",
        from({ secretKeyRef: { name: "s", key: "no" } }),
        [`${at}.secretKeyRef.key: Not found: "no": the Secret s has no such key`],
      ],
      [
        "no ConfigMap",
        from({ configMapKeyRef: { name: "no", key: "host" } }),
        [
          `${at}.configMapKeyRef.name: Not found: "no": there is no ConfigMap of this name in namespace team`,
        ],
      ],
      [
        "bytes are no text",
        from({ configMapKeyRef: { name: "c", key: "bytes" } }),
        [`${at}.configMapKeyRef.key: Not found: "bytes": the ConfigMap c has no such key`],
      ],
      [
        "a key of every object",
        from({ configMapKeyRef: { name: "c", key: "constructor" } }),
        [`${at}.configMapKeyRef.key: Not found: "constructor": the ConfigMap c has no such key`],
      ],
      [
        "no name",
        from({ secretKeyRef: { key: "token" } }),
        [`${at}.secretKeyRef.name: Required value: a Secret must be named`],
      ],
      [
        "no Secret, which may be",
        from({ secretKeyRef: { name: "no", key: "x", optional: true } }),
        [],
      ],
      ["no key, which may be", from({ secretKeyRef: { name: "s", key: "x", optional: true } }), []],
      ["no name, which may be", from({ configMapKeyRef: { key: "x", optional: true } }), []],
    ]);
  });

  test("everything that is wrong is said at once", async () => {
    const { errors } = await write({ input: "", parameters: [{ name: "p" }] });
    assert.deepEqual(errors, [
      "spec.input: Required value: a query must ask something",
      "spec.target: Required value: target, targets or selector must be given",
      "spec.parameters[0]: Required value: value or valueFrom must be given",
    ]);
  });

  test("nobody is asked for more others than a bound", async () => {
    const targets = Array.from({ length: 501 }, (_, index) => ({
      type: "agent",
      name: `a${index}`,
    }));
    const many = Object.fromEntries(targets.map(({ name }) => [`Agent/${name}`, agent]));
    const { errors } = await write({ input: "hi", targets }, { world: many });
    assert.deepEqual(errors, ["spec: Forbidden: may not name more than 500 other objects"]);
    const same = targets.map(() => target);
    assert.deepEqual((await write({ input: "hi", targets: same })).errors, []);
  });
});
