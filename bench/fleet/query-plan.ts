// By which indexes a statement reads a table, as PostgreSQL tells after running it.

import { statement, type Database, type Statement } from "@keelson/database";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  /** How often it was run: what the plan holds and nobody needed is 0. */
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

/** The index of each scan of the table that was run; the kind of scan where there is none. */
export async function waysInto<Parameters, Result extends object>(
  table: string,
  { name, build }: Statement<Parameters, Result>,
  parameters: Parameters,
  database: Database,
): Promise<readonly string[]> {
  const explain = statement<Parameters, { readonly "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
    `explain ${name}`,
    (sql, given) => sql`EXPLAIN (ANALYZE, FORMAT JSON) ${build(sql, given)}`,
  );
  const [row] = await database.run(explain, parameters, new AbortController().signal);
  return (row?.["QUERY PLAN"] ?? []).flatMap(({ Plan: root }) => scansOf(root, table));
}

function scansOf(node: PlanNode, table: string): readonly string[] {
  const below = (node.Plans ?? []).flatMap((child) => scansOf(child, table));
  const isScan = node["Node Type"].endsWith("Scan") && node["Relation Name"] === table;
  if (!isScan || node["Actual Loops"] === 0) return below;
  // A scan by bitmap has its indexes below it.
  const isByBitmap = node["Node Type"] === "Bitmap Heap Scan";
  return isByBitmap ? indexesBelow(node) : [node["Index Name"] ?? node["Node Type"], ...below];
}

function indexesBelow({ Plans: children = [] }: PlanNode): readonly string[] {
  return children.flatMap((child) => [
    ...(child["Index Name"] === undefined ? [] : [child["Index Name"]]),
    ...indexesBelow(child),
  ]);
}
