// Rules with values that keep and break them.

import type { Json, Random } from "@keelson/base";
import type { StructuralSchema, ValidationRule } from "@keelson/kube";

export interface CelCase {
  readonly schema: StructuralSchema;
  readonly rule: string | ValidationRule;
  /** Values to create with; those also change into each other where the rule compares with the old one. */
  readonly values: readonly Json[];
}

const text: StructuralSchema = { type: "string", maxLength: 64 };
const integer: StructuralSchema = { type: "integer" };
const number: StructuralSchema = { type: "number" };
const flag: StructuralSchema = { type: "boolean" };
const texts: StructuralSchema = { type: "array", maxItems: 10, items: text };
const integers: StructuralSchema = { type: "array", maxItems: 10, items: integer };
const labels: StructuralSchema = { type: "object", maxProperties: 10, additionalProperties: text };
const pair: StructuralSchema = {
  type: "object",
  properties: {
    a: integer,
    b: integer,
    s: text,
    if: text,
    "x-y": text,
    n: { ...text, nullable: true },
  },
};
const nested: StructuralSchema = {
  type: "object",
  properties: { inner: pair, list: integers, map: labels, flag, num: number },
};
const set: StructuralSchema = { ...texts, "x-kubernetes-list-type": "set" };
const listMap: StructuralSchema = {
  type: "array",
  maxItems: 10,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { type: "object", required: ["name"], properties: { name: text, v: integer } },
};
const intOrString: StructuralSchema = { "x-kubernetes-int-or-string": true, maxLength: 20 };
const instant: StructuralSchema = { type: "string", format: "date-time" };
const day: StructuralSchema = { type: "string", format: "date" };
const period: StructuralSchema = { type: "string", format: "duration" };
const blob: StructuralSchema = { type: "string", format: "byte", maxLength: 64 };

const words: Json[] = ["", "a", "abc", "Hello, wörld", "a,b,,c", "  x  ", "10", "1.5", "-3", "😀b"];
const numbers: Json[] = [0, 1, 2, -1, 7, 9007199254740993n, 2147483648];
const pairs: Json[] = [
  {},
  { a: 1 },
  { a: 1, b: 2 },
  { a: 2, b: 1, s: "x" },
  { if: "y", "x-y": "z" },
  { n: null },
];
const nests: Json[] = [
  {},
  { inner: { a: 1, b: 1 }, list: [1, 2, 3], map: { a: "b" }, flag: true, num: 1.5 },
  { list: [], map: {}, num: 2 },
  { inner: {}, list: [3, 1, 2, 3], map: { x: "y", z: "" } },
];
const lists: Json[] = [[], [1], [1, 2, 3], [3, 2, 1], [0, 5], [2, 2]];
const textLists: Json[] = [[], ["a"], ["a", "b"], ["b", "a", "abc"]];

function rules(
  schema: StructuralSchema,
  values: readonly Json[],
  ...written: readonly (string | ValidationRule)[]
): CelCase[] {
  return written.map((rule) => ({ schema, rule, values }));
}

export const celCases: readonly CelCase[] = [
  ...rules(
    text,
    words,
    "self == 'a'",
    "self != 'a' && size(self) > 0",
    "self.size() < 4",
    "self.startsWith('a') || self.endsWith('c')",
    "self.contains('b')",
    "self.matches('^[a-z]+$')",
    "self.charAt(0) == 'a'",
    "self.indexOf('b') == 1",
    "self.indexOf('b', 1) == 1",
    "self.lastIndexOf('c') > 1",
    "self.split(',').size() > 1",
    "self.split(',', 2).size() == 2",
    "self.lowerAscii() == self",
    "self.upperAscii() != self",
    "self.replace('a', 'b') == 'bbc'",
    "self.replace('', '-', 2).size() > 3",
    "self.substring(1) == 'bc'",
    "self.substring(0, 2) == 'ab'",
    "self.trim() == self",
    "self.find('[0-9]+') != ''",
    "self.findAll('[a-z]').size() > 1",
    "self.findAll('[a-z]', 1).size() == 1",
    "int(self) > 0",
    "double(self) > 1.0",
    "uint(self) > 1u",
    "bool(self)",
    "self in ['a', 'abc']",
    "self < 'b'",
    "self + 'x' == 'ax'",
    "bytes(self).size() == 3",
    "string(bytes(self)) == self",
    "isQuantity(self)",
    "quantity(self).isGreaterThan(quantity('1'))",
    "isQuantity(self) && quantity(self).add(1).sub(quantity('500m')).compareTo(quantity('1')) >= 0",
    "quantity('1Ki').asInteger() == 1024 && quantity('1.5').asApproximateFloat() == 1.5",
    "['', '.', '+', 'm', '1e', '1E', '1e3', '1.5Ki', '0.1n', '1Zi', '1 ', '12e-10'].exists_one(q, isQuantity(q))",
    "isQuantity('+') && isQuantity('m') && isQuantity('.5')",
    "quantity('1e5').isInteger() && !quantity('0.1').isInteger()",
    "sign(quantity('-3k')) == -1 && sign(quantity('0')) == 0",
    "type(self) == string",
    "duration(self) > duration('1s')",
    "self == 'a' ? true : self == 'abc'",
    { rule: "self == 'a'", message: "must be a" },
    { rule: "self == 'a'", messageExpression: "'got ' + self" },
    { rule: "self == 'a'", messageExpression: "self.charAt(100)", message: "fallback" },
    { rule: "self == 'a'", messageExpression: "'  '" },
    { rule: "self == 'a'", reason: "FieldValueForbidden" },
    { rule: "self == 'a'", reason: "FieldValueRequired", message: "no a" },
    { rule: "self == 'a'", reason: "FieldValueDuplicate" },
    "self == oldSelf",
    { rule: "oldSelf.hasValue() || self == 'a'", optionalOldSelf: true },
    { rule: "oldSelf.orValue('a') == 'a'", optionalOldSelf: true },
    { rule: "!oldSelf.hasValue() || oldSelf.value() != self", optionalOldSelf: true },
  ),
  ...rules(
    integer,
    numbers,
    "self > 0",
    "self >= 1 && self <= 7",
    "self % 2 == 0",
    "10 / self > 1",
    "self * 9223372036854775807 > 0",
    "self + 9223372036854775807 > 0",
    "-self < 0",
    "self - 1 >= 0",
    "double(self) / 2.0 > 0.5",
    "string(self) == '1'",
    "uint(self) > 0u",
    "self in [1, 2, 3]",
    "self > 0.5",
    "timestamp(self) > timestamp('1970-01-01T00:00:01Z')",
    "[1, 2, 3][self] > 1",
    "!(self > 1)",
    "self >= oldSelf",
    "dyn(self) == 1",
    "type(self) == int",
  ),
  ...rules(
    number,
    [0, 1.5, 2, -0.5, 1e20],
    "self > 1.0",
    "self > 1",
    "int(self) == 1",
    "string(self) == '1.5'",
    "self * 2.0 == 3.0",
  ),
  ...rules(flag, [true, false], "self", "!self", "self == true", "string(self) == 'true'"),
  ...rules(
    pair,
    pairs,
    "has(self.a)",
    "has(self.a) && self.a > 1",
    "self.a < self.b",
    "!has(self.a) || self.a == 1",
    "self.__if__ == 'y'",
    "self.x__dash__y == 'z'",
    "self.?a.orValue(5) > 1",
    "self.?a.hasValue()",
    "self.?s.optMap(x, x.size()).orValue(0) == 1",
    "self.a > 1 || true",
    "self.a > 1 && false",
    { rule: "self.a == 1", fieldPath: ".a" },
    { rule: "self.a == 1", fieldPath: "['x-y']", message: "no" },
    { rule: "has(self.a)", reason: "FieldValueRequired", fieldPath: ".a" },
    "self == oldSelf",
    "has(oldSelf.a) == has(self.a)",
  ),
  ...rules(
    nested,
    nests,
    "has(self.inner) && has(self.inner.a) && self.inner.a == self.inner.b",
    "self.list.all(x, x > 1)",
    "self.list.exists(x, x == 2)",
    "self.list.exists_one(x, x == 3)",
    "self.list.filter(x, x > 1).size() == 2",
    "self.list.map(x, x * 2).exists(y, y == 4)",
    "self.list.map(x, x > 1, x + 1).size() > 0",
    "self.map.all(k, self.map[k] != '')",
    "'a' in self.map",
    "self.map['a'] == 'b'",
    "self.map.size() == size(self.list)",
    "self.?map['a'].orValue('z') == 'b'",
    "self.map[?'a'].orValue('z') == 'b'",
    "self.inner.?a.orValue(0) == 1",
    "self.num > 1.0 || self.flag",
    "self.list.sum() > 5",
    "self.list.max() == 3 && self.list.min() == 1",
    "self.list.isSorted()",
    "self.list.indexOf(3) == 0",
    "self.list.lastIndexOf(3) == 3",
    "self.list + [4] == [1, 2, 3, 4]",
    "self.list == [1, 2, 3]",
    "self.map == {'a': 'b'}",
    "self.list[0] == 1",
    "self.list.all(i, v, v > i)",
    "self.list.transformList(i, v, v + i).size() == 3",
    "optional.of(self.list).hasValue()",
    "self.map.map(k, k).size() == 1",
    "self.list.all(x, self.list.all(y, x == y || x != y))",
    "[?self.?num].size() == 1",
    "[1.5, ?self.?num, ?optional.none()].size() == 2",
    "[?self.?inner.a, 7] == [1, 7]",
    "[?(self.map[?'a'])] == ['b']",
    "{?'n': self.?num, 'x': 2.0}.size() == 2",
    "{'x': [?self.map[?'a']], ?'y': self.?list.optMap(l, ['c', ?self.map[?'a']])}.size() == 2",
    "[?self.?flag, true ? true : false].all(x, x)",
    { rule: "{?'q?': self.?flag, // a ?\n 'r': true}.size() == 1", message: "two lines" },
    "[self.?flag, ?optional.of(optional.of(true))].size() == 2",
  ),
  ...rules(
    integers,
    lists,
    "self.all(x, x > 0)",
    "self.size() > 1",
    "self[0] == 1",
    "self.exists(x, 10 / x > 3)",
    "self.all(x, 10 / x > 3)",
    "self.sum() == 6",
  ),
  ...rules(
    texts,
    textLists,
    "self.join(',') == 'a,b'",
    "'a' in self",
    "self.all(x, x.size() == 1)",
    "self == ['a', 'b']",
  ),
  ...rules(
    set,
    textLists,
    "self == ['b', 'a']",
    "self + ['a'] == self",
    "oldSelf.all(x, x in self)",
  ),
  ...rules(
    listMap,
    [
      [],
      [{ name: "a", v: 1 }],
      [
        { name: "b", v: 2 },
        { name: "a", v: 1 },
      ],
      [
        { name: "a", v: 1 },
        { name: "b", v: 2 },
      ],
    ],
    "self.all(x, x.v > 0)",
    "self == oldSelf",
    "self.exists(x, x.name == 'b')",
    "self.filter(x, x.name == 'a').all(x, x.v == 1)",
  ),
  ...rules(
    intOrString,
    [1, 5, "a", "50%"],
    "type(self) == int",
    "type(self) == string && self.matches('^[0-9]+%$')",
    "type(self) == int ? self < 5 : self == 'a'",
    "self > 1",
    "self == 'a'",
  ),
  ...rules(
    instant,
    ["2026-01-02T03:04:05Z", "2026-06-15T23:59:59.123+02:00"],
    "self > timestamp('2026-03-01T00:00:00Z')",
    "self.getFullYear() == 2026 && self.getMonth() == 0",
    "self.getHours() == 3",
    "self.getHours('+01:00') == 4",
    "self.getDayOfYear() == 1",
    "self.getDate() == 2 && self.getDayOfMonth() == 1 && self.getDayOfWeek() == 5",
    "self.getMilliseconds() == 123",
    "self - timestamp('2026-01-01T00:00:00Z') < duration('48h')",
    "self + duration('1h') > self",
    "string(self) == '2026-01-02T03:04:05Z'",
    "int(self) > 1767225600",
    "self.getHours('Europe/Berlin') == 4",
  ),
  ...rules(
    day,
    ["2026-01-02", "2025-12-31"],
    "self.getFullYear() == 2026",
    "self < timestamp('2026-01-01T00:00:00Z')",
  ),
  ...rules(
    period,
    ["1h", "90m", "1.5s", "2 days"],
    "self > duration('1h')",
    "self.getMinutes() == 90",
    "self.getSeconds() == 1",
    "self.getHours() >= 1",
    "string(self) == '3600s'",
    "self + self == duration('2h')",
  ),
  ...rules(
    blob,
    ["YWJj", "", "AAECAw=="],
    "self.size() == 3",
    "string(self) == 'abc'",
    "self == b'abc'",
  ),
  ...rules(
    labels,
    [{}, { a: "b" }, { "a.b/c": "d", x: "" }],
    "self.all(k, k.size() == 1)",
    "self.exists(k, self[k] == '')",
    "'a.b/c' in self && self['a.b/c'] == 'd'",
    "has(self.a)",
    "self.a == 'b'",
    { rule: "self.all(k, k == 'a')", fieldPath: "['a']" },
  ),
];

/** Rules made of others for the same schema, joined at random: what decides, and which errors count, gets complicated. */
export function joinedCases(random: Random, count: number): CelCase[] {
  // A sum with a set only once: the real server's set remembers what was ever added to it.
  const plain = celCases.filter(
    ({ rule, schema: of }) => typeof rule === "string" && !rule.includes("oldSelf") && of !== set,
  );
  const groups = [...Map.groupBy(plain, ({ schema }) => schema).values()];
  return Array.from({ length: count }, () => {
    const group = random.pick(groups);
    const part = (): string => `(${random.pick(group).rule as string})`;
    const joined = random.pick([
      () => `${part()} && ${part()}`,
      () => `${part()} || ${part()}`,
      () => `!${part()}`,
      () => `${part()} ? ${part()} : ${part()}`,
      () => `[${part()}, ${part()}].all(p, p)`,
      () => `[1, 2].exists(q, ${part()} && q == 2) || ${part()}`,
      () => `${part()} == ${part()}`,
    ]);
    const [first] = group;
    return { schema: first?.schema ?? {}, rule: joined(), values: first?.values ?? [] };
  });
}

/** Rules that must not compile. */
export const badRules: readonly {
  readonly schema: StructuralSchema;
  readonly rule: string | ValidationRule;
}[] = [
  { schema: text, rule: "self.nope" },
  { schema: text, rule: "self + 1 == 'a'" },
  { schema: text, rule: "self" },
  { schema: text, rule: "other == 1" },
  { schema: text, rule: "self.frobnicate()" },
  { schema: text, rule: "frobnicate(self)" },
  { schema: integer, rule: "self == 'a'" },
  { schema: integer, rule: "self.size() == 1" },
  { schema: integer, rule: "self && true" },
  { schema: integer, rule: "!self" },
  { schema: integer, rule: "self.all(x, x)" },
  { schema: integers, rule: "self.all(x, x)" },
  { schema: integers, rule: "self.map(x, x)" },
  { schema: integers, rule: "self['a'] == 1" },
  { schema: integers, rule: "self == ['a']" },
  { schema: integers, rule: "self + ['a'] == self" },
  { schema: pair, rule: "self.zz == 1" },
  { schema: pair, rule: "has(self.zz)" },
  { schema: pair, rule: "self.a == 'x'" },
  { schema: pair, rule: "self.a ? true : false" },
  { schema: pair, rule: "true ? self.a : self.s" },
  { schema: pair, rule: "[1, 'a'].size() == 2" },
  { schema: pair, rule: "{'a': 1, 'b': 'c'}.size() == 2" },
  { schema: labels, rule: "self[1] == 'a'" },
  { schema: labels, rule: "1 in self" },
  { schema: text, rule: "quantity(self).sign() == 1" },
  { schema: text, rule: "[?self].size() == 1" },
  { schema: text, rule: "{?'a': self}.size() == 1" },
  { schema: text, rule: "[?optional.of(1), 'a'].size() == 1" },
  { schema: text, rule: "{?'a': optional.of(1), 'b': 'c'}.size() == 1" },
  { schema: text, rule: { rule: "self == 'a'", messageExpression: "1" } },
  { schema: text, rule: { rule: "self == 'a'", messageExpression: "nope" } },
  { schema: text, rule: { rule: "self == 'a'", optionalOldSelf: true } },
  { schema: integers, rule: "self.exists_one(x, x + 1)" },
  { schema: instant, rule: "self == 'a'" },
  { schema: instant, rule: "self.getNope() == 1" },
  { schema: period, rule: "self + 1 == self" },
  { schema: { "x-kubernetes-preserve-unknown-fields": true }, rule: "true" },
  {
    schema: { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } },
    rule: "true",
  },
];
