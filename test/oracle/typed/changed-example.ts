// Minimal objects with a few things changed, added or broken.

import { cloneJson, isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { JsonObject, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import type { BuiltinKind, BuiltinKinds, FieldType, GoField } from "@keelson/kube";

import { BodyMaker, type BodyChances } from "./random-body.ts";

const harmless: BodyChances = { field: 0.3, null: 0.03, zero: 0.1, wrong: 0, unknown: 0.03 };
const broken: BodyChances = { field: 0.3, null: 0.05, zero: 0.1, wrong: 0.3, unknown: 0.2 };

/** A struct somewhere in an object. */
interface Site {
  readonly type: string;
  readonly struct: MutableJsonObject;
}

export function changedExample({
  kinds,
  kind,
  example,
  random,
}: {
  readonly kinds: BuiltinKinds;
  readonly kind: BuiltinKind;
  readonly example: JsonObject;
  readonly random: Random;
}): JsonObject {
  const body = cloneJson(example);
  const maker = new BodyMaker(kinds, random, random.pick([harmless, harmless, broken]));
  for (let changes = random.integer(4); changes > 0; changes--) {
    const { type, struct } = random.pick(sitesIn(kinds, kind.type, body));
    const fields = fieldsOf(kinds, type).filter(({ name }) => !untouched.has(name));
    if (fields.length === 0) continue;
    const field = random.pick(fields);
    setMember(struct, field.name, maker.value(field.type, 4) as MutableJson);
    if (random.integer(8) === 0) setMember(struct, "notThere", 1);
  }
  return body;
}

/** What decides where the object goes, and what the server replaces anyway. */
const untouched = new Set([
  "metadata",
  "name",
  "namespace",
  "generateName",
  "resourceVersion",
  "managedFields",
  "status",
  "apiVersion",
  "kind",
]);

function fieldsOf(kinds: BuiltinKinds, type: string): readonly GoField[] {
  return (kinds.structOf(type)?.fields ?? []).flatMap((field) =>
    field.isInline && field.type.form === "struct" ? fieldsOf(kinds, field.type.struct) : [field],
  );
}

function sitesIn(kinds: BuiltinKinds, type: string, struct: MutableJsonObject): readonly Site[] {
  const sites: Site[] = [{ type, struct }];
  const enter = (value: MutableJson | undefined, inner: FieldType): void => {
    if (inner.form === "list" && isJsonArray(value)) {
      for (const item of value) enter(item, inner.item);
    } else if (inner.form === "map" && isJsonObject(value)) {
      for (const member of Object.values(value)) enter(member, inner.value);
    } else if (inner.form === "struct" && isJsonObject(value)) {
      const found = kinds.structOf(inner.struct);
      if (found !== undefined && !found.isOpaque)
        sites.push(...sitesIn(kinds, inner.struct, value));
    }
  };
  for (const field of fieldsOf(kinds, type)) {
    enter(Object.hasOwn(struct, field.name) ? struct[field.name] : undefined, field.type);
  }
  return sites;
}
