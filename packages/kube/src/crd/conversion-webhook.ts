// The webhook that converts objects of a definition.

import type { JsonObject } from "@keelson/base";

import { objectOf, textOf } from "../object/members.ts";

/** What a definition says of its webhook; empty where it has none. */
export function conversionWebhookOf(definition: JsonObject): JsonObject {
  return objectOf(objectOf(objectOf(definition, "spec"), "conversion"), "webhook");
}

/** The certificates by which the webhook is trusted, in base64; empty where there are none. */
export function conversionBundleOf(definition: JsonObject): string {
  return textOf(objectOf(conversionWebhookOf(definition), "clientConfig"), "caBundle");
}
