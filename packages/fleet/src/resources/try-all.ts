// Many trials at once: one result each, in their order.

import { forEachAtOnce, RestError, type JsonObject } from "@keelson/base";
import type { Database } from "@keelson/database";
import { findStates, toStates } from "../sql/diffs.ts";
import { tryOnTarget, type Trial, type TrialOptions } from "./try-on-target.ts";

/** How many are tried at once. */
const inFlightMax = 16;

/** What a cluster refuses of one says so there, in the words of a refusal. */
export async function tryAll(
  options: TrialOptions & { readonly database: Database },
  trials: readonly Trial[],
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const ids = trials.map(({ resource }) => resource.id);
  const rows = await options.database.run(findStates, ids, signal);
  const known = new Map(rows.map((row) => [row.id, toStates(row)]));
  const results: JsonObject[] = [];
  await forEachAtOnce(
    trials.entries(),
    {
      atOnce: inFlightMax,
      run: async ([index, trial], within) => {
        const states = known.get(trial.resource.id);
        results[index] = await tryOnTarget(options, { ...trial, states }, within).catch(
          toldRefusal,
        );
      },
    },
    signal,
  );
  return results;
}

function toldRefusal(error: unknown): JsonObject {
  if (!(error instanceof RestError)) throw error;
  return { dry_run: true, error: error.message, code: error.code, details: error.details };
}
