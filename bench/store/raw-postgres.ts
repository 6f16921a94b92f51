// The machine's own limit on PostgreSQL: the store's rows, written straight through the driver.

import postgres from "postgres";
import type { RawRow, RawWriter } from "./raw.ts";

/**
 * Writes to a database that the store has prepared: same tables and indexes, no trigger, one connection, and
 * for each call one statement in one round trip. (Of what we tried the fastest; a transaction of separate
 * statements, pipelined, reaches half of it, one of rows as `VALUES` the same in large batches and half in
 * small ones.) It checks nothing, compares nothing and remembers nothing, and the rows come ready-made.
 */
export async function rawPostgres(url: string): Promise<RawWriter> {
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { jit: "off" },
  });
  await sql`DROP TRIGGER wake_up ON ark.changes`;
  let head = 1;

  const input = (rows: readonly RawRow[]) => {
    const column = (of: (row: RawRow) => string): string => arrayText(rows.map(of));
    const first = head + 1;
    head += rows.length;
    const revisions = `{${rows.map((_, index) => first + index).join(",")}}`;
    return sql`SELECT * FROM unnest(${revisions}::bigint[],
        ${column((row) => row.group)}::text[], ${column((row) => row.kind)}::text[],
        ${column((row) => row.namespace)}::text[], ${column((row) => row.name)}::text[],
        ${column((row) => row.uid)}::text[], ${column((row) => row.apiVersion)}::text[],
        ${column((row) => row.text)}::text[], ${column((row) => row.spec)}::jsonb[],
        ${column((row) => row.status)}::jsonb[], ${column((row) => row.labels)}::jsonb[],
        ${column((row) => row.annotations)}::jsonb[])
      AS i (revision, api_group, kind, namespace, name, uid, api_version, object, spec, status, labels, annotations)`;
  };

  return {
    async create(rows) {
      await sql`WITH i AS MATERIALIZED (${input(rows)}), o AS (
          INSERT INTO ark.resources
            (api_group, kind, namespace, name, resource_version, uid, api_version, object, spec, status, labels, annotations)
          SELECT api_group, kind, namespace, name, revision, uid, api_version, object, spec, status, labels, annotations
          FROM i
        ), l AS (
          INSERT INTO ark.changes (revision, type, api_group, kind, namespace, name, uid, object)
          SELECT revision, 'ADDED', api_group, kind, namespace, name, uid, object FROM i
        )
        UPDATE ark.meta SET head = ${head}`;
    },
    async update(rows) {
      await sql`WITH i AS MATERIALIZED (${input(rows)}), l AS (
          INSERT INTO ark.changes
            (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
          SELECT i.revision, 'MODIFIED', i.api_group, i.kind, i.namespace, i.name, i.uid, i.object, r.object, r.resource_version
          FROM i JOIN ark.resources r USING (api_group, kind, namespace, name)
        ), o AS (
          UPDATE ark.resources r SET resource_version = i.revision, uid = i.uid, api_version = i.api_version,
            object = i.object, spec = i.spec, status = i.status, labels = i.labels, annotations = i.annotations,
            updated_at = now()
          FROM i WHERE r.api_group = i.api_group AND r.kind = i.kind AND r.namespace = i.namespace AND r.name = i.name
        )
        UPDATE ark.meta SET head = ${head}`;
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
    },
  };
}

function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
