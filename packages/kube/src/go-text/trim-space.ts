// White space as Go knows it: with the next line (U+0085), without the byte order mark.

const spaces =
  "\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const space = new RegExp(`[${spaces}]`);
const runs = new RegExp(`[${spaces}]+`);

/** Go's `strings.TrimSpace`. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && space.test(text.charAt(start))) start += 1;
  while (end > start && space.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Go's `strings.Fields`: what stands between the spaces. */
export function fieldsOf(text: string): readonly string[] {
  return text.split(runs).filter((field) => field !== "");
}
