// Files made of the keys of a Secret or a ConfigMap.

import type { JsonObject } from "@keelson/base";

import { objectsOf, textOf } from "../../../../object/members.ts";
import type { Place } from "../../place.ts";
import { checkLocal, checkMode } from "../paths.ts";

export function checkKeyFiles(source: JsonObject, at: Place): void {
  const items = objectsOf(source, "items");
  for (const [index, item] of items.entries()) checkKeyFile(item, at.child("items").item(index));
}

export function checkKeyFile(item: JsonObject, at: Place): void {
  if (textOf(item, "key") === "") at.child("key").required();
  if (textOf(item, "path") === "") at.child("path").required();
  checkLocal(textOf(item, "path"), at.child("path"));
  checkMode(item, at, { name: "mode" });
}
