// Tells people what a run has shown.

import type { Verdict } from "./checker.ts";
import { type History, type HistoryRecord, keyText } from "./history.ts";

interface Run {
  readonly seed: string;
  readonly history: History;
  readonly verdicts: readonly Verdict[];
}

/** What happened, in numbers. */
export interface Counts {
  readonly calls: number;
  readonly changes: number;
  readonly watches: number;
  readonly items: number;
}

export function countsOf({ records }: Pick<History, "records">): Counts {
  const count = (type: HistoryRecord["type"]): number =>
    records.filter((record) => record.type === type).length;
  const sum = (of: (record: HistoryRecord) => number): number =>
    records.reduce((total, record) => total + of(record), 0);
  return {
    calls: count("call"),
    changes: sum((record) => (record.type === "observed" ? record.entries.length : 0)),
    watches: count("watch"),
    items: sum((record) => (record.type === "items" ? record.items.length : 0)),
  };
}

/** The first broken promise, what led to it, and how to see it again. */
export function explain(
  { seed, history, verdicts }: Run,
  { backend, rounds = 1 }: { readonly backend: string; readonly rounds?: number },
): string {
  const [first] = verdicts;
  if (first === undefined) return `seed ${seed}: clean`;
  const others = Map.groupBy(verdicts.slice(1), ({ invariant }) => invariant);
  const further = [...others].map(([invariant, list]) => `${invariant} ×${list.length}`).join(", ");
  return [
    `seed ${seed} breaks ${first.invariant}: ${first.evidence}`,
    ...(further === "" ? [] : [`and further: ${further}`]),
    "what led to it:",
    ...leadingTo(first, history).map((line) => `  ${line}`),
    `again: npm run sim -- --seed ${seed} --rounds ${rounds} --backend ${backend}`,
  ].join("\n");
}

/** The last records before the verdict that name what it names. */
function leadingTo({ evidence, at }: Verdict, { records }: History): string[] {
  const words = new Set(evidence.split(/[\s,:;()[\]]+/).filter((word) => /\d|\//.test(word)));
  return records
    .filter((record) => record.at <= at)
    .map((record) => `${record.at} ${line(record)}`)
    .filter((text) => text.split(/[\s,:;()[\]"{}@]+/).some((word) => words.has(word)))
    .slice(-15);
}

function line(record: HistoryRecord): string {
  switch (record.type) {
    case "call": {
      const subject = "key" in record.call ? keyText(record.call.key) : JSON.stringify(record.call);
      const expect = "expect" in record.call ? JSON.stringify(record.call.expect) : "";
      return `${record.id} on ${record.replica}: ${record.call.op} ${subject} ${expect}`;
    }
    case "answer": {
      const { answer } = record;
      if (answer.type === "row") return `${record.id} answered: revision ${answer.row.revision}`;
      if (answer.type === "error") return `${record.id} failed: ${answer.code} ${answer.message}`;
      return `${record.id} answered: ${JSON.stringify(answer).slice(0, 400)}`;
    }
    case "items": {
      const items = record.items.map((item) =>
        item.type === "BOOKMARK"
          ? `mark ${item.revision}`
          : `${item.type} ${keyText(item.key)}@${item.revision}`,
      );
      return `${record.watch} carried ${items.join(", ")}`;
    }
    case "observed":
      return `the database: head ${record.head}, floor ${record.floor}`;
    case "watch":
    case "watching":
    case "ended":
    case "quiet":
    case "trouble":
    case "deaf":
    case "serving":
    case "gone":
    case "stuck":
      return JSON.stringify(record);
  }
}
