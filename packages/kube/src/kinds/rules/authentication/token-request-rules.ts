// The rules of tokens that are asked for.

import { memberOf } from "../../../object/member.ts";
import { numberOf, objectOf } from "../../../object/members.ts";
import { pathSegmentNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";

export const tokenRequest: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const at = Place.root("spec").child("expirationSeconds");
    const spec = objectOf(object, "spec");
    const seconds = numberOf(spec, "expirationSeconds");
    const shown = memberOf(spec, "expirationSeconds") ?? 0;
    if (seconds < 600) at.invalid(shown, "may not specify a duration less than 10 minutes");
    if (seconds > 2 ** 32) at.invalid(shown, "may not specify a duration larger than 2^32 seconds");
    return at.errors;
  },
};
