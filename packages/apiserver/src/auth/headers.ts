// Header fields as identity needs them: each value apart, because a group's name may have a comma in it.

/** Header fields, names in lower case. Where a field was sent more than once, its values are apart. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** All fields of a request, from `rawHeaders`: Node's `headers` would join repeated ones by commas. */
export function distinctHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? "").toLowerCase();
    const value = rawHeaders[i + 1] ?? "";
    const known = headers.get(name);
    if (known === undefined) headers.set(name, [value]);
    else known.push(value);
  }
  return Object.fromEntries(headers);
}

export function headerValues(headers: Headers, name: string): readonly string[] {
  const lower = name.toLowerCase();
  const value = Object.hasOwn(headers, lower) ? headers[lower] : undefined;
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** A key that was escaped to stand in the name of a field; one that is badly escaped counts as it is. */
export function decodeHeaderKey(text: string): string {
  try {
    return decodeURIComponent(text.toLowerCase());
  } catch {
    return text.toLowerCase();
  }
}
