import type { JsonObject } from "@keelson/base";

import { objectOf, objectsOf, textOf } from "../../../object/members.ts";
import type { FieldError } from "../../../status/field-error.ts";
import { Place } from "../place.ts";

/** Conditions of a status without a type, or with one that another has. */
export function statusErrors(object: JsonObject): FieldError[] {
  const at = Place.root("status").child("conditions");
  const seen = new Set<string>();
  for (const [index, condition] of objectsOf(objectOf(object, "status"), "conditions").entries()) {
    const type = textOf(condition, "type");
    if (seen.has(type)) at.item(index).child("type").duplicateWord(type);
    seen.add(type);
    if (type === "") at.item(index).child("type").required();
  }
  return at.errors;
}
