// Random writes to an object: the four kinds of patches, and a replacement.

import { isJsonArray, isJsonObject, type Json, type JsonObject, type Random } from "@keelson/base";
import type { StructuralSchema } from "@keelson/kube";

import type { Subject } from "./subjects.ts";
import { partOf } from "./values.ts";

export type StepType = "json" | "merge" | "strategic" | "apply" | "update";

export interface Step {
  readonly type: StepType;
  readonly manager: string;
  readonly force: boolean;
  /** The endpoint. */
  readonly subresource: "" | "status";
  /** The patch, or the whole object. */
  readonly body: Json;
}

const few = ["alpha", "beta", "gamma", "kubectl"] as const;
const many: readonly string[] = Array.from({ length: 16 }, (_, index) => `manager-${index}`);
const identity = new Set(["apiVersion", "kind", "name", "namespace", "uid"]);
const itemKeys = new Set([
  "name",
  "containerPort",
  "mountPath",
  "ip",
  "topologyKey",
  "port",
  "uid",
  "key",
  "type",
  "clusterIP",
]);
/** Lists that are one leaf: their items are compared in Go, where an empty map is not an absent one. */
const wholes = ["limits", "metrics", "behavior", "rules"];
const keep = new Set([...identity, ...itemKeys, ...wholes]);

/** One write to `live`, of a type that the subject understands. */
export function makeStep(
  subject: Subject,
  schema: StructuralSchema | undefined,
  live: JsonObject,
  { random, isCrowded }: { readonly random: Random; readonly isCrowded: boolean },
): Step {
  const types: StepType[] = ["json", "merge", "apply", "apply", "update"];
  if (subject.isBuiltIn) types.push("strategic", "strategic");
  const type = random.pick(types);
  const manager = random.pick(isCrowded ? many : few);
  const isStatus = subject.status !== undefined && random.float() < 0.3;
  const target = isStatus ? statusTarget(subject, random) : subject.make(random);
  const body = bodyOf({ type, subject, schema, live, target, random, isStatus });
  const force = type === "apply" && random.float() < 0.5;
  return { type, manager, force, subresource: isStatus ? "status" : "", body };
}

/** A status, and sometimes more than the endpoint takes. */
function statusTarget(subject: Subject, random: Random): JsonObject {
  const made = random.float() < 0.3 ? subject.make(random) : {};
  return { ...made, status: subject.status?.make(random) ?? {} };
}

interface Making {
  readonly type: StepType;
  readonly subject: Subject;
  readonly schema: StructuralSchema | undefined;
  readonly live: JsonObject;
  readonly target: JsonObject;
  readonly random: Random;
  readonly isStatus: boolean;
}

function bodyOf(making: Making): Json {
  const { type, live, target, random } = making;
  const chance = random.pick([0.3, 0.6, 0.9, 1]);
  switch (type) {
    case "json":
      return jsonPatch(making);
    case "merge":
      return withNulls(partOf(target, random, { keep, chance }), random);
    case "strategic": {
      const part = partOf(target, random, { keep, chance }) as JsonObject;
      const directives = { random, mistakes: random.float() < 0.15 ? 1 : 0 };
      return withDirectives(withNulls(part, random) as JsonObject, live, making.schema, directives);
    }
    case "apply":
      return named(making, partOf(target, random, { keep, chance }) as JsonObject);
    case "update":
      return replacement(making);
  }
}

/** The part with the name that every applied object must have. */
function named({ subject, live, random }: Making, part: JsonObject): JsonObject {
  const metadata = (live["metadata"] ?? {}) as JsonObject;
  const result: Record<string, Json> = {
    ...part,
    apiVersion: subject.group === "" ? subject.version : `${subject.group}/${subject.version}`,
    kind: subject.kind,
    metadata: {
      ...(part["metadata"] as JsonObject | undefined),
      name: metadata["name"] ?? "x",
      ...(subject.isNamespaced && random.float() < 0.5
        ? { namespace: metadata["namespace"] ?? "default" }
        : {}),
    },
  };
  const mistake = random.float();
  // One at a time: which of several is told first is up to the order of Go's maps.
  if (mistake < 0.03) result["unknownField"] = 1;
  else if (mistake < 0.06) result["spec"] = random.pick<Json>(["text", 1, [], null, true]);
  else if (mistake < 0.08) (result["metadata"] as Record<string, Json>)["labels"] = 5;
  return result;
}

function replacement({ live, target, random }: Making): JsonObject {
  const metadata = { ...((live["metadata"] ?? {}) as JsonObject) };
  const wanted = (target["metadata"] ?? {}) as JsonObject;
  const next: Record<string, Json> = { ...metadata };
  for (const key of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    delete next[key];
    const value = wanted[key];
    if (value !== undefined) next[key] = value;
  }
  if (random.float() < 0.1) {
    next["annotations"] = {
      ...(next["annotations"] as JsonObject | undefined),
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({
        ...target,
        apiVersion: live["apiVersion"],
        kind: live["kind"],
        metadata: { ...wanted, name: metadata["name"] },
      }),
    };
  }
  const cleared = random.float();
  if (cleared < 0.05) next["managedFields"] = [];
  else if (cleared < 0.1) next["managedFields"] = [{}];
  else if (cleared < 0.15) delete next["managedFields"];
  else if (cleared < 0.18) next["managedFields"] = badEntries(random);
  const body: Record<string, Json> = { ...live, metadata: next };
  for (const key of Object.keys(live)) {
    if (!["apiVersion", "kind", "metadata", "status"].includes(key)) delete body[key];
  }
  for (const [key, value] of Object.entries(target)) if (key !== "metadata") body[key] = value;
  if (target["spec"] === undefined && live["spec"] !== undefined) body["spec"] = live["spec"];
  return body;
}

function badEntries(random: Random): Json {
  return random.pick<Json>([
    [
      {
        manager: "m",
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "x:y": {}, "f:metadata": { "f:labels": { "f:a": {} } } },
      },
    ],
    [
      {
        manager: "m",
        operation: "Update",
        apiVersion: "gone/v9",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": {} },
      },
    ],
    [{ manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1" }],
  ]);
}

/** Some members become null, which merge patches read as absent. */
function withNulls(value: Json, random: Random, depth = 0): Json {
  if (isJsonArray(value)) return value.map((item) => withNulls(item, random, depth + 1));
  if (!isJsonObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const isProtected = keep.has(key) || depth === 0;
    if (wholes.includes(key)) result[key] = member;
    else if (!isProtected && random.float() < 0.08) result[key] = null;
    else result[key] = withNulls(member, random, depth + 1);
  }
  return result;
}

/** Adding directives. At most one mistake for a patch: which of several is told is up to the order of Go's maps. */
interface Directives {
  readonly random: Random;
  mistakes: number;
}

function makesMistake(directives: Directives, chance: number): boolean {
  if (directives.mistakes === 0 || directives.random.float() >= chance) return false;
  directives.mistakes -= 1;
  return true;
}

/** Adds the words of strategic merge patches here and there. */
function withDirectives(
  patch: JsonObject,
  live: Json | undefined,
  schema: StructuralSchema | undefined,
  directives: Directives,
): JsonObject {
  const { random } = directives;
  const current = isJsonObject(live) ? live : {};
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(patch)) {
    const field = schema?.properties?.[key];
    const mergeKey = field?.["x-kubernetes-patch-merge-key"];
    if (isJsonObject(value)) {
      result[key] = withDirectives(value, current[key], field, directives);
      if (random.float() < 0.02) result[key] = { ...result[key], $patch: "replace" };
      else if (random.float() < 0.01) result[key] = { $patch: "delete" };
    } else if (isJsonArray(value) && mergeKey !== undefined) {
      const items = value.filter(isJsonObject).map((item) => {
        const there = isJsonArray(current[key])
          ? current[key].find((other) => isJsonObject(other) && other[mergeKey] === item[mergeKey])
          : undefined;
        return withDirectives(item, there, field?.items, directives);
      });
      const isOrdered = random.float() < 0.25;
      result[key] = withListDirectives(items, current[key], { mergeKey, isOrdered, directives });
      if (isOrdered) orderItems(result, key, current[key], { mergeKey, directives });
    } else if (isJsonArray(value) && field?.["x-kubernetes-patch-strategy"] === "merge") {
      if (random.float() < 0.3) result[`$deleteFromPrimitiveList/${key}`] = value;
      else result[key] = value;
    } else {
      result[key] = value;
    }
  }
  if (random.float() < 0.03 && Object.keys(result).length > 0) {
    const names = Object.keys(result).filter((name) => !name.startsWith("$"));
    result["$retainKeys"] = makesMistake(directives, 0.5) ? names.slice(1) : names;
  }
  return result;
}

function withListDirectives(
  items: readonly JsonObject[],
  live: Json | undefined,
  {
    mergeKey,
    isOrdered,
    directives,
  }: { readonly mergeKey: string; readonly isOrdered: boolean; readonly directives: Directives },
): Json[] {
  const { random } = directives;
  const result: Json[] = [...items];
  const there = isJsonArray(live) ? live.filter(isJsonObject) : [];
  const victim = there[random.integer(Math.max(there.length, 1))];
  if (victim !== undefined && random.float() < 0.2) {
    result.splice(random.integer(result.length + 1), 0, {
      $patch: "delete",
      [mergeKey]: victim[mergeKey] ?? "x",
    });
  }
  if (random.float() < 0.05) {
    // After the last item that an order names, no directive may stand.
    if (isOrdered && !makesMistake(directives, 1)) result.unshift({ $patch: "replace" });
    else result.push({ $patch: "replace" });
  }
  if (makesMistake(directives, 0.3)) {
    const mistakes: JsonObject[] = [{ $patch: "delete" }];
    if (!isOrdered) mistakes.push({ $patch: "nonsense", [mergeKey]: "x" }, { other: "no key" });
    result.push(random.pick(mistakes));
  }
  return result;
}

function orderItems(
  patch: Record<string, Json>,
  key: string,
  live: Json | undefined,
  { mergeKey, directives }: { readonly mergeKey: string; readonly directives: Directives },
): void {
  const { random } = directives;
  const items = (patch[key] as readonly JsonObject[]).filter(
    (item) => item["$patch"] === undefined,
  );
  const there = isJsonArray(live) ? live.filter(isJsonObject) : [];
  const keys = items.map((item) => item[mergeKey] ?? null);
  for (const item of there) {
    const value = item[mergeKey] ?? null;
    if (!keys.includes(value) && random.float() < 0.7) {
      keys.splice(random.integer(keys.length + 1), 0, value);
    }
  }
  if (makesMistake(directives, 0.3)) keys.reverse();
  patch[`$setElementOrder/${key}`] = keys.map((value) => ({ [mergeKey]: value }));
}

/** What a JSON patch must leave alone: identity, and owners, of which the server merges those that are said twice. */
const untouched =
  /^\/(metadata\/(uid|name|resourceVersion|managedFields|creationTimestamp|generation|namespace|ownerReferences\/)|apiVersion|kind)/;

function jsonPatch({ live, target, random, isStatus }: Making): Json {
  const isFree = ({ path }: Pointer): boolean =>
    isStatus ? path.startsWith("/status") : !untouched.test(path) && !path.startsWith("/status");
  const wanted = pointersOf(target).filter(isFree);
  const present = pointersOf(live).filter(isFree);
  const paths = present.length === 0 ? [{ path: "/metadata/labels", value: null }] : present;
  const operations: Json[] = [];
  for (let i = 1 + random.integer(3); i > 0; i--) {
    const here = random.pick(paths);
    const there = wanted.length === 0 ? here : random.pick(wanted);
    const choice = random.float();
    if (choice < 0.15)
      operations.push({
        op: "test",
        path: here.path,
        value: random.float() < 0.8 ? here.value : "no",
      });
    else if (choice < 0.45) operations.push({ op: "add", path: there.path, value: there.value });
    else if (choice < 0.65)
      operations.push({ op: "replace", path: there.path, value: there.value });
    else if (choice < 0.8) operations.push({ op: "remove", path: here.path });
    else if (choice < 0.86)
      operations.push({ op: "copy", from: here.path, path: random.pick(paths).path });
    else if (choice < 0.9) operations.push({ op: "move", from: here.path, path: there.path });
    else if (choice < 0.97)
      operations.push({
        op: "add",
        path: "/metadata/labels",
        value: { app: random.pick(["a", "b"]) },
      });
    else
      operations.push({
        op: random.pick(["add", "nonsense"]),
        path: random.pick(["", "/a/b", "x", "/metadata/labels/-1"]),
        value: 1,
      });
  }
  return operations;
}

interface Pointer {
  readonly path: string;
  readonly value: Json;
}

function pointersOf(value: Json, prefix = ""): Pointer[] {
  const result: Pointer[] = [];
  const visit = (key: string | number, member: Json): void => {
    const path = `${prefix}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    result.push({ path, value: member }, ...pointersOf(member, path));
  };
  if (isJsonArray(value)) for (const [index, item] of value.entries()) visit(index, item);
  else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) visit(key, member);
  }
  return result;
}
