// What a guide shows compared with what was printed: word for word, but for what differs from run to run.

const changing: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/\b(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+(?:ms|[smhd])\b/g, "<age>"],
];

export interface Comparison {
  /** Whether more may follow, since the program goes on. */
  readonly isBeginning: boolean;
}

/**
 * Whether `printed` is what is shown. Any time, any uuid and any age is as good as another, columns may be wider or narrower; `…`
 * in a line is anything within it, and `…` alone any number of lines.
 */
export function isShown(
  shown: readonly string[],
  printed: string,
  { isBeginning }: Comparison,
): boolean {
  const pattern = shown.map(plain).map(linePattern).join("");
  const text = printed.trimEnd();
  const lines = text === "" ? [] : text.split("\n").map((line) => `${plain(line)}\n`);
  return new RegExp(`^${pattern}${isBeginning ? "" : "$"}`).test(lines.join(""));
}

function linePattern(line: string): string {
  if (line === "…") return "(?:.*\\n)*?";
  return `${line
    .split("…")
    .map((text) => RegExp.escape(text))
    .join(".*?")}\\n`;
}

function plain(line: string): string {
  let text = line;
  for (const [pattern, name] of changing) text = text.replaceAll(pattern, name);
  return text.replaceAll(/\s+/g, " ").trimEnd();
}
