// Making two runs comparable: what is different at each run gets a name by its order of appearance.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { NumberedNames } from "../tools/numbered-names.ts";

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** Members whose values differ at each run, and what to call them. */
const volatile: Readonly<Record<string, string>> = {
  uid: "uid",
  resourceVersion: "version",
  creationTimestamp: "time",
  deletionTimestamp: "time",
};

/**
 * Replaces uids, resource versions and times of the server by `uid-1`, `version-1`, `time-1` and so on.
 *
 * Equal values get equal names and different ones different names, for the life of the normaliser, so
 * "the version did not move" survives. Use one per side of a comparison, and the same order of calls.
 */
export class Normaliser {
  readonly #names = new NumberedNames();

  normalise(value: Json): Json {
    return this.#walk(value, "");
  }

  #walk(value: Json, member: string): Json {
    if (isJsonArray(value)) return value.map((item) => this.#walk(item, member));
    if (isJsonObject(value)) return this.#object(value, member);
    if (typeof value !== "string") return value;
    return value.replaceAll(uuid, (found) => this.#names.of("uid", found));
  }

  #object(object: JsonObject, member: string): JsonObject {
    const entries = Object.entries(object).map(([key, value]): [string, Json] => {
      if (typeof value === "string" && value !== "" && isVolatile(key, member)) {
        return [key, this.#names.of(volatile[key] ?? "time", value)];
      }
      return [key, this.#walk(value, key)];
    });
    const { name, generateName } = object;
    if (typeof name === "string" && typeof generateName === "string") {
      const isGenerated = name.startsWith(generateName) && name.length === generateName.length + 5;
      if (isGenerated) entries.push(["name", `${generateName}*****`]);
    }
    return Object.fromEntries(entries);
  }
}

/** Only in metadata and managed fields: `data` may well have a key called `uid`. */
function isVolatile(key: string, member: string): boolean {
  if (member === "managedFields") return key === "time";
  return (
    Object.hasOwn(volatile, key) &&
    /^(metadata|ownerReferences|preconditions|details)$/.test(member)
  );
}
