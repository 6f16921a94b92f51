// The words of strategic merge patches that are not fields.

import { isJsonArray, isJsonObject, setMember, type MutableJson } from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { badRequest } from "../status/failures.ts";

/** What to do with an object or an item: `replace`, `delete`, and in lists `merge`. */
export const directive = "$patch";
/** The only members that an object keeps. */
export const retainKeys = "$retainKeys";
/** Before the name of a list of scalars: what goes from it. */
export const deletePrefix = "$deleteFromPrimitiveList";
/** Before the name of a list: in which order its items shall be. */
export const orderPrefix = "$setElementOrder";

/** The list that a directive is about: `$setElementOrder/ports` is about `ports`. */
export function originalKey(key: string, prefix: typeof deletePrefix | typeof orderPrefix): string {
  const slash = key.indexOf("/");
  if (slash >= 0 && key.slice(0, slash) === prefix) return key.slice(slash + 1);
  throw badRequest(
    prefix === deletePrefix
      ? "invalid patch format of primitive list"
      : "invalid patch format of setElementOrder list",
  );
}

/** The value without objects that carry a `$patch`; undefined if it is one. Changes it in place. */
export function withoutDirectives(value: MutableJson): MutableJson | undefined {
  if (isJsonArray(value)) {
    return value.flatMap((item) => {
      const kept = withoutDirectives(item);
      return kept === undefined ? [] : [kept];
    });
  }
  if (!isJsonObject(value)) return value;
  if (memberOf(value, directive) !== undefined) return undefined;
  for (const key of Object.keys(value)) {
    const member = memberOf(value, key);
    const kept = member === undefined ? undefined : withoutDirectives(member);
    if (kept === undefined) delete value[key];
    else if (kept !== member) setMember(value, key, kept);
  }
  return value;
}
