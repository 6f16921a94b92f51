import { objectOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { dropFromTemplate } from "../workloads.ts";
import { checkPodTemplate, templateOptions } from "./pod/pod-template.ts";
import { templateWarnings } from "./pod/pod-warnings.ts";

export const podTemplateRules: KindRules = {
  prepareForCreate: (template) => dropFromTemplate(template, undefined),
  prepareForUpdate: (template, old) => dropFromTemplate(template, old),
  validate: (template) => {
    const at = Place.root("template");
    checkPodTemplate(objectOf(template, "template"), at, templateOptions(undefined));
    return at.errors;
  },
  validateUpdate: (template, old) => {
    const at = Place.root("template");
    checkPodTemplate(
      objectOf(template, "template"),
      at,
      templateOptions(objectOf(old, "template")),
    );
    return at.errors;
  },
  warnings: (template, old) => {
    const own = objectOf(template, "template");
    const isSame = old !== undefined && semanticEqual(own, objectOf(old, "template"));
    return isSame ? [] : templateWarnings(own, "template");
  },
};
