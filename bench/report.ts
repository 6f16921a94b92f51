// What a benchmark finds out, as lines for people and as entries for programs.

/** One line of a benchmark's table. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the machine itself, or the one we compare with, did in the same run, in the same unit. */
  readonly baseline?: number;
  /** How `value` stands to `baseline`, from rounds side by side: not always their quotient. */
  readonly ratio?: number;
  /** What we want, in words: `≥ 0.60 of the baseline`, `≤ 5 ms`. */
  readonly goal?: string;
  readonly met?: boolean;
}

/** A bound on a row's value, or on its ratio. */
export type Bound =
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly ratioAtLeast: number }
  | { readonly ratioAtMost: number };

/** A row that is judged by its bound. The ratio is that of value and baseline unless it is given. */
export function judged(
  row: Pick<Row, "name" | "value" | "unit" | "baseline" | "ratio">,
  bound?: Bound,
): Row {
  const ratio =
    row.ratio ?? (row.baseline === undefined ? undefined : ratioOf(row.value, row.baseline));
  const measured = { ...row, ...(ratio === undefined ? {} : { ratio }) };
  if (bound === undefined) return measured;
  if ("atLeast" in bound) {
    const goal = `≥ ${figure(bound.atLeast)} ${row.unit}`;
    return { ...measured, goal, met: row.value >= bound.atLeast };
  }
  if ("atMost" in bound) {
    const goal = `≤ ${figure(bound.atMost)} ${row.unit}`;
    return { ...measured, goal, met: row.value <= bound.atMost };
  }
  if (ratio === undefined) throw new Error(`${row.name} has a goal for its ratio and no baseline`);
  if ("ratioAtLeast" in bound) {
    const goal = `≥ ${bound.ratioAtLeast.toFixed(2)} of the baseline`;
    return { ...measured, goal, met: ratio >= bound.ratioAtLeast };
  }
  const goal = `≤ ${bound.ratioAtMost.toFixed(2)} of the baseline`;
  return { ...measured, goal, met: ratio <= bound.ratioAtMost };
}

const headings = ["name", "value", "unit", "baseline", "ratio", "goal", "met"] as const;

/** The rows as a table: names to the left, figures to the right. */
export function table(rows: readonly Row[]): string {
  const lines = [headings, ...rows.map(cells)];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const written = lines.map((line) =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isFigure(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [written[0], rule, ...written.slice(1)].join("\n");
}

/** The rows as a table in Markdown. */
export function markdown(rows: readonly Row[]): string {
  const rule = headings.map((_, column) => (isFigure(column) ? "---:" : "---"));
  return [headings, rule, ...rows.map(cells)].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** The rows as a JSON array, an entry to a line, each with every field; what does not apply is null. */
export function json(rows: readonly Row[]): string {
  const entries = rows.map((row) => {
    const { name, value, unit, baseline = null, ratio = null, goal = null, met = null } = row;
    return JSON.stringify({ name, value, unit, baseline, ratio, goal, met });
  });
  return `[\n${entries.join(",\n")}\n]\n`;
}

/** A number as people read it: three digits that matter, thousands apart. */
export function figure(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function cells({ name, value, unit, baseline, ratio, goal, met }: Row): string[] {
  return [
    name,
    figure(value),
    unit,
    baseline === undefined ? "" : figure(baseline),
    ratio === undefined ? "" : ratio.toFixed(2),
    goal ?? "",
    met === undefined ? "" : met ? "yes" : "NO",
  ];
}

function isFigure(column: number): boolean {
  const heading = headings[column];
  return heading === "value" || heading === "baseline" || heading === "ratio";
}

function ratioOf(value: number, baseline: number): number | undefined {
  return baseline === 0 ? undefined : value / baseline;
}
