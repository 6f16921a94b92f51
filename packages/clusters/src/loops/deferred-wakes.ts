// Wakes that came too fast after each other, sent when there is room again.

import { Backoff, isCancellation, type Clock, type Log, type Random } from "@keelson/base";
import { isTransient, type Database, type Outbox } from "@keelson/database";
import { kindsWithDueWakes, sendDeferredWakes } from "../sql/wakes.ts";

export interface DeferredWakesOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly everyMs?: number;
}

const batchMax = 200;

/** Looks every second until `signal`; on any number of replicas. */
export async function runDeferredWakes(
  { database, outbox, clock, random, log, everyMs = 1_000 }: DeferredWakesOptions,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ initialMs: everyMs, maxMs: 30_000, random });
  while (!signal.aborted) {
    let waitMs = everyMs;
    try {
      await sendAll({ database, outbox }, signal);
      backoff.reset();
    } catch (error) {
      if (isCancellation(error, signal)) return;
      if (!isTransient(error)) throw error;
      waitMs = backoff.next();
      log.warn({ error, waitMs }, "deferred wakes could not be sent, trying again");
    }
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }
}

/** Sends those that are due; gives how many. */
export async function sendAll(
  { database, outbox }: Pick<DeferredWakesOptions, "database" | "outbox">,
  signal: AbortSignal,
): Promise<number> {
  let sent = 0;
  for (const { kind } of await database.run(kindsWithDueWakes, undefined, signal)) {
    for (;;) {
      const rows = await database.run(sendDeferredWakes, { kind, limit: batchMax }, signal);
      sent += rows.length;
      if (rows.length > 0) outbox.wakeups.wakeHere(outbox.writtenChannel);
      if (rows.length < batchMax) break;
    }
  }
  return sent;
}
