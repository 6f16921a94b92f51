import { isJsonObject } from "@keelson/base";

import { goRawJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";

/** Its data is kept as it was sent: the same members in another order are other data. */
export const controllerRevisionRules: KindRules = {
  validate: (revision) => {
    const at = Place.root("");
    checkNotNegative(revision, at, ["revision"]);
    const data = memberOf(revision, "data");
    if (data === undefined || data === null) at.child("data").required("data is mandatory");
    else if (!isJsonObject(data)) at.child("data").required("data must be a valid JSON object");
    return at.errors;
  },
  validateUpdate: (revision, old) => {
    const at = Place.root("");
    checkNotNegative(revision, at, ["revision"]);
    const [data, before] = [revision, old].map((own) => goRawJson(memberOf(own, "data") ?? null));
    if (data !== before) at.child("data").invalidShown(data ?? "", "field is immutable");
    return at.errors;
  },
};
