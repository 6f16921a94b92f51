// Which targets a global resource is for, as kubectl writes selectors.

import type { JsonObject } from "@keelson/base";

/** `region=eu`, `tier!=gold`, `region in (eu, us)`, `zone notin (a)`, `edge`, `!edge`; undefined where it is none of these. */
export function targetSelector(text: string): JsonObject | undefined {
  const expressions: JsonObject[] = [];
  const labels: Record<string, string> = {};
  // Commas within brackets are between values.
  for (const part of text.split(/,(?![^(]*\))/).map((one) => one.trim())) {
    const [, key, operator, value = ""] =
      /^([\w./-]+)\s*(==?|!=|\s(?:in|notin)\s)\s*(\([^()]*\)|[\w.-]*)$/.exec(part) ?? [];
    const isSet = value.startsWith("(");
    if (key !== undefined && operator !== undefined) {
      const word = operator.trim();
      if (isSet !== word.endsWith("in")) return undefined;
      const values = isSet
        ? value
            .slice(1, -1)
            .split(",")
            .map((one) => one.trim())
        : [value];
      if (word.startsWith("=")) labels[key] = value;
      else expressions.push({ key, operator: word === "in" ? "In" : "NotIn", values });
    } else if (/^!?[\w./-]+$/.test(part)) {
      const isAbsent = part.startsWith("!");
      expressions.push({
        key: part.replace("!", ""),
        operator: isAbsent ? "DoesNotExist" : "Exists",
      });
    } else return undefined;
  }
  return {
    ...(Object.keys(labels).length === 0 ? {} : { matchLabels: labels }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}
