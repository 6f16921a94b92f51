// Selectors of Pods, and templates of the Pods that they choose.

import type { JsonObject } from "@keelson/base";

import { maybeObject, objectOf } from "../../../object/members.ts";
import { checkPodTemplate, templateOptions } from "../core/pod/pod-template.ts";
import { checkLabelSelector, isEmptySelector, showSelector } from "../label-selectors.ts";
import type { Place } from "../place.ts";
import { checkRunsForever, checkTemplateChosen, templateOf } from "../workloads.ts";

/** Reports a selector that is missing, wrong or without conditions; how an empty one is called differs. */
export function checkRequiredSelector(
  spec: JsonObject,
  at: Place,
  { emptyDetail }: { readonly emptyDetail: string },
): void {
  const selector = maybeObject(spec, "selector");
  if (selector === undefined) {
    at.child("selector").required();
    return;
  }
  checkLabelSelector(selector, at.child("selector"));
  if (isEmptySelector(selector)) {
    at.child("selector").invalidShown(showSelector(selector), emptyDetail);
  }
}

/** Reports a template that the selector does not choose, or that is wrong; a selector that cannot be read instead. */
export function checkSelectedTemplate(
  spec: JsonObject,
  at: Place,
  { old }: { readonly old: JsonObject | undefined },
): void {
  const template = objectOf(spec, "template");
  const place = at.child("template");
  const selector = maybeObject(spec, "selector");
  if (!checkTemplateChosen(selector, template, place)) {
    at.child("selector").invalidShown(showSelector(selector), "invalid label selector");
    return;
  }
  checkPodTemplate(template, place, templateOptions(old && templateOf(old)));
  checkRunsForever(template, place, "ReplicaSet");
}
