// Templates of Pods: in everything that makes Pods.

import type { JsonObject } from "@keelson/base";

import { listOf, objectOf } from "../../../../object/members.ts";
import { validateAnnotations } from "../../../../object/metadata-rules.ts";
import { checkLabels } from "../../label-selectors.ts";
import type { Place } from "../../place.ts";
import { checkPodAnnotations, checkProfilesMatch } from "./annotations.ts";
import { optionsForUpdate, strictOptions, type PodRuleOptions } from "./pod-options.ts";
import { checkPodSpec } from "./pod-spec.ts";

/** The options for a template that replaces another, or for a new one. */
export function templateOptions(old: JsonObject | undefined): PodRuleOptions {
  return old === undefined ? strictOptions : optionsForUpdate(old);
}

export function checkPodTemplate(template: JsonObject, at: Place, options: PodRuleOptions): void {
  const spec = objectOf(template, "spec");
  checkTemplateMetadata(template, at, options);
  checkPodSpec(spec, at.child("spec"), { options });
  checkProfilesMatch(template, at.child("spec"));
  if (listOf(spec, "ephemeralContainers").length > 0) {
    at.child("spec")
      .child("ephemeralContainers")
      .forbidden("ephemeral containers not allowed in pod template");
  }
}

/** The part that concerns labels and annotations. */
export function checkTemplateMetadata(
  template: JsonObject,
  at: Place,
  options: PodRuleOptions,
): void {
  const metadata = objectOf(template, "metadata");
  const annotations = objectOf(metadata, "annotations");
  checkLabels(objectOf(metadata, "labels"), at.child("labels"));
  if (Object.keys(annotations).length === 0) return;
  const place = at.child("annotations");
  place.add(validateAnnotations(annotations, place.path));
  checkPodAnnotations(annotations, place, { spec: objectOf(template, "spec"), options });
}
