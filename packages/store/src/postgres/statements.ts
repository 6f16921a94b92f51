// Every statement of the PostgreSQL backend, by name. The name reaches errors and the `onStatement` hook.

import type { PendingQuery, Row as SqlRow, Sql } from "postgres";
import type { CutLimits, LogLimits, ScanRequest, Write } from "../backend.ts";
import { type Key, type Scope, splitKind } from "../key.ts";
import type { LogRow as EntryRow } from "../log-row.ts";
import type { Revision } from "../revision.ts";
import type { LabelRequirement } from "../selector.ts";
import { readOnlyError } from "./errors.ts";

/** `int8` arrives as text, so that it cannot lose digits. */
type Int8 = string;

export interface BoundsRow {
  readonly head: Int8;
  readonly floor: Int8;
}

export interface OutcomeRow {
  readonly ordinal: Int8;
  readonly verdict: "written" | "unchanged" | "exists" | "missing" | "conflict";
  readonly revision: Int8;
  readonly actual_revision: Int8 | null;
  readonly actual_uid: string | null;
  readonly body_before: string | null;
  readonly head: Int8;
}

export interface ObjectRow {
  readonly namespace: string;
  readonly name: string;
  readonly resource_version: Int8;
  readonly uid: string;
  /** Null for a row that was walked over but not wanted. */
  readonly object: string | null;
}

export interface ScanRow extends BoundsRow, ObjectRow {
  /** A live row, what a changed one was before, or the key of a deleted one; null in the row of an empty stretch. */
  readonly origin: "live" | "before" | "deleted" | null;
}

/** An entry, or the one row of a page without any. `entries` counts those that the limit on text left out, too. */
export type LogRow = BoundsRow &
  ((EntryRow & { readonly entries: Int8 }) | { readonly revision: null });

/**
 * The statements on one schema. What writes to it waits for the counter no longer than `lockMsMax`: given up by us alone, it
 * would go on waiting on a connection of its own, and write long after its writer was told that it did not.
 */
export function statementsOf(schemaName: string, lockMsMax = 9_000) {
  const soon = (sql: Sql) =>
    sql`set_config('lock_timeout', ${String(Math.ceil(lockMsMax))}, true) IS NOT NULL`;
  /** The argument of a function that waits; whatever the plan, it is known before the function begins. */
  const inTime = (sql: Sql, argument: PendingQuery<SqlRow[]>) =>
    sql`CASE WHEN ${soon(sql)} THEN ${argument} END`;
  const place = (sql: Sql, { scope, after, name }: ScanRequest) => {
    const { kind, group } = splitKind(scope.kind);
    const start = after ?? { namespace: "", name: "" };
    const named = name === undefined ? sql`` : sql`AND name = ${name}`;
    const key = sql`api_group = ${group} AND kind = ${kind}`;
    if (scope.namespace === "") {
      return sql`${key} AND (namespace, name) > (${start.namespace}, ${start.name}) ${named}`;
    }
    const first = start.namespace === scope.namespace ? start.name : "";
    return sql`${key} AND namespace = ${scope.namespace} AND name > ${first} ${named}`;
  };
  const at = (sql: Sql, key: Key) => {
    const { kind, group } = splitKind(key.kind);
    return sql`api_group = ${group} AND kind = ${kind} AND namespace = ${key.namespace} AND name = ${key.name}`;
  };
  const within = (sql: Sql, scope: Scope) => {
    const { kind, group } = splitKind(scope.kind);
    const inNamespace = scope.namespace === "" ? sql`` : sql`AND namespace = ${scope.namespace}`;
    return sql`api_group = ${group} AND kind = ${kind} ${inNamespace}`;
  };

  return {
    /** One write without company: the same as a batch of one, in about two thirds of the time on the server. */
    writeOne: (sql: Sql, write: Write) => {
      const { type, key } = write;
      const { kind, group } = splitKind(key.kind);
      const expect = type === "create" ? {} : write.expect;
      const columns = type === "delete" ? undefined : write.columns;
      const object = bodyText(write);
      return sql<OutcomeRow[]>`SELECT * FROM ${sql(schemaName)}.write_one(
        ${inTime(sql, sql`${type}`)}, ${group}, ${kind}, ${key.namespace}, ${key.name},
        ${expect.revision ?? null}, ${expect.uid ?? null},
        ${columns?.uid ?? null}, ${columns?.apiVersion ?? null}, ${columns?.generation ?? null},
        ${columns?.deletedAt ?? null}, ${object}, ${isPlain(object ?? "")})`;
    },

    writeBatch: (sql: Sql, batch: readonly Write[]) => {
      const schema = sql(schemaName);
      const column = (of: (write: Write) => string | number | boolean | null): string =>
        arrayText(batch.map(of));
      return sql<OutcomeRow[]>`SELECT * FROM ${schema}.write_batch(
        ${inTime(sql, sql`${column(({ type }) => type)}::text[]`)},
        ${column(({ key }) => splitKind(key.kind).group)}::text[],
        ${column(({ key }) => splitKind(key.kind).kind)}::text[],
        ${column(({ key }) => key.namespace)}::text[],
        ${column(({ key }) => key.name)}::text[],
        ${column((write) => (write.type === "create" ? null : (write.expect.revision ?? null)))}::bigint[],
        ${column((write) => (write.type === "create" ? null : (write.expect.uid ?? null)))}::text[],
        ${column((write) => (write.type === "delete" ? null : write.columns.uid))}::text[],
        ${column((write) => (write.type === "delete" ? null : write.columns.apiVersion))}::text[],
        ${column((write) => (write.type === "delete" ? null : write.columns.generation))}::bigint[],
        ${column((write) => (write.type === "delete" ? null : write.columns.deletedAt))}::timestamptz[],
        ${column(bodyText)}::text[],
        ${column((write) => isPlain(bodyText(write) ?? ""))}::boolean[])`;
    },

    selectBounds: (sql: Sql) => sql<BoundsRow[]>`SELECT head, floor FROM ${sql(schemaName)}.meta`,

    /** Answers if the tables are there and the server takes writes. */
    ping: async (sql: Sql): Promise<readonly BoundsRow[]> => {
      const rows = await sql<(BoundsRow & { is_read_only: boolean })[]>`
        SELECT head, floor, current_setting('transaction_read_only')::boolean AS is_read_only
        FROM ${sql(schemaName)}.meta`;
      if (rows[0]?.is_read_only === true) throw readOnlyError();
      return rows;
    },

    selectObject: (sql: Sql, key: Key) => sql<(BoundsRow & Partial<ObjectRow>)[]>`
      SELECT m.head, m.floor, r.namespace, r.name, r.resource_version, r.uid, r.object
      FROM ${sql(schemaName)}.meta m LEFT JOIN ${sql(schemaName)}.resources r ON ${at(sql, key)}`,

    /** The stretch as it is now. */
    scanNow: (sql: Sql, request: ScanRequest) => sql<ScanRow[]>`
      SELECT m.head, m.floor, s.* FROM ${sql(schemaName)}.meta m LEFT JOIN (
        SELECT 'live' AS origin, namespace, name, resource_version, uid, ${wanted(sql, request.labels)} AS object
        FROM ${sql(schemaName)}.resources WHERE ${place(sql, request)}
        ORDER BY namespace, name LIMIT ${request.walk}) s ON true
      ORDER BY s.namespace, s.name`,

    /**
     * The stretch as it was at `revision`: rows that have not changed since, and for the others
     * what the first change after it found there.
     */
    scanAt: (sql: Sql, request: ScanRequest, revision: Revision) => sql<ScanRow[]>`
      WITH live AS (
        SELECT namespace, name, resource_version, uid, ${wanted(sql, request.labels)} AS object
        FROM ${sql(schemaName)}.resources WHERE ${place(sql, request)}
        ORDER BY namespace, name LIMIT ${request.walk}
      ), deleted AS (
        SELECT DISTINCT namespace, name FROM ${sql(schemaName)}.changes
        WHERE ${place(sql, request)} AND type = 'DELETED' AND revision > ${revision}
        ORDER BY namespace, name LIMIT ${request.walk}
      ), changed AS (
        SELECT namespace, name FROM live WHERE resource_version > ${revision}
        UNION SELECT namespace, name FROM deleted
      ), state AS (
        SELECT 'live' AS origin, namespace, name, resource_version, uid,
          CASE WHEN resource_version <= ${revision} THEN object END AS object FROM live
        UNION ALL SELECT 'deleted', namespace, name, NULL, NULL, NULL FROM deleted
        UNION ALL SELECT 'before', c.namespace, c.name, h.previous_revision, h.uid, coalesce(h.previous, h.object)
        FROM changed c CROSS JOIN LATERAL (
          SELECT * FROM ${sql(schemaName)}.changes h
          WHERE h.api_group = ${splitKind(request.scope.kind).group} AND h.kind = ${splitKind(request.scope.kind).kind}
            AND h.namespace = c.namespace AND h.name = c.name AND h.revision > ${revision}
          ORDER BY h.revision LIMIT 1) h
        WHERE h.type <> 'ADDED'
      )
      SELECT m.head, m.floor, s.* FROM ${sql(schemaName)}.meta m LEFT JOIN state s ON true`,

    selectCount: (sql: Sql, scope: Scope, revision: Revision | undefined) => sql<
      { objects: Int8; floor: Int8 }[]
    >`
      SELECT (SELECT floor FROM ${sql(schemaName)}.meta) AS floor, (SELECT coalesce(sum(objects), 0) FROM ${sql(schemaName)}.counts WHERE ${within(sql, scope)})
        - (SELECT coalesce(sum(CASE type WHEN 'ADDED' THEN 1 WHEN 'DELETED' THEN -1 ELSE 0 END), 0)
           FROM ${sql(schemaName)}.changes
           WHERE revision > ${revision ?? Number.MAX_SAFE_INTEGER} AND ${within(sql, scope)}) AS objects`,

    selectCounts: (sql: Sql) => sql<{ api_group: string; kind: string; objects: Int8 }[]>`
      SELECT api_group, kind, sum(objects) AS objects FROM ${sql(schemaName)}.counts GROUP BY api_group, kind`,

    selectLog: (sql: Sql, after: Revision, limits: LogLimits) => sql<LogRow[]>`
      SELECT m.head, m.floor, c.* FROM ${sql(schemaName)}.meta m LEFT JOIN (
        SELECT * FROM (
          SELECT *, sum(length(object) + coalesce(length(previous), 0)) OVER (ORDER BY revision) AS text,
            row_number() OVER (ORDER BY revision) AS place, count(*) OVER () AS entries
          FROM (
            SELECT * FROM ${sql(schemaName)}.changes
            WHERE revision > ${after} AND revision <= ${limits.through ?? Number.MAX_SAFE_INTEGER}
            ORDER BY revision LIMIT ${limits.entries}) page) counted
        WHERE place = 1 OR text <= ${limits.text}) c ON true
      ORDER BY c.revision`,

    selectHistory: (sql: Sql, key: Key, before: Revision | undefined, limit: number) => sql<
      EntryRow[]
    >`
      SELECT c.* FROM ${sql(schemaName)}.changes c
      WHERE ${at(sql, key)} AND revision < ${before ?? Number.MAX_SAFE_INTEGER}
        AND revision > (SELECT floor FROM ${sql(schemaName)}.meta)
      ORDER BY revision DESC LIMIT ${limit}`,

    /** How many entries a cut may take. How long a body is stands before it: none is read. */
    countCut: (sql: Sql, upTo: Revision, { entries, bytes }: CutLimits) => sql<{ entries: Int8 }[]>`
      SELECT count(*) AS entries FROM (
        SELECT row_number() OVER (ORDER BY revision) AS place,
          sum(octet_length(object) + coalesce(octet_length(previous), 0)) OVER (ORDER BY revision) AS bytes
        FROM (
          SELECT revision, object, previous FROM ${sql(schemaName)}.changes
          WHERE revision <= ${upTo} ORDER BY revision LIMIT ${entries}) page) counted
      WHERE place = 1 OR bytes <= ${bytes}`,

    /**
     * The floor rises with the cut, in one transaction; its end forgets the counts of namespaces that are gone. The counter
     * is locked first, as by every batch: no two wait for each other.
     */
    cut: (sql: Sql, upTo: Revision, entries: number) => sql<(BoundsRow & { done: boolean })[]>`
      WITH cut AS MATERIALIZED (SELECT * FROM ${sql(schemaName)}.cut_log(${inTime(sql, sql`${upTo}::bigint`)}, ${entries})),
        forgotten AS (DELETE FROM ${sql(schemaName)}.counts USING cut WHERE cut.done AND objects = 0)
      SELECT * FROM cut`,

    leap: (sql: Sql) => sql<BoundsRow[]>`
      SELECT bounds.* FROM (SELECT ${soon(sql)} AS is_soon OFFSET 0) limits
      CROSS JOIN LATERAL (SELECT * FROM ${sql(schemaName)}.leap() WHERE limits.is_soon) bounds`,

    /** Leaps if the state belongs to another database than this one; answers whether it did. */
    adopt: (sql: Sql) => sql<{ leapt: boolean }[]>`
      SELECT ${inTime(sql, sql`${sql(schemaName)}.adopt()`)} AS leapt`,

    claim: (
      sql: Sql,
      name: string,
      { holder, ttlMs }: { readonly holder: string; readonly ttlMs: number },
    ) => sql<{ token: Int8 }[]>`
      INSERT INTO ${sql(schemaName)}.leases AS l (name, holder, token, expires_at)
      VALUES (${name}, ${holder}, 1, clock_timestamp() + ${ttlMs} * interval '1 millisecond')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
        token = l.token + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
      WHERE l.holder = excluded.holder OR l.expires_at < clock_timestamp()
      RETURNING l.token`,

    release: (sql: Sql, name: string, holder: string) => sql`
      UPDATE ${sql(schemaName)}.leases SET expires_at = '-infinity' WHERE name = ${name} AND holder = ${holder}`,

    /** From both ends of the log and from the catalogue. A leap leaves entries below the floor. */
    selectSize: (sql: Sql) => sql<(BoundsRow & { log_rows: Int8; bytes: Int8 })[]>`
      SELECT m.head, m.floor,
        greatest(0, coalesce((SELECT max(revision) FROM ${sql(schemaName)}.changes), 0)
          - greatest(m.floor, coalesce((SELECT min(revision) FROM ${sql(schemaName)}.changes), 1) - 1)) AS log_rows,
        (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ${schemaName} AND c.relkind = 'r') AS bytes
      FROM ${sql(schemaName)}.meta m`,

    notify: (sql: Sql, channel: string, payload: string) =>
      sql`SELECT pg_notify(${channel}, ${payload})`,
  } as const;
}

/** The body if the labels fit, or if they cannot be judged here; else null: walked over, not wanted. */
function wanted(sql: Sql, labels: readonly LabelRequirement[]): PendingQuery<SqlRow[]> {
  if (labels.length === 0) return sql`object`;
  const conditions = labels.map((requirement) => labelCondition(sql, requirement));
  const all = conditions.reduce((left, right) => sql`${left} AND ${right}`);
  return sql`CASE WHEN spec IS NULL OR (${all}) THEN object END`;
}

function labelCondition(sql: Sql, requirement: LabelRequirement): PendingQuery<SqlRow[]> {
  const { key } = requirement;
  const value = sql`CASE WHEN jsonb_typeof(labels -> ${key}) = 'string' THEN labels ->> ${key} END`;
  switch (requirement.operator) {
    case "In":
      return sql`coalesce((${value}) = ANY (${arrayText(requirement.values)}::text[]), false)`;
    case "NotIn":
      return sql`coalesce((${value}) <> ALL (${arrayText(requirement.values)}::text[]), true)`;
    case "Exists":
      return sql`(${value}) IS NOT NULL`;
    case "DoesNotExist":
      return sql`(${value}) IS NULL`;
    case "Gt":
      return sql`CASE WHEN (${value}) ~ '^-?[0-9]{1,63}$' THEN (${value})::numeric > ${requirement.value}::numeric ELSE false END`;
    case "Lt":
      return sql`CASE WHEN (${value}) ~ '^-?[0-9]{1,63}$' THEN (${value})::numeric < ${requirement.value}::numeric ELSE false END`;
  }
}

function bodyText(write: Write): string | null {
  return write.type === "delete" ? (write.final?.text ?? null) : write.body.text;
}

/**
 * Whether jsonb surely holds the text. NUL and half surrogate pairs, which it refuses, are written as escapes;
 * so are exponents that its numbers cannot have. A false alarm only costs a slower cast.
 */
function isPlain(text: string): boolean {
  return !/\\u(?:0000|[dD][89a-fA-F])|\d[eE][+-]?\d{3}|\d{1000}/.test(text);
}

/** An array literal: the driver sends it as it is. */
function arrayText(values: readonly (string | number | boolean | null)[]): string {
  const items = values.map((value) => {
    if (value === null) return "NULL";
    return typeof value === "string" ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : String(value);
  });
  return `{${items.join(",")}}`;
}
