// How long a finished object stays, unless it says so itself.

import { isJsonObject, type MutableJsonObject } from "@keelson/base";

import type { Asking } from "./ark-rules.ts";

/** The one ArkConfig that is read. */
export const configName = "default";
const standardTtl = "720h";

/** Fills in a missing `ttl`, from ArkConfig if that has one. A default of the schema would hide it. */
export async function fillTtl(
  spec: MutableJsonObject,
  field: "queryTTL" | "evaluationTTL",
  { lookup, signal }: Asking,
): Promise<void> {
  if (spec["ttl"] !== undefined) return;
  const config = await lookup.find("ArkConfig", { namespace: "", name: configName }, signal);
  const settings = config?.["spec"];
  const own = isJsonObject(settings) ? settings[field] : undefined;
  spec["ttl"] = typeof own === "string" ? own : standardTtl;
}
