// Random values from a seed, put together from small parts.

import type { Json, JsonObject, Random } from "@keelson/base";

/** Makes a value, or none. */
export type Part = (random: Random) => Json | undefined;

/** One of these values. */
export function pick(...values: readonly Json[]): Part {
  return (random) => random.pick(values);
}

/** An integer from `low` to `high`. */
export function integer(low: number, high: number): Part {
  return (random) => low + random.integer(high - low + 1);
}

/** The part, or nothing. */
export function maybe(part: Part, chance = 0.5): Part {
  return (random) => (random.float() < chance ? part(random) : undefined);
}

/** One of these parts. */
export function either(...parts: readonly Part[]): Part {
  return (random) => random.pick(parts)(random);
}

/** An object of these members, without those that are nothing. */
export function record(members: Readonly<Record<string, Part>>): (random: Random) => JsonObject {
  return (random) => {
    const result: Record<string, Json> = {};
    for (const [key, part] of Object.entries(members)) {
      const value = part(random);
      if (value !== undefined) result[key] = value;
    }
    return result;
  };
}

/** An object with some of these keys. */
export function mapOf(keys: readonly string[], value: Part): Part {
  return (random) => {
    const chosen = random.shuffle(keys).slice(0, random.integer(keys.length + 1));
    return record(Object.fromEntries(chosen.map((key) => [key, value])))(random);
  };
}

/** A list of some of these values, in some order. */
export function someOf(...values: readonly Json[]): Part {
  return (random) => random.shuffle(values).slice(0, random.integer(values.length + 1));
}

/** A list of objects, at least `least`, each with another value for the key. */
export function keyed(
  key: string,
  values: readonly Json[],
  members: Readonly<Record<string, Part>>,
  least = 0,
): Part {
  return (random) => {
    const count = Math.max(least, random.integer(values.length + 1));
    return random
      .shuffle(values)
      .slice(0, count)
      .map((value) => ({ [key]: value, ...record(members)(random) }));
  };
}

/** Whatever the object holds, less some of it; the keys of list items stay, and so do the members named. */
export function partOf(
  value: Json,
  random: Random,
  { keep, chance }: { readonly keep: ReadonlySet<string>; readonly chance: number },
): Json {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items
      .filter(() => random.float() < chance)
      .map((item) => partOf(item, random, { keep, chance }));
  }
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value as JsonObject)) {
    if (keep.has(key) || random.float() < chance) {
      result[key] = keep.has(key) ? member : partOf(member, random, { keep, chance });
    }
  }
  return result;
}
