// What PostgreSQL has under the names of an app: one question, answered by the catalogs.

import type { Names } from "../names/names.ts";
import { literal } from "./identifier.ts";
import { takenInPart } from "./owner-comment.ts";
import { schemaContent, type Identified } from "./schema-content.ts";
import type { Session, Statement } from "./session.ts";

export type DatabaseNames = Pick<Names, "schema" | "appRole" | "anonRole">;

export interface FoundSchema {
  readonly comment: string | null;
  readonly isAdmins: boolean;
  readonly appMayAll: boolean;
  readonly anonMayUse: boolean;
}

export interface FoundRole {
  readonly comment: string | null;
  readonly canLogin: boolean;
  /** Whether the administrator may act for it. */
  readonly isAdmins: boolean;
}

export interface Inspection {
  /** As `server_version_num` has it: 150004. */
  readonly version: number;
  readonly schema: FoundSchema | null;
  readonly app: FoundRole | null;
  readonly anon: FoundRole | null;
  readonly appMayBeAnon: boolean;
  readonly defaults: {
    /** What the app makes: anon may read its tables, nobody may call its functions. */
    readonly appTables: boolean;
    readonly appFunctions: boolean;
    /** What the administrator makes in the schema. */
    readonly adminTables: boolean;
    readonly adminTablesRead: boolean;
    readonly adminSequences: boolean;
  };
  readonly searchPath: boolean;
  /**
   * Of a schema whose app has no role, as after a backup without roles, or whose new role has not taken all of it: what became
   * the administrator's. One more than is taken at once where there is more.
   */
  readonly lost: readonly Identified[];
}

/** What changes hands at once: a table takes a lock for each of its indexes, too, and there are not many thousands. */
export const takenMax = 100;

export async function inspect(
  session: Session,
  names: DatabaseNames,
  signal: AbortSignal,
): Promise<Inspection> {
  const [row] = await session.run<{ readonly found: Inspection }>(inspection(names), signal);
  if (row === undefined) throw new Error("the inspection of a database had no row");
  return row.found;
}

// `to_jsonb` reads the options of a membership where there are some: they came with PostgreSQL 16, which gives the
// creator of a role the right to hand it out, and no other.
function inspection({ schema, appRole, anonRole }: DatabaseNames): Statement {
  return {
    name: "inspect",
    values: [schema, appRole, anonRole],
    text: `
WITH me AS (SELECT oid FROM pg_roles WHERE rolname = current_user),
  s AS (SELECT * FROM pg_namespace WHERE nspname = $1),
  app AS (SELECT * FROM pg_roles WHERE rolname = $2),
  anon AS (SELECT * FROM pg_roles WHERE rolname = $3),
  members AS (
    SELECT roleid, member,
      bool_or(coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)) AS inherits,
      bool_or(coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)) AS sets
    FROM pg_auth_members m GROUP BY roleid, member
  ),
  defaults AS (
    SELECT d.defaclrole, d.defaclnamespace, d.defaclobjtype, a.grantee, a.privilege_type
    FROM pg_default_acl d CROSS JOIN aclexplode(d.defaclacl) a
  ),
  roles AS (
    SELECT r.rolname, jsonb_build_object(
      'comment', shobj_description(r.oid, 'pg_authid'),
      'canLogin', r.rolcanlogin,
      'isAdmins', EXISTS (SELECT FROM members m, me
        WHERE m.roleid = r.oid AND m.member = me.oid AND m.inherits AND m.sets)) AS found
    FROM pg_roles r WHERE r.rolname IN ($2, $3)
  )
SELECT jsonb_build_object(
  'version', current_setting('server_version_num')::integer,
  'schema', (SELECT jsonb_build_object(
      'comment', obj_description(s.oid, 'pg_namespace'),
      'isAdmins', s.nspowner = me.oid,
      'appMayAll', (SELECT count(*) = 2 FROM aclexplode(s.nspacl) a, app WHERE a.grantee = app.oid),
      'anonMayUse', EXISTS (SELECT FROM aclexplode(s.nspacl) a, anon
        WHERE a.grantee = anon.oid AND a.privilege_type = 'USAGE'))
    FROM s, me),
  'app', (SELECT found FROM roles WHERE rolname = $2),
  'anon', (SELECT found FROM roles WHERE rolname = $3),
  'appMayBeAnon', EXISTS (SELECT FROM members m, app, anon
    WHERE m.roleid = anon.oid AND m.member = app.oid AND m.sets),
  'defaults', jsonb_build_object(
    'appTables', EXISTS (SELECT FROM defaults d, s, app, anon
      WHERE d.defaclrole = app.oid AND d.defaclnamespace = s.oid AND d.defaclobjtype = 'r'
        AND d.grantee = anon.oid AND d.privilege_type = 'SELECT'),
    'appFunctions', EXISTS (SELECT FROM pg_default_acl d, app
        WHERE d.defaclrole = app.oid AND d.defaclnamespace = 0 AND d.defaclobjtype = 'f')
      AND NOT EXISTS (SELECT FROM defaults d, app
        WHERE d.defaclrole = app.oid AND d.defaclnamespace = 0 AND d.defaclobjtype = 'f' AND d.grantee = 0),
    'adminTables', ${mayAll("r", "r")},
    'adminTablesRead', EXISTS (SELECT FROM defaults d, s, me, anon
      WHERE d.defaclrole = me.oid AND d.defaclnamespace = s.oid AND d.defaclobjtype = 'r'
        AND d.grantee = anon.oid AND d.privilege_type = 'SELECT'),
    'adminSequences', ${mayAll("s", "S")}),
  'searchPath', EXISTS (SELECT FROM pg_db_role_setting c, app
    WHERE c.setrole = app.oid AND c.setdatabase = 0
      AND 'search_path=' || quote_ident($1) = ANY (c.setconfig)),
  'lost', CASE WHEN EXISTS (SELECT FROM app) AND NOT EXISTS (SELECT FROM s
      WHERE right(obj_description(s.oid, 'pg_namespace'), ${takenInPart.length}) = ${literal(takenInPart)})
    THEN '[]' ELSE coalesce(
    (SELECT jsonb_agg(jsonb_build_object('type', o.type, 'identity', o.identity) ORDER BY batch.objid)
      FROM (SELECT content.* FROM (${schemaContent}) content JOIN me ON me.oid = content.owner
          ORDER BY content.objid LIMIT ${takenMax + 1}) batch
        CROSS JOIN LATERAL pg_identify_object(batch.classid, batch.objid, 0) o), '[]') END
) AS found`,
  };
}

/** Whether the app gets every right there is on what the administrator makes; how many there are depends on the version. */
function mayAll(kind: "r" | "s", objectType: "r" | "S"): string {
  return `NOT EXISTS (
      SELECT a.privilege_type FROM me, aclexplode(acldefault('${kind}', me.oid)) a
      EXCEPT SELECT d.privilege_type FROM defaults d, s, me, app
      WHERE d.defaclrole = me.oid AND d.defaclnamespace = s.oid AND d.defaclobjtype = '${objectType}'
        AND d.grantee = app.oid)`;
}
