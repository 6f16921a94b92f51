// How objects of one version become objects of another.

import { append, type JsonObject } from "@keelson/base";

import { has, maybeObject, objectOf, textOf, textsOf } from "../../../object/members.ts";
import {
  childPath,
  forbiddenField,
  notSupportedField,
  requiredField,
  type FieldError,
} from "../../../status/field-error.ts";
import { checkReviewVersions } from "../meta/review-versions.ts";
import {
  validateCaBundle,
  validateWebhookService,
  validateWebhookUrl,
} from "../meta/webhook-client.ts";
import { Place } from "../place.ts";

interface ConversionOptions {
  readonly path: string;
  /** Whether one of the versions of the review must be known. */
  readonly needsKnownReview: boolean;
  /** Whether certificates that cannot be read may stand. */
  readonly allowsBadBundle: boolean;
}

export function validateConversion(
  conversion: JsonObject | undefined,
  { path, needsKnownReview, allowsBadBundle }: ConversionOptions,
): FieldError[] {
  if (conversion === undefined) return [];
  const errors: FieldError[] = [];
  const strategy = textOf(conversion, "strategy");
  if (strategy === "") errors.push(requiredField(childPath(path, "strategy")));
  else if (strategy !== "None" && strategy !== "Webhook") {
    errors.push(notSupportedField(childPath(path, "strategy"), strategy, ["None", "Webhook"]));
  }
  const webhook = objectOf(conversion, "webhook");
  const config = maybeObject(webhook, "clientConfig");
  const reviews = textsOf(webhook, "conversionReviewVersions");
  const configPath = childPath(path, "webhookClientConfig");
  const reviewsPath = childPath(path, "conversionReviewVersions");
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (config !== undefined) errors.push(forbiddenField(configPath, detail));
    if (reviews.length > 0) errors.push(forbiddenField(reviewsPath, detail));
    return errors;
  }
  if (config === undefined) {
    errors.push(requiredField(configPath, "required when strategy is set to Webhook"));
  } else {
    append(errors, validateClient(config, configPath));
    const bundle = textOf(config, "caBundle");
    if (bundle !== "" && !allowsBadBundle) {
      append(errors, validateCaBundle(bundle, childPath(configPath, "caBundle")));
    }
  }
  if (reviews.length === 0) errors.push(requiredField(reviewsPath));
  else checkReviewVersions(reviews, Place.root(reviewsPath, errors), { needsKnownReview });
  return errors;
}

function validateClient(config: JsonObject, path: string): FieldError[] {
  if (has(config, "url") === has(config, "service")) {
    return [requiredField(path, "exactly one of url or service is required")];
  }
  return has(config, "url")
    ? validateWebhookUrl(textOf(config, "url"), childPath(path, "url"))
    : validateWebhookService(objectOf(config, "service"), childPath(path, "service"));
}
