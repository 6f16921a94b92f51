// What is in a schema, as the catalogs have it.

/**
 * SQL for the relations, routines and types of the schema that `$1` names. Left out is what can neither be dropped nor change
 * hands by itself: parts of others, such as the sequence of a column, and what an extension made.
 */
export const schemaContent = `
SELECT d.classid, d.objid, c.relkind, coalesce(c.relowner, p.proowner, t.typowner) AS owner
FROM pg_namespace n
  JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid AND d.deptype = 'n'
    AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
  LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
  LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
  LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
WHERE n.nspname = $1 AND NOT EXISTS (SELECT FROM pg_depend o
  WHERE o.classid = d.classid AND o.objid = d.objid AND o.objsubid = 0
    AND (o.deptype IN ('i', 'e') OR o.deptype = 'a' AND c.relkind = 'S'))`;

/** What `pg_identify_object` says of such an object. */
export interface Identified {
  readonly type: string;
  /** With its schema, and quoted. */
  readonly identity: string;
}

/** Its kind, as DROP and ALTER say it. An aggregate without arguments is written otherwise there, but for a routine. */
export function statementKind({ type }: Identified): string {
  return type === "aggregate" ? "ROUTINE" : type.toUpperCase();
}
