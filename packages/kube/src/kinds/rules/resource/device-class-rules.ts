// The rules of DeviceClasses.

import type { JsonObject } from "@keelson/base";

import { maybeText, objectOf, objectsOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { isExtended } from "../resource-names.ts";
import { checkConfig, checkSelectors, configsMax } from "./claim-spec.ts";
import { checkEach } from "./sets.ts";

export const deviceClass: KindRules = {
  validate: (object) => {
    const at = Place.root("spec");
    const spec: JsonObject = objectOf(object, "spec");
    checkSelectors(objectsOf(spec, "selectors"), at.child("selectors"));
    checkEach(objectsOf(spec, "config"), at.child("config"), {
      max: configsMax,
      check: checkConfig,
    });
    const name = maybeText(spec, "extendedResourceName");
    if (name !== undefined && !isExtended(name)) {
      at.child("extendedResourceName").invalid(name, "must be a valid extended resource name");
    }
    return at.errors;
  },
};
