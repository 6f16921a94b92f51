import type { DatabaseNames } from "../sql/inspection.ts";
import type { AppDatabase } from "./app-database.ts";

/** What the catalogs say of an app, in names: equal for two that were made alike. */
export async function stateOf(
  { query }: Pick<AppDatabase, "query">,
  { schema, appRole, anonRole }: DatabaseNames,
): Promise<unknown> {
  const roles = `('${appRole}', '${anonRole}')`;
  const [row] = await query<{ state: unknown }>(`SELECT jsonb_build_object(
    'schema', (SELECT jsonb_build_object('acl', (SELECT jsonb_agg(a::text ORDER BY a::text) FROM unnest(nspacl) a),
      'owner', nspowner::regrole, 'comment', obj_description(oid)) FROM pg_namespace WHERE nspname = '${schema}'),
    'roles', (SELECT jsonb_agg(to_jsonb(r) - 'oid' || jsonb_build_object('comment', shobj_description(oid, 'pg_authid'))
      ORDER BY rolname) FROM pg_roles r WHERE rolname IN ${roles}),
    'members', (SELECT jsonb_agg(DISTINCT jsonb_build_object('role', m.roleid::regrole, 'member', m.member::regrole,
        'inherit', to_jsonb(m) ->> 'inherit_option', 'set', to_jsonb(m) ->> 'set_option'))
      FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE r.rolname IN ${roles}),
    'defaults', (SELECT jsonb_agg(jsonb_build_array(d.defaclrole::regrole, d.defaclobjtype, d.defaclnamespace = 0,
        (SELECT jsonb_agg(a::text ORDER BY a::text) FROM unnest(d.defaclacl) a))
        ORDER BY d.defaclrole::regrole::text, d.defaclobjtype)
      FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace JOIN pg_roles r ON r.oid = d.defaclrole
      WHERE n.nspname = '${schema}' OR r.rolname IN ${roles})) AS state`);
  return row?.state;
}

/** Everything in the database, and every role of the server, that apps left behind. */
export async function leftovers(
  { query }: Pick<AppDatabase, "query">,
  name: string,
): Promise<unknown> {
  const [row] = await query<{ left: unknown }>(`SELECT jsonb_build_object(
    'schemas', (SELECT jsonb_agg(nspname) FROM pg_namespace
      WHERE nspname !~ '^(pg_|information_schema$|public$|plattr_operator$)'),
    'roles', (SELECT jsonb_agg(rolname) FROM pg_roles WHERE rolname LIKE '%${name.replaceAll("-", "_")}%'),
    'relations', (SELECT jsonb_agg(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname !~ '^(pg_|information_schema$)'),
    'defaults', (SELECT jsonb_agg(defaclacl::text) FROM pg_default_acl),
    'settings', (SELECT jsonb_agg(setconfig) FROM pg_db_role_setting
      WHERE setconfig::text LIKE '%${name.replaceAll("-", "_")}%'),
    'dangling', (SELECT jsonb_agg(to_jsonb(d)) FROM pg_shdepend d WHERE d.refclassid = 'pg_authid'::regclass
      AND NOT EXISTS (SELECT FROM pg_authid a WHERE a.oid = d.refobjid)),
    'comments', (SELECT jsonb_agg(description) FROM pg_shdescription WHERE description LIKE '%/${name}%')) AS left`);
  return row?.left;
}

export const nothing = {
  schemas: null,
  roles: null,
  relations: null,
  defaults: null,
  settings: null,
  dangling: null,
  comments: null,
};

/** Every role of the server, and whatever of the database or the server may be an app's: `role prod_a_app`. */
export async function serverTraces({
  query,
}: Pick<AppDatabase, "query">): Promise<readonly string[]> {
  const rows = await query<{ trace: string }>(`
    SELECT 'role ' || rolname AS trace FROM pg_roles
    UNION ALL SELECT 'schema ' || nspname FROM pg_namespace
      WHERE nspname !~ '^(pg_|information_schema$|public$|plattr_operator$)'
    UNION ALL SELECT 'relation ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname !~ '^(pg_|information_schema$)'
    UNION ALL SELECT 'default privileges ' || defaclacl::text FROM pg_default_acl
    UNION ALL SELECT 'setting ' || setrole::regrole || ' ' || setconfig::text FROM pg_db_role_setting
    UNION ALL SELECT 'comment ' || description FROM pg_shdescription
    UNION ALL SELECT 'dependency on a role that is gone ' || refobjid FROM pg_shdepend d
      WHERE refclassid = 'pg_authid'::regclass AND NOT EXISTS (SELECT FROM pg_authid a WHERE a.oid = d.refobjid)`);
  return rows.map(({ trace }) => trace);
}
