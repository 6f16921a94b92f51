// The rules of claims on devices, and of templates of claims.

import type { JsonObject } from "@keelson/base";

import { printShape } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import { has, objectOf } from "../../../object/members.ts";
import { validateAnnotations } from "../../../object/metadata-rules.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkLabels } from "../label-selectors.ts";
import { checkImmutableShown } from "../meta/checks.ts";
import { metadataFields, metadataText } from "../meta/metadata-text.ts";
import { Place } from "../place.ts";
import { checkClaimSpec, claimSpecShape } from "./claim-spec.ts";
import { claimStatusErrors, dropDeallocatedDevices } from "./claim-status.ts";

export const resourceClaim: KindRules = {
  validate: (object) => {
    const at = Place.root("spec");
    checkClaimSpec(objectOf(object, "spec"), at);
    return at.errors;
  },
  validateUpdate: (object, old) => {
    const at = Place.root("spec");
    checkImmutableShown(memberOf(object, "spec"), memberOf(old, "spec"), {
      at,
      shown: () => printShape(claimSpecShape, memberOf(object, "spec")),
    });
    return at.errors;
  },
  prepareForStatusUpdate: dropDeallocatedDevices,
  validateStatusUpdate: claimStatusErrors,
};

export const resourceClaimTemplate: KindRules = {
  validate: templateErrors,
  validateUpdate: (object, old) => {
    const errors = templateErrors(object);
    checkImmutableShown(memberOf(object, "spec"), memberOf(old, "spec"), {
      at: Place.root("spec", errors),
      shown: () => templateText(objectOf(object, "spec")),
    });
    return errors;
  },
};

function templateErrors(object: JsonObject): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  const metadata = objectOf(spec, "metadata");
  const place = at.child("metadata");
  const annotations = place.child("annotations");
  at.add(validateAnnotations(objectOf(metadata, "annotations"), annotations.path));
  checkLabels(objectOf(metadata, "labels"), place.child("labels"));
  for (const name of metadataFields) {
    const isAllowed = name === "labels" || name === "annotations";
    if (!isAllowed && has(metadata, name)) place.child(name).forbidden("cannot be set");
  }
  checkClaimSpec(objectOf(spec, "spec"), at.child("spec"));
  return at.errors;
}

/** Metadata stands among the fields of the spec. */
function templateText(spec: JsonObject): string {
  const metadata = metadataText(objectOf(spec, "metadata")).slice(1, -1);
  const inner = printShape(claimSpecShape, memberOf(spec, "spec"));
  return `{${metadata}${metadata === "" ? "" : ","}"Spec":${inner}}`;
}
