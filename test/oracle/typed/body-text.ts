// The text of a body, with keys said twice where that is wanted.

import { isJsonArray, isJsonObject, writeJson, type Json, type Random } from "@keelson/base";

/**
 * Writes a value. A member that is a scalar is said twice with the given chance, the same both times: Go merges
 * what is said twice, and only of scalars is that the last.
 */
export function writeBody(value: Json, random: Random, duplicateChance: number): string {
  if (isJsonArray(value)) {
    return `[${value.map((item) => writeBody(item, random, duplicateChance)).join(",")}]`;
  }
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${writeJson(key)}:${writeBody(member, random, duplicateChance)}`,
  );
  for (const [key, member] of Object.entries(value)) {
    if (isJsonArray(member) || isJsonObject(member) || random.float() >= duplicateChance) continue;
    const first = members.findIndex((text) => text.startsWith(`${writeJson(key)}:`));
    members.splice(
      first + 1 + random.integer(members.length - first),
      0,
      `${writeJson(key)}:${writeJson(member)}`,
    );
  }
  return `{${members.join(",")}}`;
}
