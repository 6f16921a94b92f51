// The rules of tokens that are asked for.

import { objectOf } from "../../../object/members.ts";
import { pathSegmentNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkTokenSeconds } from "../meta/token-seconds.ts";
import { Place } from "../place.ts";

export const tokenRequest: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const at = Place.root("spec");
    checkTokenSeconds(objectOf(object, "spec"), at);
    return at.errors;
  },
};
