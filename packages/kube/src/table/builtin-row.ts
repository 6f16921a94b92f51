// The rows of built-in kinds.

import type { JsonObject } from "@keelson/base";
import { apiCells } from "./cells/api.ts";
import { clusterCells, plainCells } from "./cells/cluster.ts";
import { networkCells } from "./cells/network.ts";
import { podCells, podConditions } from "./cells/pods.ts";
import type { CellsOf, Subject } from "./cells/reading.ts";
import { storageCells } from "./cells/storage.ts";
import { workloadCells } from "./cells/workloads.ts";
import type { TableRow } from "./table.ts";

/**
 * The row of an object of a built-in kind at a time, with a cell for each of the kind's columns. A kind that
 * has no cells of its own shows its name and when it was made.
 */
export function builtinRow(
  { group, kind }: { readonly group: string; readonly kind: string },
  object: JsonObject,
  nowMs: number,
): TableRow {
  const subject: Subject = { object, nowMs };
  const name = `${group}/${kind}`;
  if (name === "/Pod") {
    const conditions = podConditions(subject);
    const cells = podCells(subject);
    return conditions === undefined ? { cells, object } : { cells, object, conditions };
  }
  const cellsOf = cellsByKind.get(name) ?? plainCells;
  return { cells: cellsOf(subject), object };
}

const cellsByKind = new Map<string, CellsOf>(
  Object.entries({
    ...workloadCells,
    ...networkCells,
    ...storageCells,
    ...clusterCells,
    ...apiCells,
  }),
);
