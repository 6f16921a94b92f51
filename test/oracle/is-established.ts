import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

/** Whether the names of a definition are its own and its objects about to be served. The condition is there before it is true. */
export function isEstablished(definition: Json | undefined): boolean {
  const status = isJsonObject(definition) ? definition["status"] : undefined;
  const conditions = isJsonObject(status) ? status["conditions"] : undefined;
  if (!isJsonArray(conditions)) return false;
  return conditions.some(
    (one) => isJsonObject(one) && one["type"] === "Established" && one["status"] === "True",
  );
}
