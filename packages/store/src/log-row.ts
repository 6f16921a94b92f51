// A row of the table `changes` as an entry of the log, the same for every database.

import type { LogEntry } from "./backend.ts";
import { storedBody } from "./columns.ts";
import { joinKind } from "./key.ts";

export interface LogRow {
  /** Some drivers give 64-bit integers as text, so that they cannot lose digits. */
  readonly revision: number | string;
  readonly type: LogEntry["type"];
  readonly api_group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly object: string;
  /** Null for ADDED; for DELETED too if it is the same as `object`. */
  readonly previous: string | null;
  readonly previous_revision: number | string | null;
}

/** Bodies are decoded by whoever wants them: a damaged one concerns the watchers of its kind, not the whole page. */
export function toEntry(row: LogRow): LogEntry {
  const { type, uid, object, previous, previous_revision } = row;
  const key = { kind: joinKind(row.kind, row.api_group), namespace: row.namespace, name: row.name };
  const body = storedBody(key, object);
  const entry = { revision: Number(row.revision), type, key, uid, body };
  if (previous_revision === null) return entry;
  const before = previous === null ? body : storedBody(key, previous);
  return { ...entry, previous: { revision: Number(previous_revision), body: before } };
}
