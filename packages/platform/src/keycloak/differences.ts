// What has to be written so that something is as desired: only that.

type Field = boolean | string | readonly string[] | Readonly<Record<string, string>>;

/** Fields by name. Lists are sets: their order says nothing. */
export type Fields = Readonly<Record<string, Field>>;

/** The desired fields that `found` does not have so; of a field that has members, those members. */
export function differences<F extends Fields>(desired: F, found: object): Partial<F> {
  const live = found as Readonly<Record<string, unknown>>;
  const differing = Object.entries(desired).flatMap(([name, value]): [string, Field][] => {
    if (typeof value !== "object" || Array.isArray(value)) {
      return isSame(value as Field, live[name]) ? [] : [[name, value]];
    }
    const members = differences(value as Record<string, string>, live[name] ?? {});
    return Object.keys(members).length === 0 ? [] : [[name, members as Record<string, string>]];
  });
  return Object.fromEntries(differing) as Partial<F>;
}

export function isNone(differing: object): boolean {
  return Object.keys(differing).length === 0;
}

function isSame(desired: Field, found: unknown): boolean {
  if (!Array.isArray(desired)) return desired === found;
  const items: readonly unknown[] = Array.isArray(found) ? found : [];
  return new Set(desired).symmetricDifference(new Set(items)).size === 0;
}
