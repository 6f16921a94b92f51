import { compilePattern, type Pattern } from "./pattern.ts";

/** The compiled form of a pattern. Keeps the last ones used, for patterns come from schemas and those from users. */
export function patternOf(source: string): Pattern {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const compiled = compilePattern(source);
  if (patterns.size >= patternsMax) {
    const oldest = patterns.keys().next();
    if (oldest.done !== true) patterns.delete(oldest.value);
  }
  patterns.set(source, compiled);
  return compiled;
}

const patternsMax = 1_000;
// A pure function's memory: what it holds can be computed again at any time.
const patterns = new Map<string, Pattern>();
