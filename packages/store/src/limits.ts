// Every bound of the store in one place; docs/limits.md says what happens at each.

import type { CommitLimits } from "./commit-queue.ts";
import type { LogReaderLimits } from "./log-reader.ts";

export interface StoreLimits extends CommitLimits, LogReaderLimits {
  /** Objects kept in memory for reads. */
  readonly cacheBytesMax: number;
  /** Changes a watcher may have waiting before it reads the log instead. */
  readonly watchBufferMax: number;
  /** The safety net: how often the log is looked at without a wake-up. */
  readonly pollMs: number;
  /** How often the size of the log and of the database is measured. */
  readonly measureEveryMs: number;
  /** Entries cut off the log in one transaction, and the bytes of their bodies. */
  readonly cutEntries: number;
  readonly cutBytes: number;
  /** How often the log is cut; undefined: by hand only. */
  readonly compactionEveryMs: number | undefined;
}

export const defaultLimits: StoreLimits = {
  batchWritesMax: 256,
  batchTextMax: 4 * 1024 * 1024,
  queuedWritesMax: 10_000,
  queuedTextMax: 64 * 1024 * 1024,
  recentChangesMax: 4096,
  recentBytesMax: 16 * 1024 * 1024,
  pagesMax: 16,
  pageChanges: 256,
  pageText: 2 * 1024 * 1024,
  cacheBytesMax: 24 * 1024 * 1024,
  watchBufferMax: 100,
  pollMs: 30_000,
  measureEveryMs: 30_000,
  cutEntries: 500,
  cutBytes: 4 * 1024 * 1024,
  compactionEveryMs: 5 * 60_000,
};
