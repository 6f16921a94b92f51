// Committed data: JSON with one entry a line, so that a diff shows what changed.

import { writeFileSync } from "node:fs";

/** An array or a map of entries, each on a line of its own. Keys are sorted unless the order says something. */
export function writeData(
  path: string,
  data: readonly unknown[] | ReadonlyMap<string, unknown>,
): void {
  if (data instanceof Map) {
    const entries = [...(data as ReadonlyMap<string, unknown>)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const lines = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    writeFileSync(path, `{\n${lines.join(",\n")}\n}\n`);
  } else {
    const lines = (data as readonly unknown[]).map((value) => JSON.stringify(value));
    writeFileSync(path, `[\n${lines.join(",\n")}\n]\n`);
  }
}
