import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";
import * as fc from "fast-check";

import { validateMetadata } from "../../object/metadata-rules.ts";
import { subdomainNames } from "../../object/names.ts";
import { printFieldError } from "../../status/field-error.ts";
import { typedKind, type TypedKind } from "../../typed/typed-kind.ts";
import { TypedDecodeError } from "../../typed/decode-error.ts";
import type { BuiltinKind } from "../builtin-kind.ts";
import { loadBuiltinKinds, loadKindExamples, type BuiltinKinds } from "../builtin-kinds.ts";
import type { RuleContext } from "../kind-rules.ts";
import { rulesOf } from "./rules-of.ts";
import verdicts from "./verdicts.json" with { type: "json" };

const context: RuleContext = { now: "2026-01-01T00:00:00Z", uuid: () => "0000" };

/** A kind, how its example is changed, and what is then wrong with it. */
type Verdict = readonly [kind: string, change: JsonObject, errors: readonly string[]];

interface Subject {
  readonly kind: BuiltinKind;
  readonly typed: TypedKind;
  readonly sent: JsonObject;
  readonly got: JsonObject;
}

describe("the rules of every kind", () => {
  let subjects: Subject[] = [];

  before(async () => {
    const kinds: BuiltinKinds = await loadBuiltinKinds();
    const examples = await loadKindExamples();
    subjects = kinds.all.flatMap((kind) => {
      const example = examples[nameOf(kind)];
      return example === undefined
        ? []
        : [{ kind, typed: typedKind(kinds, kind), sent: example.sent, got: example.got }];
    });
  });

  test("take what the real server took", () => {
    assert.ok(subjects.length > 60);
    for (const { kind, got } of subjects) {
      const errors = rulesOf(kind).validate?.(got, context) ?? [];
      assert.deepEqual(errors.map(printFieldError), [], nameOf(kind));
    }
  });

  test("take an update that changes nothing", () => {
    for (const { kind, got } of subjects) {
      const rules = rulesOf(kind);
      const errors = [
        ...(rules.validateUpdate?.(got, got, context) ?? []),
        ...(rules.validateStatusUpdate?.(got, got, context) ?? []),
      ];
      assert.deepEqual(errors.map(printFieldError), [], nameOf(kind));
    }
  });

  test("prepare what is prepared already to nothing else", () => {
    for (const { kind, sent, typed } of subjects) {
      const { prepareForCreate } = rulesOf(kind);
      if (prepareForCreate === undefined) continue;
      const once = decoded(typed, sent);
      prepareForCreate(once, context);
      const twice = cloneJson(once);
      prepareForCreate(twice, context);
      assert.deepEqual(twice, once, nameOf(kind));
    }
  });

  test("never throw, whatever can be decoded", () => {
    const seeds = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 3, maxLength: 12 });
    const values = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
    for (const { kind, typed, got } of subjects) {
      const rules = rulesOf(kind);
      const property = fc.property(seeds, values, (path, value) => {
        let object: MutableJsonObject;
        try {
          object = decoded(typed, replaced(got, path, value));
        } catch (error) {
          if (error instanceof TypedDecodeError) return;
          throw error;
        }
        rules.validate?.(object, context);
        rules.validateUpdate?.(object, got, context);
        rules.validateUpdate?.(got, object, context);
        rules.validateStatusUpdate?.(object, got, context);
        rules.warnings?.(object, got);
        rules.prepareForUpdate?.(cloneJson(object), got, context);
        rules.prepareForStatusUpdate?.(cloneJson(object), got, context);
        rules.prepareForCreate?.(object, context);
      });
      fc.assert(property, { numRuns: 20 });
    }
  });

  test("say what the real server says", () => {
    // The oracle is asked the same in test/oracle.
    for (const [name, change, expected] of verdicts as unknown as readonly Verdict[]) {
      const subject = subjects.find(({ kind }) => nameOf(kind) === name);
      assert.ok(subject !== undefined, name);
      const { kind, typed, sent } = subject;
      const object = decoded(typed, merged(sent, change));
      const rules = rulesOf(kind);
      rules.prepareForCreate?.(object, context);
      const { metadata = null } = object;
      assert.ok(isJsonObject(metadata));
      const options = {
        isNamespaced: kind.isNamespaced,
        nameRule: rules.namesFor?.(object) ?? rules.names ?? subdomainNames,
      };
      const errors = [
        ...validateMetadata(metadata, options),
        ...(rules.validate?.(object, context) ?? []),
      ];
      assert.deepEqual(errors.map(printFieldError), expected, `${name} ${JSON.stringify(change)}`);
    }
  });
});

test("rules are found by group and kind alone", () => {
  assert.deepEqual(rulesOf({ group: "", kind: "constructor" }), {});
  assert.deepEqual(rulesOf({ group: "__proto__", kind: "Pod" }), {});
});

function nameOf({ group, version, kind }: BuiltinKind): string {
  return `${group}/${version}/${kind}`;
}

function decoded(typed: TypedKind, sent: JsonObject): MutableJsonObject {
  const { object } = typed.decode(sent);
  typed.applyDefaults(object, context);
  return object;
}

/** A copy in which the value stands somewhere that the numbers lead to. */
function replaced(object: JsonObject, path: readonly number[], value: Json): JsonObject {
  const copy = cloneJson(object);
  let place: MutableJson = copy;
  for (const step of path) {
    if (!isJsonObject(place) && !isJsonArray(place)) break;
    const holder: MutableJsonObject | MutableJson[] = place;
    const keys: readonly (string | number)[] = isJsonArray(holder)
      ? [...holder.keys()]
      : Object.keys(holder);
    const key = keys[step % Math.max(keys.length, 1)];
    if (key === undefined) break;
    const next: MutableJson = isJsonArray(holder)
      ? (holder[Number(key)] ?? null)
      : (holder[key] ?? null);
    const isLeaf = !isJsonObject(next) && !isJsonArray(next);
    if (isLeaf || step % 5 === 0) {
      if (isJsonArray(holder)) holder[Number(key)] = cloneJson(value);
      else holder[key] = cloneJson(value);
      break;
    }
    place = next;
  }
  return copy;
}

/** A copy with the changes in it, member by member; null takes away. */
function merged(object: JsonObject, change: JsonObject): JsonObject {
  const copy: Record<string, Json> = { ...object };
  for (const [key, value] of Object.entries(change)) {
    const old = copy[key];
    if (value === null) delete copy[key];
    else if (isJsonObject(value) && old !== undefined && isJsonObject(old)) {
      copy[key] = merged(old, value);
    } else copy[key] = value;
  }
  return copy;
}
