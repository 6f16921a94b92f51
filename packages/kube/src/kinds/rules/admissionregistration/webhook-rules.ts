// The rules of webhooks that are asked before a write.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkLabelSelector, isInvalidSelector } from "../label-selectors.ts";
import { checkChoice, checkThreePartDomain } from "../meta/checks.ts";
import { checkReviewVersions, knowsReview, reviewVersions } from "../meta/review-versions.ts";
import { validateWebhookService, validateWebhookUrl } from "../meta/webhook-client.ts";
import { Place } from "../place.ts";
import {
  checkMatchConditions,
  checkRule,
  failurePolicies,
  matchPolicies,
  reinvocationPolicies,
} from "./match-rules.ts";
import { staticNameWarnings } from "./static-name.ts";

const withoutEffects = ["None", "NoneOnDryRun"];
const allEffects = [...withoutEffects, "Some", "Unknown"];
const selectors = ["namespaceSelector", "objectSelector"];

/** What is asked of a hook: everything, unless the configuration that is replaced was let off. */
interface Demands {
  readonly checksConditions: boolean;
  readonly needsNoEffects: boolean;
  readonly needsKnownReview: boolean;
  readonly needsUniqueNames: boolean;
  readonly allowInvalidValues: boolean;
}

const strict: Demands = {
  checksConditions: true,
  needsNoEffects: true,
  needsKnownReview: true,
  needsUniqueNames: true,
  allowInvalidValues: false,
};

interface Options extends Demands {
  readonly isMutating: boolean;
}

export const validatingWebhookConfiguration: KindRules = webhookRules({ isMutating: false });
export const mutatingWebhookConfiguration: KindRules = webhookRules({ isMutating: true });

function webhookRules(kind: { readonly isMutating: boolean }): KindRules {
  return {
    takesBareFinalizers: true,
    validate: (object) => hookErrors(object, { ...strict, ...kind }),
    validateUpdate: (object, old) => hookErrors(object, { ...demandsOn(object, old), ...kind }),
    warnings: staticNameWarnings,
  };
}

function demandsOn(object: JsonObject, old: JsonObject): Demands {
  const [hooks, before] = [objectsOf(object, "webhooks"), objectsOf(old, "webhooks")];
  const conditionsOf = (hook: JsonObject | undefined): Json =>
    memberOf(hook ?? {}, "matchConditions") ?? null;
  const names = before.map((hook) => textOf(hook, "name"));
  return {
    checksConditions:
      hooks.length !== before.length ||
      hooks.some((hook, index) => !jsonEqual(conditionsOf(hook), conditionsOf(before[index]))),
    needsNoEffects: before.every((hook) => withoutEffects.includes(textOf(hook, "sideEffects"))),
    needsKnownReview: before.every((hook) => {
      const versions = textsOf(hook, "admissionReviewVersions");
      return versions.length === 0 || knowsReview(versions);
    }),
    needsUniqueNames: new Set(names).size === names.length,
    allowInvalidValues: before.some((hook) =>
      selectors.some((name) => isInvalidSelector(maybeObject(hook, name))),
    ),
  };
}

function hookErrors(object: JsonObject, options: Options): FieldError[] {
  const at = Place.root("webhooks");
  const names = new Set<string>();
  for (const [index, hook] of objectsOf(object, "webhooks").entries()) {
    const place = at.item(index);
    checkHook(hook, place, options);
    const name = textOf(hook, "name");
    if (name === "" || !options.needsUniqueNames) continue;
    if (names.has(name)) place.child("name").duplicate(name);
    names.add(name);
  }
  return at.errors;
}

function checkHook(hook: JsonObject, at: Place, options: Options): void {
  checkThreePartDomain(textOf(hook, "name"), at.child("name"));
  for (const [index, rule] of objectsOf(hook, "rules").entries()) {
    checkRule(rule, at.child("rules").item(index));
  }
  const choose = (name: string, of: readonly string[]): void => {
    checkChoice(maybeText(hook, name), at.child(name), { of, isNeeded: false });
  };
  choose("failurePolicy", failurePolicies);
  choose("matchPolicy", matchPolicies);
  const effects = options.needsNoEffects ? withoutEffects : allEffects;
  const effect = maybeText(hook, "sideEffects");
  if (effect === undefined) {
    at.child("sideEffects").required(`must specify one of ${effects.join(", ")}`);
  } else if (!effects.includes(effect)) at.child("sideEffects").notSupported(effect, effects);
  const seconds = maybeNumber(hook, "timeoutSeconds");
  if (seconds !== undefined && (seconds > 30 || seconds < 1)) {
    const detail = "the timeout value must be between 1 and 30 seconds";
    at.child("timeoutSeconds").invalid(seconds, detail);
  }
  for (const name of selectors) {
    checkLabelSelector(maybeObject(hook, name), at.child(name), options);
  }
  if (options.isMutating) choose("reinvocationPolicy", reinvocationPolicies);
  checkClient(objectOf(hook, "clientConfig"), at.child("clientConfig"));
  if (options.checksConditions) {
    checkMatchConditions(objectsOf(hook, "matchConditions"), at.child("matchConditions"));
  }
  const versions = textsOf(hook, "admissionReviewVersions");
  const reviews = at.child("admissionReviewVersions");
  if (versions.length === 0) reviews.required(`must specify one of ${reviewVersions.join(", ")}`);
  else checkReviewVersions(versions, reviews, options);
}

function checkClient(config: JsonObject, at: Place): void {
  if (has(config, "url") === has(config, "service")) {
    at.required("exactly one of url or service is required");
  } else if (has(config, "url")) {
    at.add(validateWebhookUrl(textOf(config, "url"), at.child("url").path));
  } else {
    at.add(validateWebhookService(objectOf(config, "service"), at.child("service").path));
  }
}
