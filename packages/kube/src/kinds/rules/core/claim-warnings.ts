import type { JsonObject } from "@keelson/base";

import { quote } from "../../../go-text/quote.ts";
import { memberOf } from "../../../object/member.ts";
import { objectOf } from "../../../object/members.ts";
import { isFractional, showAmount } from "../amounts.ts";

/** What to say of a claim for parts of bytes. `path` is that of the spec. */
export function claimSpecWarnings(spec: JsonObject, path: string): readonly string[] {
  return ["requests", "limits"].flatMap((list) =>
    fractionWarnings(objectOf(objectOf(spec, "resources"), list), {
      path: `${path}.resources.${list}`,
      resource: "storage",
    }),
  );
}

/** What to say of an amount in parts of bytes. */
export function fractionWarnings(
  amounts: JsonObject,
  { path, resource }: { readonly path: string; readonly resource: string },
): readonly string[] {
  const amount = memberOf(amounts, resource);
  if (amount === undefined || amount === null || !isFractional(amount)) return [];
  const text = quote(showAmount(amount));
  return [`${path}[${resource}]: fractional byte value ${text} is invalid, must be an integer`];
}
