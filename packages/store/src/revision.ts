/** A store's count of committed changes: a safe integer of at least 1, never reused. */
export type Revision = number;

/** Whether `value` can be a revision at all. */
export function isRevision(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** What a write expects of the object it changes; compared inside the write's transaction. */
export interface Expect {
  readonly revision?: Revision;
  readonly uid?: string;
}
