// Values of the configuration file.

/** A value of the file as the text that a flag would have had, empty for null; undefined where there is none. */
export function asText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const items = value.map(scalarText);
    return items.includes(undefined) ? undefined : items.join(",");
  }
  if (!isMap(value)) return scalarText(value);
  const pairs = Object.entries(value).map(([key, value]) => [key, scalarText(value)] as const);
  if (pairs.length === 0 || pairs.some(([, text]) => text === undefined)) return undefined;
  return pairs.map(([key, text]) => `${key}=${text}`).join(",");
}

function scalarText(value: unknown): string | undefined {
  if (value === null) return "";
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
