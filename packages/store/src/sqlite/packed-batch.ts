// Batches and their outcomes as flat lists: names of members and nested objects cost more between threads than what they hold.

import type { PlainOutcome, PlainWrite } from "./transactions.ts";

/** What can be handed to another thread. */
export type Packed = readonly (string | number | null)[];

type Slot = string | number | null | undefined;

const writeSlots = 13;
const outcomeSlots = 5;

export function packBatch(batch: readonly PlainWrite[]): Packed {
  const packed: (string | number | null)[] = [];
  for (const write of batch) {
    const { type, key } = write;
    packed.push(type, key.kind, key.namespace, key.name);
    if (type === "delete") {
      const { expect, final } = write;
      packed.push(final ?? null, null, null, null, null, null);
      packed.push(expect.revision ?? null, expect.uid ?? null, null);
      continue;
    }
    const { uid, apiVersion, generation, labels, deletedAt } = write.columns;
    packed.push(write.text, uid, apiVersion, generation, labels, deletedAt);
    if (type === "create") packed.push(null, null, null);
    else {
      const { expect, isKnownChange } = write;
      packed.push(expect.revision, expect.uid ?? null, isKnownChange ? 1 : 0);
    }
  }
  return packed;
}

export function unpackBatch(packed: Packed): PlainWrite[] {
  const batch: PlainWrite[] = [];
  for (let at = 0; at < packed.length; at += writeSlots) {
    const key = {
      kind: text(packed[at + 1]),
      namespace: text(packed[at + 2]),
      name: text(packed[at + 3]),
    };
    const type = packed[at];
    const revision = packed[at + 10];
    const uid = packed[at + 11];
    const expect = {
      ...(typeof revision === "number" ? { revision } : {}),
      ...(typeof uid === "string" ? { uid } : {}),
    };
    if (type === "delete") {
      batch.push({ type, key, expect, final: optional(packed[at + 4]) });
      continue;
    }
    const columns = {
      uid: text(packed[at + 5]),
      apiVersion: text(packed[at + 6]),
      generation: number(packed[at + 7]),
      labels: optional(packed[at + 8]) ?? null,
      deletedAt: optional(packed[at + 9]) ?? null,
    };
    const body = text(packed[at + 4]);
    if (type === "create") batch.push({ type, key, text: body, columns });
    else {
      const isKnownChange = packed[at + 12] === 1;
      const replaced = { ...expect, revision: number(revision) };
      batch.push({ type: "update", key, text: body, columns, expect: replaced, isKnownChange });
    }
  }
  return batch;
}

export function packOutcomes(outcomes: readonly PlainOutcome[]): Packed {
  const packed: (string | number | null)[] = [];
  for (const outcome of outcomes) {
    if (outcome.type === "written") {
      const { revision, previous } = outcome;
      packed.push("written", revision);
      packed.push(previous?.revision ?? null, previous?.uid ?? null, previous?.text ?? null);
    } else if (outcome.type === "conflict") {
      packed.push("conflict", outcome.actual.revision, null, outcome.actual.uid, null);
    } else {
      const revision = outcome.type === "unchanged" ? outcome.revision : null;
      packed.push(outcome.type, revision, null, null, null);
    }
  }
  return packed;
}

export function unpackOutcomes(packed: Packed): PlainOutcome[] {
  const outcomes: PlainOutcome[] = [];
  for (let at = 0; at < packed.length; at += outcomeSlots) {
    outcomes.push(outcomeAt(packed, at));
  }
  return outcomes;
}

function outcomeAt(packed: Packed, at: number): PlainOutcome {
  const type = packed[at] as PlainOutcome["type"]; // As `packOutcomes` put it there.
  const uid = packed[at + 3];
  switch (type) {
    case "written": {
      const revision = number(packed[at + 1]);
      const before = packed[at + 2];
      if (typeof before !== "number") return { type, revision };
      const last = optional(packed[at + 4]);
      const previous = { revision: before, uid: text(uid) };
      return {
        type,
        revision,
        previous: last === undefined ? previous : { ...previous, text: last },
      };
    }
    case "conflict":
      return { type, actual: { revision: number(packed[at + 1]), uid: text(uid) } };
    case "unchanged":
      return { type, revision: number(packed[at + 1]) };
    case "exists":
    case "missing":
      return { type };
  }
}

function text(slot: Slot): string {
  return typeof slot === "string" ? slot : "";
}

function number(slot: Slot): number {
  return typeof slot === "number" ? slot : 0;
}

function optional(slot: Slot): string | undefined {
  return typeof slot === "string" ? slot : undefined;
}
