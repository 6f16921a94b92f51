// How much is told of an object that is right but perhaps not meant.

/** How many warnings a client is told of one request. */
export const warningsMax = 100;

/** The warnings that can be told, each once; what would be found later is not looked for. */
export function firstWarnings(warnings: Iterable<string>): readonly string[] {
  const first = new Set<string>();
  for (const text of warnings) {
    first.add(text);
    if (first.size === warningsMax) break;
  }
  return [...first];
}
