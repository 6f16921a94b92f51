// What defaulting does, boiled down: per type where all places agree, per place where they do not.

import { shortTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import type { Defaulted } from "./go-types.ts";

export interface TypeDefaults {
  /** Fields an empty struct of the type gets. */
  readonly added?: Readonly<Record<string, unknown>>;
  /** One field set to a value, and what is then added instead; null: not added then. */
  readonly when?: Defaulted["when"];
}

/**
 * By type, or by `group/version/Kind.path` for places where less or more is done than in most places
 * of that type. A place that does nothing has an empty entry.
 */
export function boilDown(
  found: readonly Defaulted[],
  places: Readonly<Record<string, readonly string[]>>,
): Map<string, TypeDefaults> {
  const byPlace = new Map(found.map((one) => [placeOf(one), outcomeOf(one)]));
  const result = new Map<string, TypeDefaults>();
  for (const [type, all] of Object.entries(places)) {
    const outcomes = all.map((place) => ({ place, outcome: byPlace.get(place) ?? {} }));
    const byOutcome = Map.groupBy(outcomes, ({ outcome }) => JSON.stringify(outcome));
    // The most frequent outcome is the type's; the others are exceptions by place.
    const [common = [], ...others] = [...byOutcome.values()].sort((a, b) => b.length - a.length);
    const outcome = common[0]?.outcome ?? {};
    if (Object.keys(outcome).length > 0) result.set(shortTypeName(type), outcome);
    for (const one of others.flat()) result.set(one.place, one.outcome);
  }
  return result;
}

/** How a place is called in the data. */
export function placeOf({ kind, path }: Pick<Defaulted, "kind" | "path">): string {
  return `${kind.group}/${kind.version}/${kind.kind}${path}`;
}

/** The probe reports in no particular order. */
function outcomeOf({ added, when }: Defaulted): TypeDefaults {
  const key = ({ field, value }: { field: string; value: unknown }): string =>
    `${field} ${JSON.stringify(value)}`;
  const sorted = when?.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return {
    ...(added === undefined ? {} : { added: withoutNow(added) }),
    ...(sorted === undefined ? {} : { when: sorted }),
  };
}

/** A time among defaults is that of the extraction: it stands for now. */
function withoutNow(added: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(added).replaceAll(/"20[\d-]+T[\d:]+Z"/g, '"$now"');
  return JSON.parse(text) as Record<string, unknown>;
}
