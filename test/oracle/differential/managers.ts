// Who manages what of an object, ours beside the real server's.

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  writeJson,
  type Json,
  type JsonObject,
} from "@keelson/base";

/** After every time that a test can see: replaced by the real time before comparison. */
export const later = "2999-01-01T00:00:00Z";

export function compareManagers(real: JsonObject, ours: JsonObject): string[] {
  const theirs = managersOf(real) ?? [];
  const mine = managersOf(ours) ?? [];
  if (jsonEqual(theirs, mine)) return [];
  return [`managed fields differ\n real ${writeJson(theirs)}\n ours ${writeJson(mine)}`];
}

/**
 * Our entries with the real time where ours is `later`: that of the same entry, if it is of the second of `sentAt` or after it, for one
 * write may see two seconds.
 */
export function retimed(object: JsonObject, real: JsonObject, sentAt: string): JsonObject {
  const entries = managersOf(object);
  const theirs = managersOf(real);
  if (!isJsonArray(entries) || !isJsonArray(theirs)) return object;
  const times = new Map(
    theirs.filter(isJsonObject).map((entry) => [writerOf(entry), entry["time"]]),
  );
  const changed = entries.map((entry) => {
    if (!isJsonObject(entry) || entry["time"] !== later) return entry;
    const time = times.get(writerOf(entry));
    return {
      ...entry,
      time: typeof time === "string" && time >= sentAt ? time : newestTime(real),
    };
  });
  return withManagers(object, sortedEntries(changed));
}

function writerOf({ operation, manager, apiVersion, subresource }: JsonObject): string {
  return JSON.stringify([operation, manager, apiVersion, subresource ?? ""]);
}

/** Ours were ordered with a time after all others; the real one may be the same second. */
function sortedEntries(entries: readonly Json[]): Json[] {
  const key = (entry: Json): string => {
    const { operation, time, manager, apiVersion, subresource } = entry as Record<string, string>;
    return [operation, time ?? "", manager, apiVersion, subresource ?? ""].join("\u0000");
  };
  return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** When the real one made a write that was sent at `sentAt`. Which of its updaters an object forgets depends on it, to the second. */
export function timeOfWrite(real: JsonObject, sentAt: string): string {
  const newest = newestTime(real);
  return newest >= sentAt ? newest : sentAt;
}

export function newestTime(object: JsonObject): string {
  const entries = managersOf(object);
  let newest = "";
  for (const entry of isJsonArray(entries) ? entries : []) {
    const time = isJsonObject(entry) ? entry["time"] : undefined;
    if (typeof time === "string" && time > newest) newest = time;
  }
  return newest;
}

export function managersOf(object: JsonObject): Json | undefined {
  const metadata = object["metadata"];
  return isJsonObject(metadata) ? metadata["managedFields"] : undefined;
}

export function withManagers(object: JsonObject, entries: Json | undefined): JsonObject {
  if (!isJsonObject(object["metadata"])) return object;
  const { managedFields: _, ...rest } = object["metadata"];
  return {
    ...object,
    metadata: entries === undefined ? rest : { ...rest, managedFields: entries },
  };
}
