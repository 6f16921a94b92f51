// What nobody sends by accident: it must end in a typed error, or in an ordinary answer, and soon.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Worker } from "node:worker_threads";

import { readJson, writeJson, type Json, type JsonObject } from "@keelson/base";

import { ApplyConflicts } from "./apply/conflicts.ts";
import { fieldManager } from "./apply/field-manager.ts";
import { FieldSet } from "./apply/field-set.ts";
import { OwnedFields } from "./apply/owned-fields.ts";
import { decodeJsonPatch } from "./patch/json-patch-decode.ts";
import { applyJsonPatch } from "./patch/json-patch.ts";
import { applyMergePatch } from "./patch/merge-patch.ts";
import { applyStrategicMergePatch } from "./patch/strategic-merge.ts";
import { parseLabelSelector } from "./selectors/parse-label-selector.ts";
import { BadSelector } from "./selectors/requirement.ts";
import { toldErrorsMax } from "./status/field-error.ts";
import { StatusError } from "./status/status.ts";
import { deploymentSchema } from "./testing/deployment-schema.ts";
import { Thread } from "./testing/soon.ts";

const deployments = fieldManager({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  schema: deploymentSchema,
  resetFields: new Map([["apps/v1", FieldSet.of(["status"])]]),
});
const blobs = fieldManager({ group: "x.io", version: "v1", kind: "Blob", schema: undefined });
const options = { manager: "m", force: true, now: "2026-01-01T00:00:00Z" };
const blob = (spec: Json): JsonObject => ({
  apiVersion: "x.io/v1",
  kind: "Blob",
  metadata: { name: "b" },
  spec,
});

/** Every way in which a value from outside reaches the rules. */
const ways: readonly (readonly [string, (value: Json) => unknown])[] = [
  [
    "JSON patch",
    (value) => applyJsonPatch({}, decodeJsonPatch([{ op: "add", path: "/a", value }]).operations),
  ],
  ["merge patch", (value) => applyMergePatch({ a: 1 }, { a: value })],
  [
    "strategic merge patch",
    (value) => applyStrategicMergePatch({ spec: { a: 1 } }, { spec: value }, deploymentSchema),
  ],
  ["apply", (value) => blobs.apply(undefined, blob(value), options)],
];

/** As many characters as a request may bring. */
const length = 3 * 1024 * 1024;

/** The value of an expression, found in a thread of its own: one that would take for ever is ended. */
async function soon(expression: string, scope: object): Promise<unknown> {
  const program = `
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", async ({ ${Object.keys(scope).join(", ")} }) => {
      parentPort.postMessage(${expression.replaceAll('"./', `"file://${import.meta.dirname}/`)});
    });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  await using thread = new Thread(() => new Worker(url));
  return await thread.ask(scope);
}

suite("hostile input", () => {
  for (const [what, feed] of ways) {
    test(`${what} refuses a depth of 10,000`, () => {
      let value: Json = "bottom";
      for (let i = 0; i < 10_000; i++) value = i % 2 === 0 ? { a: value } : [value];
      assert.throws(() => feed(value), StatusError);
    });

    test(`${what} takes ten megabytes in bounded time`, () => {
      feed(
        Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, "x".repeat(500)])),
      );
      feed(Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}`, text: "x".repeat(500) })));
    });

    test(`${what} takes __proto__ and constructor for ordinary keys`, () => {
      const value = readJson(
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      );
      const text = JSON.stringify(feed(value));
      assert.match(text, /__proto__/);
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    });

    test(`${what} keeps odd numbers and lone surrogates`, () => {
      const numbers = ["1e400", "-0", "1.0", "9223372036854775807", "12345678901234567890"];
      const text = writeJson(feed(readJson(`{"n":[${numbers.join(",")}]}`)) as Json);
      assert.ok(text.includes(`"n":[${numbers.join(",")}]`), text);
      const halves = writeJson(feed({ a: "\ud800", "\udfff": "\ud83d" }) as Json);
      assert.match(halves, /"a":"\\ud800","\\udfff":"\\ud83d"/);
    });
  }

  test("strategic merge of long lists takes time in proportion", () => {
    const list = (image: string): Json[] =>
      Array.from({ length: 10_000 }, (_, i) => ({ name: `c${i}`, image }));
    const object = { spec: { template: { spec: { containers: list("a") } } } };
    const result = applyStrategicMergePatch(
      object,
      { spec: { template: { spec: { containers: list("b") } } } },
      deploymentSchema,
    );
    assert.match(JSON.stringify(result), /"name":"c9999","image":"b"/);
  });

  test("apply of long lists takes time in proportion", () => {
    const config = (image: string): JsonObject => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: {
        template: {
          spec: {
            containers: Array.from({ length: 5_000 }, (_, i) => ({ name: `c${i}`, image })),
          },
        },
      },
    });
    const live = deployments.apply(undefined, config("a"), options).object;
    const changed = deployments.apply(live, config("b"), options).object;
    assert.match(JSON.stringify(changed), /"name":"c4999","image":"b"/);
    const without = deployments.apply(live, { ...config("b"), spec: { replicas: 1 } }, options);
    assert.doesNotMatch(JSON.stringify(without.object), /"name":"c4999"/);
  });

  test("conflicts in very many fields are counted, but for those that are allowed, and the first are told", () => {
    const fields = new FieldSet();
    for (let i = 0; i < 200_000; i++) fields.insert([`k${i}`]);
    const manager = {
      manager: "m",
      operation: "Apply",
      apiVersion: "v1",
      subresource: "",
      time: undefined,
      owned: OwnedFields.of(fields),
    } as const;
    const conflicts = new ApplyConflicts([{ key: "m", manager, fields }]);
    const { status } = conflicts.without(FieldSet.of(["k0"])).toStatus();
    assert.match(status.message ?? "", /^Apply failed with 199999 conflicts: /);
    assert.equal(status.details?.causes?.length, toldErrorsMax + 1);
  });

  test("managed fields that make no sense do no harm", () => {
    for (const managedFields of [
      1,
      "x",
      {},
      [1],
      [null],
      [{ fieldsV1: 5 }],
      [
        {
          operation: "Update",
          apiVersion: "apps/v1",
          fieldsType: "FieldsV1",
          fieldsV1: { 'k:{"__proto__":1}': {}, "f:__proto__": {} },
        },
      ],
    ] as readonly Json[]) {
      const object = { ...blob({}), metadata: { name: "b", uid: "u", managedFields } };
      blobs.update(object, object, options);
      try {
        blobs.apply(object, blob({ a: 1 }), options);
      } catch (error) {
        assert.ok(error instanceof StatusError, String(error));
      }
    }
  });

  for (const [what, format, text] of [
    ["digits without a unit", "duration", "1".repeat(length)],
    ["a name that is none", "email", `${"a".repeat(length)}(<a@b>`],
    ["a quote that does not end", "email", `"${'\\"'.repeat(length / 2)}<a@b>`],
    ["blanks in the middle", "email", `a${" ".repeat(length)}b`],
    ["short words", "hostname", "a.".repeat(length / 2)],
    ["digits with a mark behind them", "byte", `${"a".repeat(length)}!`],
  ] as const) {
    test(`three megabytes of ${what} are no ${format}, and that is found soon`, async () => {
      const check = `(await import("./schema/formats.ts")).formatCheck(format)(text)`;
      assert.equal(await soon(check, { format, text }), false);
    });
  }

  for (const [rule, text] of [
    ["self.trim() != ''", `a${" ".repeat(length)}b`],
    ["double(self) > 0.0", `${"1".repeat(length)}x`],
    ["duration(self) > duration('0s')", "1".repeat(length)],
  ] as const) {
    test(`a rule ends soon with three megabytes: ${rule}`, async () => {
      const run = `(await import("./cel/rules.ts")).validateRules(schema, text, { isObject: false, perRule: Infinity, perRequest: Infinity }).errors.length`;
      const schema = { type: "string", "x-kubernetes-validations": [{ rule }] };
      assert.equal(await soon(run, { schema, text }), rule.startsWith("self") ? 0 : 1);
    });
  }

  test("selectors of megabytes are read or refused quickly", () => {
    assert.throws(() => parseLabelSelector("(".repeat(1_000_000)), BadSelector);
    assert.equal(parseLabelSelector("a,".repeat(20_000) + "a").length, 20_001);
    assert.throws(() => parseLabelSelector(`a in (${"b,".repeat(100_000)}`), BadSelector);
  });
});
