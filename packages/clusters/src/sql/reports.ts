// The tables of reports, and what a report does to finalizers and to the registry.

import { readJson, writeJson, type Json, type JsonObject } from "@keelson/base";
import { statement } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { Condition, LastError, Report } from "../reports/report.ts";
import { tables } from "./tables.ts";

/** Metadata and errors as text: a parsed number may have lost digits. */
export interface ReportRow {
  readonly controller_name: string;
  readonly observed_generation: string;
  readonly conditions: readonly Condition[];
  readonly metadata: string;
  readonly last_error: string | null;
  readonly updated_at: Date;
}

export function toReport(row: ReportRow): Report {
  return {
    controllerName: row.controller_name,
    observedGeneration: Number(row.observed_generation),
    conditions: row.conditions,
    metadata: readJson(row.metadata) as JsonObject,
    lastError: row.last_error === null ? null : (readJson(row.last_error) as unknown as LastError),
    updatedAt: row.updated_at,
  };
}

export const listReports = statement<{ readonly kind: KindName; readonly id: string }, ReportRow>(
  "listReports",
  (sql, { kind, id }) => sql`
    SELECT controller_name, observed_generation, conditions, metadata::text AS metadata,
           last_error::text AS last_error, updated_at
    FROM ${sql(tables[kind].reports)} WHERE ${sql(tables[kind].key)} = ${id} ORDER BY controller_name`,
);

/** What a controller said last of a resource that is locked. */
export const findReport = statement<
  { readonly kind: KindName; readonly id: string; readonly controllerName: string },
  ReportRow
>(
  "findReport",
  (sql, { kind, id, controllerName }) => sql`
    SELECT controller_name, observed_generation, conditions, metadata::text AS metadata,
           last_error::text AS last_error, updated_at
    FROM ${sql(tables[kind].reports)}
    WHERE ${sql(tables[kind].key)} = ${id} AND controller_name = ${controllerName}`,
);

export interface WrittenReport extends Omit<Report, "updatedAt"> {
  readonly kind: KindName;
  readonly id: string;
  /** True: a deletion waits for it; false: it does not; null: as before. */
  readonly finalizer: boolean | null;
  /** Whether a deletion was asked for: a finalizer that was closed before is open again. */
  readonly isDeleting: boolean;
  /** Whether it has nothing left to do for that. */
  readonly isFinalized: boolean;
}

/** Stores the report; whoever reports is not retired. */
export const writeReport = statement<WrittenReport>(
  "writeReport",
  (sql, { kind, id, controllerName, observedGeneration, finalizer, isFinalized, ...report }) => {
    const { reports, key } = tables[kind];
    const { conditions, metadata, lastError, isDeleting } = report;
    const lastErrorText = lastError === null ? null : writeJson(lastError as unknown as Json);
    return sql`
      WITH written AS (
        INSERT INTO ${sql(reports)}
          (${sql(key)}, controller_name, observed_generation, conditions, metadata, last_error, updated_at)
        VALUES
          (${id}, ${controllerName}, ${observedGeneration}, ${writeJson(conditions as unknown as Json)}::text::jsonb,
           ${writeJson(metadata)}::text::jsonb, ${lastErrorText}::text::jsonb, clock_timestamp())
        ON CONFLICT (${sql(key)}, controller_name) DO UPDATE
        SET observed_generation = excluded.observed_generation, conditions = excluded.conditions,
            metadata = excluded.metadata, last_error = excluded.last_error, updated_at = excluded.updated_at
      ), revived AS (
        UPDATE controllers SET retired_at = NULL
        WHERE name = ${controllerName} AND retired_at IS NOT NULL
      ), dropped AS (
        DELETE FROM finalizers
        WHERE ${finalizer}::boolean IS FALSE AND kind = ${kind} AND resource_id = ${id}
          AND controller_name = ${controllerName}
      ), kept AS (
        INSERT INTO finalizers (kind, resource_id, controller_name, finalized_at)
        SELECT ${kind}::text, ${id}::uuid, ${controllerName}::varchar,
               CASE WHEN ${isFinalized}::boolean THEN clock_timestamp() END
        WHERE ${finalizer}::boolean IS TRUE
        ON CONFLICT (kind, resource_id, controller_name) DO UPDATE
        SET finalized_at = CASE WHEN ${isDeleting}::boolean
                                THEN coalesce(finalizers.finalized_at, excluded.finalized_at) END
      )
      UPDATE finalizers SET finalized_at = clock_timestamp()
      WHERE ${isFinalized}::boolean AND ${finalizer}::boolean IS NOT TRUE AND kind = ${kind} AND resource_id = ${id}
        AND controller_name = ${controllerName} AND finalized_at IS NULL`;
  },
);
