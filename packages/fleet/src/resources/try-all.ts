// Many trials at once: one result each, in their order.

import { forEachAtOnce, RestError, type JsonObject } from "@keelson/base";
import type { Database } from "@keelson/database";
import { findStates, toStates } from "../sql/diffs.ts";
import { findPausedTargets } from "../sql/targets.ts";
import { tryOnTarget, type KnownTrial, type Trial, type TrialOptions } from "./try-on-target.ts";

/** How many are tried at once. */
const inFlightMax = 16;

export interface TryAllOptions extends TrialOptions {
  readonly database: Database;
  /** Whether it is for the caller to say which targets are paused. */
  readonly leavesOutPauses?: boolean;
}

/** What a cluster refuses of one says so there, in the words of a refusal. */
export async function tryAll(
  options: TryAllOptions,
  trials: readonly Trial[],
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const { database, leavesOutPauses = false } = options;
  const known = await knowing(database, trials, signal);
  const results: JsonObject[] = [];
  await forEachAtOnce(
    trials.entries(),
    {
      atOnce: inFlightMax,
      run: async ([index, trial], within) => {
        const told = { ...known(trial), ...(leavesOutPauses ? { isTargetPaused: false } : {}) };
        results[index] = await tryOnTarget(options, told, within).catch(toldRefusal);
      },
    },
    signal,
  );
  return results;
}

/** Reads what is known of their resources and targets as they are, for each of them. */
export async function knowing(
  database: Database,
  trials: readonly Trial[],
  signal: AbortSignal,
): Promise<(trial: Trial) => KnownTrial> {
  const ids = trials.map(({ resource }) => resource.id);
  const clusterIds = [...new Set(trials.map(({ resource }) => resource.clusterId))];
  const [rows, targets] = await Promise.all([
    database.run(findStates, ids, signal),
    database.run(findPausedTargets, clusterIds, signal),
  ]);
  const states = new Map(rows.map((row) => [row.id, toStates(row)]));
  const paused = new Set(targets.map(({ cluster_id }) => cluster_id));
  return (trial) => ({
    ...trial,
    states: states.get(trial.resource.id),
    isTargetPaused: paused.has(trial.resource.clusterId),
  });
}

function toldRefusal(error: unknown): JsonObject {
  if (!(error instanceof RestError)) throw error;
  return { dry_run: true, error: error.message, code: error.code, details: error.details };
}
