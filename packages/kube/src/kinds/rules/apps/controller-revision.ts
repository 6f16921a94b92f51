import { isJsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { checkImmutable, checkNonNegative } from "../workloads.ts";

export const controllerRevisionRules: KindRules = {
  validate: (revision) => {
    const at = Place.root("");
    checkNonNegative(revision, at, ["revision"]);
    const data = memberOf(revision, "data");
    if (data === undefined || data === null) at.child("data").required("data is mandatory");
    else if (!isJsonObject(data)) at.child("data").required("data must be a valid JSON object");
    return at.errors;
  },
  validateUpdate: (revision, old) => {
    const at = Place.root("");
    checkNonNegative(revision, at, ["revision"]);
    checkImmutable(memberOf(revision, "data"), memberOf(old, "data"), at.child("data"));
    return at.errors;
  },
};
