// Names have 63 bytes and are never cut short: two apps would end up with one. What does not fit is refused before
// anything is made.

import type { ApplicationSpec } from "../kinds/application.ts";
import type { Names } from "./names.ts";

const bytesMax = 63;

/** The names that do not fit, each with its excess. Those of features that are off do not count. */
export function budgetProblems(
  names: Names,
  { database, storage }: Pick<ApplicationSpec, "database" | "storage">,
): string[] {
  const derived: [what: string, name: string | undefined][] = [
    ["Service", names.name],
    ["namespace", names.namespace],
    ...names.domain.split(".").map((label): [string, string] => ["DNS label", label]),
  ];
  if (database?.enabled === true) {
    derived.push(["schema", names.schema], ["role", names.appRole], ["role", names.anonRole]);
  }
  if (storage?.enabled === true) {
    for (const { name } of storage.buckets ?? []) derived.push(["bucket", names.bucket(name)]);
  }
  return derived.flatMap(([what, name = ""]) => {
    const excess = Buffer.byteLength(name) - bytesMax;
    if (excess <= 0) return [];
    return `the ${what} would be called ${name}, ${excess} more than the ${bytesMax} bytes that a name may have: choose a shorter one`;
  });
}
