// What a PUT brings back from the history.

import { RestError, type JsonObject } from "@keelson/base";
import { specOf } from "../sql/resources.ts";
import { isRestoring, type Replacement } from "./replacement.ts";

/** What the history holds of an earlier state. */
export interface EarlierState {
  readonly revision: number;
  readonly apiVersion: string;
  readonly desiredSpec: JsonObject;
}

/** Which line of a history: the newest of a revision, or just this generation. */
export interface HistoryPlace {
  readonly revision: number | null;
  readonly generation: number | null;
}

interface HistoryLine {
  readonly revision: number;
  readonly api_version: string;
  readonly desired_spec: string;
}

/**
 * The state that a PUT brings back, as `find` reads it in the history; undefined if it brings none back. Throws
 * `RESOURCE_NOT_FOUND` if it is not there.
 */
export async function earlierState(
  asked: Replacement,
  find: (place: HistoryPlace) => Promise<readonly HistoryLine[]>,
): Promise<EarlierState | undefined> {
  const place = restoredBy(asked);
  if (place === undefined) return undefined;
  const [line] = await find(place);
  if (line === undefined) {
    const { revision, generation } = place;
    const what = revision === null ? `generation ${generation}` : `revision ${revision}`;
    throw new RestError("RESOURCE_NOT_FOUND", `${what} is not in the history`);
  }
  const { revision, api_version: apiVersion } = line;
  return { revision, apiVersion, desiredSpec: specOf(line.desired_spec) };
}

function restoredBy(asked: Replacement): HistoryPlace | undefined {
  if (!isRestoring(asked)) return undefined;
  const { revision = null, restoreGeneration: generation = null } = asked; // Never both.
  return { revision, generation };
}
