// Who sends a write, and the line of the log that says what came of it.

import type { Identity, Log } from "@keelson/base";
import type { Transaction } from "@keelson/database";

/** The caller, and which of its requests it is. */
export interface Sender extends Identity {
  readonly requestId: string;
}

/** What is logged of a resource: ids and numbers, nothing of its content. */
interface Logged {
  readonly id: number;
  readonly generation: number;
  readonly revision: number;
}

/** What a write did to one resource. */
export type Deed = "created" | "updated" | "paused" | "resumed" | "deleted" | "forgotten";

/** Logs a write of a resource once it is committed: what is undone leaves no line. */
export function logResource(
  { log, sender, sql }: LogOptions,
  { clusterId: cluster_id, ...resource }: Logged & { readonly clusterId: string },
  deed: Deed,
): void {
  const { id: resource_id, generation, revision } = resource;
  const fields = { ...fieldsOf(sender), resource_id, cluster_id, generation, revision };
  sql.afterCommit(() => log.info(fields, `resource ${deed}`));
}

/** Likewise of a global resource. */
export function logGlobal({ log, sender, sql }: LogOptions, global: Logged, deed: Deed): void {
  const { id: global_id, generation, revision } = global;
  const fields = { ...fieldsOf(sender), global_id, generation, revision };
  sql.afterCommit(() => log.info(fields, `global resource ${deed}`));
}

/** Likewise of a target. */
export function logTarget({ log, sender, sql }: LogOptions, cluster_id: string, deed: Deed): void {
  sql.afterCommit(() => log.info({ ...fieldsOf(sender), cluster_id }, `target ${deed}`));
}

export interface LogOptions {
  readonly log: Log;
  readonly sender: Sender;
  readonly sql: Transaction;
}

export function fieldsOf({ requestId, user }: Sender): {
  readonly request_id: string;
  readonly user: string;
} {
  return { request_id: requestId, user };
}
