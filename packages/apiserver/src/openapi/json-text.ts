// JSON put together from pieces that are written already.

import { writeJson, type Json } from "@keelson/base";

/** An object of these members, each of which is JSON. */
export function objectText(members: Iterable<readonly [string, string]>): string {
  const parts: string[] = [];
  for (const [name, text] of members) parts.push(`${JSON.stringify(name)}:${text}`);
  return `{${parts.join(",")}}`;
}

/** A value as JSON: numbers of schemas may have a text that only our own writer keeps. */
export function textOf(value: object): string {
  return writeJson(value as Json);
}
