// Objects with something wrong in them, made by chance.

import { cloneJson, isJsonArray, isJsonObject } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import type { BuiltinKind, BuiltinKinds, FieldType } from "@keelson/kube";

import { changed, type Change, type UpdateCase } from "./cases.ts";

const words: readonly string[] = [
  "",
  "a",
  "a-b",
  "-a",
  "a.b",
  "Bad_Name",
  "a/b",
  "/a",
  "a/b/c",
  "a b",
  "*",
  "*.example.com",
  "x".repeat(64),
  "x".repeat(260),
  "example.com",
  "example.com/one",
  "10.0.0.1",
  "10.0.0.01",
  "2001:db8::1",
  "::ffff:1.2.3.4",
  "10.0.0.0/8",
  "50%",
  "101%",
  "-5",
  "https://a.b/c?d",
  "ü",
  "a\nb",
  // Messages show it in one way or another, by the type of the field.
  "<>&",
  "Exists",
  "In",
  "None",
  "Always",
  "TCP",
  "True",
  "v1",
  "kubernetes.io/x",
  "system:x",
  "cpu",
  "example.com/gpu",
  "..",
];
const numbers: readonly number[] = [
  -1, 0, 1, 2, 5, 63, 80, 100, 101, 255, 256, 600, 1000, 65_535, 65_536, 2_000_000_000,
];

/** Fields that are not the kinds' own, or whose words are another parser's. */
const untouched = new Set([
  "apiVersion",
  "kind",
  "managedFields",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "selfLink",
  "ownerReferences",
  "finalizers",
  "generateName",
  "namespace",
  "name",
  "expression",
  "valueExpression",
  "messageExpression",
  "rule",
  "request",
  "openAPIV3Schema",
  "adminAccess",
  "inlineVolumeSpec",
  "caBundle",
  "trustBundle",
  "certificate",
]);

/** What the server gives to Services before it judges them. */
export const given: readonly string[] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];

/** Parts that are judged by themselves. */
const separate = new Set(["metadata", "status"]);

/** Changes an object once or twice: by a case of its table, or somewhere by chance. */
export function mutate(
  object: JsonObject,
  {
    cases,
    kind,
    kinds,
    random,
  }: {
    readonly cases: readonly (Change | UpdateCase)[];
    readonly kind: BuiltinKind;
    readonly kinds: BuiltinKinds;
    readonly random: Random;
  },
): MutableJsonObject {
  let next = cloneJson(object);
  for (let times = 1 + random.integer(2); times > 0; times -= 1) {
    const one = cases.length > 0 && random.integer(2) === 0 ? random.pick(cases) : undefined;
    if (one !== undefined && !Object.hasOwn(one, "before")) {
      // oxlint-disable-next-line no-unsafe-type-assertion -- what has no `before` is a plain change
      next = changed(next, withoutNames(one as Change));
    } else mutateStruct(next, kind.type, { kinds, random, depth: 0 });
  }
  return next;
}

/** Changes something in the status of an object. */
export function mutateStatus(
  object: JsonObject,
  { kind, kinds, random }: { readonly kind: BuiltinKind } & Omit<Chance, "depth">,
): MutableJsonObject {
  const next = cloneJson(object);
  const field = fieldsOf(kinds, kind.type).find(({ name }) => name === "status");
  const status = next["status"] ?? {};
  if (field?.type.form !== "struct" || !isJsonObject(status)) return next;
  next["status"] = status;
  for (let times = 1 + random.integer(3); times > 0; times -= 1) {
    mutateStruct(status, field.type.struct, { kinds, random, depth: 1 });
  }
  return next;
}

/** Names are left as they are: an update cannot change them. */
function withoutNames(change: Change): Change {
  const kept = Object.entries(change).filter(
    ([path]) => !/^(?:metadata|status)(?:\/|$)/.test(path),
  );
  return Object.fromEntries(kept);
}

interface Chance {
  readonly kinds: BuiltinKinds;
  readonly random: Random;
  readonly depth: number;
}

function mutateStruct(object: MutableJsonObject, type: string, chance: Chance): void {
  const { kinds, random, depth } = chance;
  const fields = fieldsOf(kinds, type).filter(
    ({ name }) =>
      !untouched.has(name) &&
      (depth > 0 || !separate.has(name)) &&
      !(type === "core.v1.ServiceSpec" && given.includes(name)),
  );
  if (fields.length === 0) return;
  // What is there already is more interesting than what is not.
  const present = fields.filter(({ name }) => object[name] !== undefined);
  const field = random.pick(present.length > 0 && random.integer(4) > 0 ? present : fields);
  const value = object[field.name];
  if (value === undefined) object[field.name] = valueOf(field.type, chance);
  else if (random.integer(8) === 0) delete object[field.name];
  else object[field.name] = mutateValue(value, field.type, { ...chance, depth: depth + 1 });
}

function mutateValue(value: MutableJson, type: FieldType, chance: Chance): MutableJson {
  const { random } = chance;
  switch (type.form) {
    case "scalar":
      return valueOf(type, chance);
    case "struct":
      if (isJsonObject(value)) mutateStruct(value, type.struct, chance);
      else return valueOf(type, chance);
      return value;
    case "list": {
      if (!isJsonArray(value) || value.length === 0) return valueOf(type, chance);
      const index = random.integer(value.length);
      const item = value[index] ?? null;
      switch (random.integer(4)) {
        case 0:
          value.push(cloneJson(item));
          break;
        case 1:
          value.splice(index, 1);
          break;
        default:
          value[index] = mutateValue(item, type.item, chance);
      }
      return value;
    }
    case "map": {
      if (!isJsonObject(value)) return valueOf(type, chance);
      value[random.pick(words)] = valueOf(type.value, chance);
      return value;
    }
  }
}

function valueOf(type: FieldType, chance: Chance): MutableJson {
  const { random, kinds, depth } = chance;
  const below = { ...chance, depth: depth + 1 };
  switch (type.form) {
    case "scalar":
      switch (type.scalar) {
        case "bool":
          return random.integer(2) === 0;
        case "int32":
        case "int64":
        case "uint8":
        case "float64":
          return random.pick(numbers);
        case "bytes":
          return "YWJj";
        case "string":
        case "any":
          return random.pick(words);
      }
      return null;
    case "list":
      return depth > 6
        ? []
        : Array.from({ length: 1 + random.integer(2) }, () => valueOf(type.item, below));
    case "map":
      return { [random.pick(words)]: valueOf(type.value, below) };
    case "struct": {
      const opaque = opaqueValues[type.struct];
      if (opaque !== undefined) return random.pick(opaque);
      if (kinds.structOf(type.struct)?.isOpaque === true || depth > 6) return {};
      const made: MutableJsonObject = {};
      for (const field of fieldsOf(kinds, type.struct)) {
        if (untouched.has(field.name) && field.name !== "name") continue;
        if (random.integer(2) === 0) made[field.name] = valueOf(field.type, below);
      }
      return made;
    }
  }
}

const opaqueValues: Readonly<Record<string, readonly MutableJson[]>> = {
  "intstr.IntOrString": [0, 1, -1, "50%", "150%", "x", "http"],
  "util.intstr.IntOrString": [0, 1, -1, "50%", "150%", "x", "http"],
  "resource.Quantity": ["0", "1", "-1", "100m", "1Gi"],
  "api.resource.Quantity": ["0", "1", "-1", "100m", "1Gi"],
  "meta.v1.Time": ["2026-01-01T00:00:00Z"],
  "meta.v1.MicroTime": ["2026-01-01T00:00:00.000000Z"],
};

function fieldsOf(
  kinds: BuiltinKinds,
  type: string,
): readonly { readonly name: string; readonly type: FieldType }[] {
  return (kinds.structOf(type)?.fields ?? []).flatMap((field) =>
    field.isInline && field.type.form === "struct" ? fieldsOf(kinds, field.type.struct) : [field],
  );
}

/** An answer whose causes are sorted: where a map is wrong twice, the real server tells it in any order. */
export function unordered(verdict: Json, kind: string): Json {
  if (!isJsonObject(verdict)) return verdict;
  const { code = 0, causes = [] } = verdict;
  // Bodies that cannot be decoded are compared elsewhere.
  if (code === 400) return { code };
  const listed = (isJsonArray(causes) ? causes : []).filter((cause) => !isOfAnyList(cause));
  // D8: an empty list is none.
  const texts = listed.map((cause) => JSON.stringify(cause).replaceAll("[]", "null"));
  return { code, causes: texts.map((text) => withoutTurns(text, kind)).toSorted() };
}

/** D8: whoever may not have such a list may not have an empty one in Kubernetes, which to ours is none. */
function isOfAnyList(cause: Json): boolean {
  const { field } = isJsonObject(cause) ? cause : {};
  const lists = /\.ephemeralContainers\[\d+\]\.(?:ports|resizePolicy|restartPolicyRules)$/;
  return typeof field === "string" && lists.test(field);
}

/** The real server makes volumes of a StatefulSet's claims from a map, in any order. */
function withoutTurns(text: string, kind: string): string {
  if (kind !== "StatefulSet") return text;
  return text.replaceAll(/(spec\.template\.spec\.volumes)\[\d+\]/g, "$1[]");
}
