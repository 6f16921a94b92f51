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

/** A scan that was run. */
export interface Scan {
  readonly table: string;
  /** Its index; the kind of scan where there is none. */
  readonly way: string;
}

/** Runs the statement, and tells how it read its tables. */
export async function scansIn<Parameters, Result extends object>(
  { name, build }: Statement<Parameters, Result>,
  parameters: Parameters,
  database: Database,
): Promise<readonly Scan[]> {
  const explain = statement<Parameters, { readonly "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
    `explain ${name}`,
    (sql, given) => sql`EXPLAIN (ANALYZE, FORMAT JSON) ${build(sql, given)}`,
  );
  const [row] = await database.run(explain, parameters, new AbortController().signal);
  return (row?.["QUERY PLAN"] ?? []).flatMap(({ Plan: root }) => scansOf(root));
}

function scansOf(node: PlanNode): readonly Scan[] {
  const children = node.Plans ?? [];
  const { "Relation Name": table, "Index Name": index, "Node Type": type } = node;
  if (node["Actual Loops"] === 0) return [];
  // A scan by bitmap has its indexes below it.
  if (table !== undefined && type === "Bitmap Heap Scan") {
    return indexesOf(children).map((way) => ({ table, way }));
  }
  const isScan = table !== undefined && type.endsWith("Scan");
  return [...(isScan ? [{ table, way: index ?? type }] : []), ...children.flatMap(scansOf)];
}

function indexesOf(nodes: readonly PlanNode[]): readonly string[] {
  return nodes.flatMap(({ "Index Name": index, Plans: children = [] }) => [
    ...(index === undefined ? [] : [index]),
    ...indexesOf(children),
  ]);
}
