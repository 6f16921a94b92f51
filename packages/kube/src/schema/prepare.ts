// What happens to an object of a custom kind before anybody validates it.

import type { MutableJsonObject } from "@keelson/base";
import { applyDefaults, dropNulls } from "./default.ts";
import { coerceEmbedded } from "./embedded.ts";
import { prune } from "./prune.ts";
import type { StructuralSchema } from "./structural.ts";

/**
 * Defaults and prunes a whole object, in place, and brings embedded metadata into its typed form. Returns the
 * paths of the fields that were unknown, in the order in which field validation reports them. The object's own
 * metadata is left alone. Doing it twice changes nothing more.
 *
 * Throws `EmbeddedInvalid` where an embedded object's type or metadata cannot be read.
 */
export function prepareObject(schema: StructuralSchema, object: MutableJsonObject): string[] {
  applyDefaults(object, schema);
  const unknown = prune(object, schema, { isObject: true });
  dropNulls(object, schema);
  return [...unknown, ...coerceEmbedded(schema, object)];
}
