// Keeps aggregated ClusterRoles at the rules they gather.

import {
  Backoff,
  jsonEqual,
  onAbort,
  type Clock,
  type JsonObject,
  type Log,
  type Random,
} from "@keelson/base";

import { nameOf } from "../../object-metadata.ts";
import type { Mirror } from "../../mirror.ts";
import { objectsAt } from "../../fields.ts";
import { aggregatedRules } from "./aggregation.ts";

export interface AggregationOptions {
  readonly clusterRoles: Pick<Mirror, "values" | "onChange">;
  /** Applies the rules of a ClusterRole, by force, as `clusterrole-aggregation-controller`. */
  readonly write: (
    change: { readonly name: string; readonly rules: readonly JsonObject[] },
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Runs until `signal` aborts: after each change of a ClusterRole, and again while something fails. */
export async function runAggregation(
  options: AggregationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clusterRoles, clock, random, log } = options;
  const backoff = new Backoff({ random, initialMs: 100, maxMs: 30_000 });
  let woken = Promise.withResolvers<void>();
  using _ = clusterRoles.onChange(() => woken.resolve());
  using _stop = onAbort(signal, () => woken.resolve());
  while (!signal.aborted) {
    woken = Promise.withResolvers();
    try {
      await aggregate(options, signal);
      backoff.reset();
      await woken.promise;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, "cluster roles could not be aggregated");
      await clock.sleep(backoff.next(), signal);
    }
  }
}

/** One pass. Roles may gather from each other: what one pass writes wakes the next, until nothing changes. */
async function aggregate(
  { clusterRoles, write }: AggregationOptions,
  signal: AbortSignal,
): Promise<void> {
  const all = [...clusterRoles.values()].map(({ object }) => object);
  const failures: unknown[] = [];
  for (const role of all) {
    try {
      const rules = aggregatedRules(role, all);
      if (rules === undefined || jsonEqual([...rules], [...objectsAt(role, "rules")])) continue;
      await write({ name: nameOf(role), rules }, signal);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error); // One with a bad selector does not keep the others.
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "some cluster roles failed");
}
