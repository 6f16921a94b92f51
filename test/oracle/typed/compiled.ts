// Bodies decoded by our rules and by the compiled server, side by side.

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  readJsonReport,
  seededRandom,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import {
  typedKind,
  TypedDecodeError,
  type BuiltinKinds,
  type KindName,
  type TypedKind,
} from "@keelson/kube";

import { decodeBodies, type DecodedBody, type SentBody } from "../kinds/go-types.ts";
import type { Trial } from "../trials.ts";
import { writeBody } from "./body-text.ts";
import { BodyMaker, type BodyChances } from "./random-body.ts";

const now = "2026-01-01T00:00:00Z";

export interface CompiledRun {
  readonly kinds: BuiltinKinds;
  readonly examples: Readonly<Record<string, { readonly sent: JsonObject }>>;
  readonly seed: string;
  /** Bodies of each kind. */
  readonly perKind: number;
  readonly only?: number | undefined;
}

/** Decodes bodies of every kind both ways; a trial each. */
export function compareWithCompiled(
  run: CompiledRun,
): readonly (Trial & { readonly index: number })[] {
  const { kinds, seed, perKind, only } = run;
  const sent: (SentBody & { readonly index: number })[] = [];
  const typed = new Map<string, TypedKind>();
  let index = 0;
  for (const kind of sendable(kinds)) {
    typed.set(nameOf(kind), typedKind(kinds, kind));
    for (let n = 0; n < perKind; n++, index++) {
      if (only !== undefined && only !== index) continue;
      sent.push({ index, kind, text: bodyFor(kind, run, `${seed}/${index}`) });
    }
  }
  const decoded = decodeBodies(sent);
  return sent.map(({ kind, text, index }, at) => {
    const oracle = expected(decoded[at] ?? { strict: [] });
    const one = typed.get(nameOf(kind));
    if (one === undefined) throw new Error(`${nameOf(kind)} was not compiled`);
    const ours = decodeOurs(one, text);
    const accepted = !isJsonObject(oracle) || oracle["error"] === undefined;
    return {
      index,
      kind: nameOf(kind),
      operation: "decode",
      accepted,
      oracle,
      ours,
      context: { text },
    };
  });
}

function nameOf({ group, version, kind }: KindName): string {
  return `${group}/${version}/${kind}`;
}

interface Sendable extends KindName {
  readonly type: string;
}

/** Kinds and the bodies of subresources. */
function sendable(kinds: BuiltinKinds): readonly Sendable[] {
  const all = kinds.all.flatMap(({ subresources, ...kind }) => [kind, ...subresources]);
  const named = new Map<string, Sendable>();
  for (const { group, version, kind, type } of all) {
    // Nobody can send a ComponentStatus, or the options of a connection.
    if (type === undefined || kind === "ComponentStatus" || kind.endsWith("Options")) continue;
    named.set(nameOf({ group, version, kind }), { group, version, kind, type });
  }
  return [...named.values()];
}

/** Half of the bodies are right, as far as types can tell. */
function bodyFor(kind: Sendable, { kinds, examples }: CompiledRun, seed: string): string {
  const random = seededRandom(seed);
  const chances: BodyChances = random.pick([
    { field: 0.5, null: 0.03, zero: 0.1, wrong: 0, unknown: 0.05 },
    { field: 1.4, null: 0, zero: 0.1, wrong: 0, unknown: 0 },
    { field: 0.5, null: 0.05, zero: 0.1, wrong: 0.01, unknown: 0.05 },
    { field: 1.1, null: 0.05, zero: 0.1, wrong: 0.03, unknown: 0.02 },
    { field: 0.4, null: 0.05, zero: 0.1, wrong: 0.2, unknown: 0.1 },
  ]);
  const body = new BodyMaker(kinds, random, chances).struct(kind.type);
  const example = examples[nameOf(kind)]?.sent ?? {};
  const { group, version } = kind;
  const whole = {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind: kind.kind,
    ...(random.integer(4) === 0 ? example : {}),
    ...body,
  };
  return writeBody(whole, random, random.pick([0, 0, 0.02]));
}

function expected({ stored, strict, error }: DecodedBody): Json {
  return error === undefined ? { object: withoutNow(stored ?? null), strict } : { error };
}

/** Taints of devices get the time of their request. */
function withoutNow(value: Json, name = ""): Json {
  if (isJsonArray(value)) return value.map((item) => withoutNow(item));
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => [key, withoutNow(member, key)] as const,
    );
    return Object.fromEntries(members);
  }
  const isNow = name === "timeAdded" && typeof value === "string" && value > startedAt;
  return isNow ? now : value;
}

const startedAt = new Date(performance.timeOrigin - 1000).toISOString();

function decodeOurs(typed: TypedKind, text: string): Json {
  try {
    const report = readJsonReport(text);
    if (!isJsonObject(report.value)) throw new Error("no body");
    const { object, problems } = typed.decode(report.value, report);
    complete(typed, object);
    const again = typed.decode(object).object;
    complete(typed, again);
    // What was stored is read as it is: nothing may change at the second time.
    const isStable = jsonEqual(withoutZeroTimes(again), withoutZeroTimes(object));
    return { object, strict: problems, ...(isStable ? {} : { again }) };
  } catch (error) {
    if (error instanceof TypedDecodeError) return { error: error.message };
    throw error;
  }
}

function complete(typed: TypedKind, object: MutableJsonObject): void {
  typed.applyDefaults(object, { now });
  typed.toStored(object);
}

/** A pointer to a time that is zero is printed as null, and null is no pointer: it may get the default of `timeAdded`. */
function withoutZeroTimes(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutZeroTimes);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    ([key, member]) => member !== null && key !== "timeAdded",
  );
  return Object.fromEntries(members.map(([key, member]) => [key, withoutZeroTimes(member)]));
}
