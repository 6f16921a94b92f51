import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { flagOf, has, objectOf, sortedKeys, textOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { base64Bytes } from "../../../go-text/base64.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { configKeyProblems } from "../text-problems.ts";

/** How many bytes all values of a ConfigMap or a Secret may have together. */
export const configBytesMax = 1024 * 1024;

export const configMapRules: KindRules = {
  validate: (map) => {
    const at = Place.root("");
    checkData(map, at);
    return at.errors;
  },
  validateUpdate: (map, old) => {
    const at = Place.root("");
    checkFrozen(map, old, { at, members: ["data", "binaryData"] });
    checkData(map, at);
    return at.errors;
  },
};

/** Reports changes of what has been made immutable. */
export function checkFrozen(
  object: JsonObject,
  old: JsonObject,
  { at, members }: { readonly at: Place; readonly members: readonly string[] },
): void {
  if (!flagOf(old, "immutable")) return;
  const detail = "field is immutable when `immutable` is set";
  if (!flagOf(object, "immutable")) at.child("immutable").forbidden(detail);
  for (const member of members) {
    if (!semanticEqual(objectOf(object, member), objectOf(old, member))) {
      at.child(member).forbidden(detail);
    }
  }
}

function checkData(map: JsonObject, at: Place): void {
  const [data, binary] = [objectOf(map, "data"), objectOf(map, "binaryData")];
  let bytes = 0;
  for (const key of sortedKeys(data)) {
    const place = at.child("data").key(key);
    place.invalidEach(key, configKeyProblems(key));
    if (has(binary, key)) place.invalid(key, "duplicate of key present in binaryData");
    bytes += byteLength(textOf(data, key));
  }
  for (const key of sortedKeys(binary)) {
    at.child("binaryData").key(key).invalidEach(key, configKeyProblems(key));
    bytes += base64Bytes(textOf(binary, key));
  }
  // The real server has an empty path here, which it prints so.
  if (bytes > configBytesMax) Place.root("[]", at.errors).tooLong(configBytesMax);
}
