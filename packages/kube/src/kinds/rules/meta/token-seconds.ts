import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import { numberOf } from "../../../object/members.ts";
import type { Place } from "../place.ts";

/** Reports a token that would live too short or too long; one that does not say how long does not live at all. */
export function checkTokenSeconds(holder: JsonObject, at: Place): void {
  const seconds = numberOf(holder, "expirationSeconds");
  const shown = memberOf(holder, "expirationSeconds") ?? 0;
  const place = at.child("expirationSeconds");
  if (seconds < 600) place.invalid(shown, "may not specify a duration less than 10 minutes");
  if (seconds > 2 ** 32) {
    place.invalid(shown, "may not specify a duration larger than 2^32 seconds");
  }
}
