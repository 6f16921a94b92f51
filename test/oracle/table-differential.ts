// The tables of the real server, row by row, beside ours of the same objects.

import { isJsonObject, readJson, writeJson } from "@keelson/base";
import type { Json, JsonObject } from "@keelson/base";
import { builtinRow, renderTable } from "@keelson/kube";
import type { BuiltinKinds, TableColumn } from "@keelson/kube";
import type { HttpClient } from "../tools/http-client.ts";

const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io";

export interface TableTally {
  rows: number;
  kinds: number;
  readonly differences: string[];
}

/** Asks for a table and gives the body with the times between which it was made. */
export async function getTable(
  client: HttpClient,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly table: JsonObject; readonly times: readonly number[] }> {
  const before = Date.now();
  const answer = await client.send({ path, headers: { accept: tableType } }, signal);
  const after = Date.now();
  // Ages count whole seconds: try each moment at which the real server may have looked at its clock.
  const times = Array.from({ length: 41 }, (_, step) => before + ((after - before) * step) / 40);
  const table = answer.status === 200 ? (readJson(answer.text) as JsonObject) : {};
  return { table, times };
}

/** Lists every kind that can be listed as a table and compares each row with ours. */
export async function runTableDifferential(
  client: HttpClient,
  kinds: BuiltinKinds,
  signal: AbortSignal,
): Promise<TableTally> {
  const tally: TableTally = { rows: 0, kinds: 0, differences: [] };
  for (const kind of kinds.all) {
    if (kind.columns.length === 0) continue;
    const prefix = kind.group === "" ? "/api" : `/apis/${kind.group}`;
    const path = `${prefix}/${kind.version}/${kind.plural}?includeObject=Object`;
    const { table, times } = await getTable(client, path, signal);
    if (table["kind"] !== "Table") continue; // Not served unless asked for.
    tally.kinds++;
    const columns: TableColumn[] = kind.columns.map((column) => ({ ...column, description: "" }));
    for (const row of (table["rows"] ?? []) as JsonObject[]) {
      const { object } = row;
      if (object === undefined || !isJsonObject(object)) continue;
      tally.rows++;
      const isEqual = times.some((nowMs) => {
        const rows = [builtinRow(kind, object, nowMs)];
        const ours = renderTable({ columns, rows, metadata: {}, includeObject: "Object" });
        return writeJson(plainRow((ours["rows"] as JsonObject[])[0])) === writeJson(plainRow(row));
      });
      if (isEqual) continue;
      const ours = builtinRow(kind, object, times[0] ?? 0);
      tally.differences.push(
        `${kind.group}/${kind.kind} ${writeJson(object["metadata"] ?? null).slice(0, 80)}\n theirs ${writeJson(row["cells"] ?? null)}\n ours   ${writeJson(ours.cells)}`,
      );
    }
    const headers = ((table["columnDefinitions"] ?? []) as JsonObject[]).map(withoutDescription);
    const expected = columns.map((column) => withoutDescription(column as unknown as JsonObject));
    if (writeJson(headers) !== writeJson(expected)) {
      tally.differences.push(
        `${kind.kind} columns\n theirs ${writeJson(headers)}\n ours   ${writeJson(expected)}`,
      );
    }
  }
  return tally;
}

function plainRow(row: JsonObject | undefined): Json {
  return { cells: row?.["cells"] ?? null, conditions: row?.["conditions"] ?? null };
}

/** Ours says what a column shows in words of its own, or not at all. */
function withoutDescription({ name, type, format, priority }: JsonObject): JsonObject {
  return { name: name ?? "", type: type ?? "", format: format ?? "", priority: priority ?? 0 };
}
