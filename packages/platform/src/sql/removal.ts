// Taking away, or keeping for later, what an app has in PostgreSQL. Every statement may run twice: what is missing is
// what was wanted.

import type { Ledger } from "../ownership/ledger.ts";
import { isOwnedBy, type Owner } from "../ownership/owner.ts";
import { StepError } from "../steps/step-error.ts";
import { literal, quoted } from "./identifier.ts";
import { ownerComment, parseOwnerComment, removedInPartComment } from "./owner-comment.ts";
import { grantToAdmin } from "./provision-plan.ts";
import { schemaContent, statementKind, type Identified } from "./schema-content.ts";
import type { Session } from "./session.ts";

/** Something that the ledger names, and that is there and its owner's. */
interface Owned {
  readonly kind: "Schema" | "Role";
  readonly name: string;
  readonly comment: string;
  readonly canLogin: boolean;
  /** Whether the administrator may act for it. */
  readonly isAdmins: boolean;
  readonly version: number;
}

export interface Leaving {
  readonly owner: Owner;
  readonly ledger: Ledger;
}

/** Whether the ledger names anything of a database: without, PostgreSQL is not asked. */
export function ownsDatabase(ledger: Ledger): boolean {
  return ledger.all("Schema").length + ledger.all("Role").length > 0;
}

/** Drops what the ledger names and `owner` owns. What is somebody else's is only forgotten. */
export async function removeOwned(
  session: Session,
  { owner, ledger }: Leaving,
  signal: AbortSignal,
): Promise<void> {
  const owned = await findOwned(session, { owner, ledger }, signal);
  await forgetOthers(ledger, owned, signal);
  await Promise.all(
    owned
      .filter(({ kind, name }) => ledger.stateOf(kind, name) !== "Deleting")
      .map(({ kind, name }) => ledger.record({ kind, name, state: "Deleting" }, signal)),
  );
  const roles = owned.filter(({ kind }) => kind === "Role");
  const schemas = owned.filter(({ kind }) => kind === "Schema");
  await closeRoles(session, roles, signal);
  await refuseElsewhere(session, roles, signal);
  for (const { name } of schemas) await thinOut(session, { schema: name, owner }, signal);
  for (const role of roles) {
    await unlinkLargeObjects(session, role, { schemas, owner }, signal);
    await dropRole(session, role, { schemas, owner }, signal);
    await ledger.forget("Role", role.name, signal);
  }
  for (const { name } of schemas) {
    await session.transaction(async () => {
      if (!(await isStillOwned(session, { kind: "Schema", name }, owner, signal))) return;
      await session.run(
        { name: "dropSchema", text: `DROP SCHEMA IF EXISTS ${quoted(name)} CASCADE` },
        signal,
      );
    }, signal);
    await ledger.forget("Schema", name, signal);
  }
}

/** Keeps what the ledger names and `owner` owns: marked so, and open to nobody. */
export async function retainOwned(
  session: Session,
  { owner, ledger }: Leaving,
  signal: AbortSignal,
): Promise<void> {
  const owned = await findOwned(session, { owner, ledger }, signal);
  await forgetOthers(ledger, owned, signal);
  const comment = ownerComment({ owner, isRetained: true });
  const unmarked = owned.filter((one) => one.comment !== comment);
  if (unmarked.length > 0) {
    await session.transaction(async () => {
      for (const { kind, name } of unmarked) {
        if (!(await isStillOwned(session, { kind, name }, owner, signal))) continue;
        const text = `COMMENT ON ${kind.toUpperCase()} ${quoted(name)} IS ${literal(comment)}`;
        await session.run({ name: `retain${kind}`, text }, signal);
      }
    }, signal);
  }
  await closeRoles(
    session,
    owned.filter(({ kind }) => kind === "Role"),
    signal,
  );
  await Promise.all(
    owned
      .filter(({ kind, name }) => ledger.stateOf(kind, name) !== "Retained")
      .map(({ kind, name }) => ledger.record({ kind, name, state: "Retained" }, signal)),
  );
}

/** Anon roles first: an app's role may be one of them. */
async function findOwned(
  session: Session,
  { owner, ledger }: Leaving,
  signal: AbortSignal,
): Promise<Owned[]> {
  const names = (kind: "Schema" | "Role"): string =>
    JSON.stringify(ledger.all(kind).map(({ name }) => name));
  const rows = await session.run<Owned>(
    {
      name: "findOwned",
      values: [names("Schema"), names("Role")],
      text: `
SELECT 'Schema' AS kind, n.nspname AS name, coalesce(obj_description(n.oid, 'pg_namespace'), '') AS comment,
  false AS "canLogin", true AS "isAdmins", current_setting('server_version_num')::integer AS version
FROM pg_namespace n WHERE n.nspname IN (SELECT json_array_elements_text($1::text::json))
UNION ALL
SELECT 'Role', r.rolname, coalesce(shobj_description(r.oid, 'pg_authid'), ''), r.rolcanlogin,
  EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles me ON me.oid = m.member AND me.rolname = current_user
    WHERE m.roleid = r.oid AND coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)
      AND coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)),
  current_setting('server_version_num')::integer
FROM pg_roles r WHERE r.rolname IN (SELECT json_array_elements_text($2::text::json))
ORDER BY "canLogin", name`,
    },
    signal,
  );
  return rows
    .filter(({ comment }) => isOwnedBy(parseOwnerComment(comment)?.owner, owner))
    .toSorted((one, other) => Number(isAnon(other)) - Number(isAnon(one)));
}

function isAnon({ name }: Owned): boolean {
  return name.endsWith("_anon");
}

async function forgetOthers(
  ledger: Ledger,
  owned: readonly Owned[],
  signal: AbortSignal,
): Promise<void> {
  const isThere = (kind: string, name: string): boolean =>
    owned.some((one) => one.kind === kind && one.name === name);
  const others = [...ledger.all("Schema"), ...ledger.all("Role")].filter(
    ({ kind, name }) => !isThere(kind, name),
  );
  await Promise.all(others.map(({ kind, name }) => ledger.forget(kind, name, signal)));
}

/** Nobody may log in any more, and whoever has is sent away. */
async function closeRoles(
  session: Session,
  roles: readonly Owned[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name, canLogin, isAdmins, version } of roles) {
    // What follows is done in the role's stead.
    if (!isAdmins) {
      await session.run({ name: "grantToAdmin", text: grantToAdmin(name, version) }, signal);
    }
    if (!canLogin) continue;
    await session.run({ name: "noLogin", text: `ALTER ROLE ${quoted(name)} NOLOGIN` }, signal);
  }
  if (roles.length === 0) return;
  await session.run(
    {
      name: "endSessions",
      values: [JSON.stringify(roles.map(({ name }) => name))],
      text: `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE usename IN (SELECT json_array_elements_text($1::text::json)) AND pid <> pg_backend_pid()`,
    },
    signal,
  );
}

/** A role that has something in another database cannot be dropped from here, nor can that something. */
async function refuseElsewhere(
  session: Session,
  roles: readonly Owned[],
  signal: AbortSignal,
): Promise<void> {
  const elsewhere = await session.run<{ role: string; database: string; objects: number }>(
    {
      name: "findElsewhere",
      values: [JSON.stringify(roles.map(({ name }) => name))],
      text: `
SELECT r.rolname AS role, d.datname AS database, count(DISTINCT (s.classid, s.objid))::integer AS objects
FROM pg_shdepend s JOIN pg_roles r ON r.oid = s.refobjid JOIN pg_database d ON d.oid = s.dbid
WHERE s.refclassid = 'pg_authid'::regclass AND d.datname <> current_database()
  AND r.rolname IN (SELECT json_array_elements_text($1::text::json))
GROUP BY 1, 2 ORDER BY 1, 2`,
    },
    signal,
  );
  if (elsewhere.length === 0) return;
  const named = elsewhere.map(
    ({ role, database, objects }) =>
      `role ${role} owns or may use ${objects} object${objects === 1 ? "" : "s"} in database ${database}`,
  );
  throw new StepError(
    "CleanupFailed",
    `${named.join("; ")}: run REASSIGN OWNED and DROP OWNED for it there`,
  );
}

/** What is dropped, or changes hands, at once: thousands would take longer than a statement may, and more locks than there are. */
const tablesMax = 100;
const objectsMax = 200;
const largeObjectsMax = 500;

/** Drops what is in a schema, some at a time, until little is left; whoever is cut off goes on where that was. */
async function thinOut(
  session: Session,
  { schema, owner }: { readonly schema: string; readonly owner: Owner },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const some = await findSome(session, schema, signal);
    if (some.length === 0) return;
    const drops = [...Map.groupBy(some, statementKind)].map(
      ([kind, same]) =>
        `DROP ${kind} IF EXISTS ${same.map(({ identity }) => identity).join(", ")} CASCADE`,
    );
    const isDone = await session.transaction(async () => {
      if (!(await isStillOwned(session, { kind: "Schema", name: schema }, owner, signal))) {
        return true;
      }
      await markSchema(session, { schema, owner }, signal);
      await session.run({ name: "dropSome", text: drops.join("; ") }, signal);
      return false;
    }, signal);
    if (isDone) return;
  }
}

/**
 * None where there is little. The newest first, and parts before what they are parts of: a table, or a type, would take all
 * along that depends on it.
 */
async function findSome(
  session: Session,
  schema: string,
  signal: AbortSignal,
): Promise<readonly Identified[]> {
  return await session.run<Identified>(
    {
      name: "findSome",
      values: [schema, tablesMax, objectsMax],
      text: `
WITH content AS MATERIALIZED (${schemaContent}),
  batch AS (
    SELECT classid, objid, count(*) FILTER (WHERE relkind IN ('r', 'p')) OVER (ORDER BY objid DESC) AS tables
    FROM content
    WHERE NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = objid AND relkind IN ('r', 'p'))
    ORDER BY objid DESC LIMIT $3::bigint
  )
SELECT o.type, o.identity FROM batch CROSS JOIN LATERAL pg_identify_object(classid, objid, 0) o
WHERE tables <= $2::bigint AND o.identity IS NOT NULL AND (
  SELECT count(*) > $3::bigint OR count(*) FILTER (WHERE relkind IN ('r', 'p')) > $2::bigint FROM content)`,
    },
    signal,
  );
}

/** To be called within a transaction that has seen that the schema is its owner's. */
async function markSchema(
  session: Session,
  { schema, owner }: { readonly schema: string; readonly owner: Owner },
  signal: AbortSignal,
): Promise<void> {
  const comment = literal(removedInPartComment(owner));
  const text = `COMMENT ON SCHEMA ${quoted(schema)} IS ${comment}`;
  await session.run({ name: "markSchema", text }, signal);
}

/**
 * Drops the large objects of a role, some at a time: they are in no schema, and would be the administrator's for ever. Where a
 * table of the role stays that may name them, they stay with it.
 */
async function unlinkLargeObjects(
  session: Session,
  { name }: Owned,
  { schemas, owner }: { readonly schemas: readonly Owned[]; readonly owner: Owner },
  signal: AbortSignal,
): Promise<void> {
  const find = {
    name: "findLargeObjects",
    values: [name, JSON.stringify(schemas.map(({ name }) => name))],
    text: `SELECT FROM pg_largeobject_metadata l JOIN pg_roles r ON r.oid = l.lomowner
WHERE r.rolname = $1 AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p', 'm') AND n.nspname !~ '^pg_'
    AND n.nspname NOT IN (SELECT json_array_elements_text($2::text::json)))
LIMIT 1`,
  };
  // Not more than a part of the time of a statement, however large they are; one at least.
  const unlink = {
    name: "unlinkLargeObjects",
    values: [name, largeObjectsMax],
    text: `SELECT count(lo_unlink(batch.oid)) FROM (SELECT l.oid, row_number() OVER () AS place
  FROM pg_largeobject_metadata l JOIN pg_roles r ON r.oid = l.lomowner WHERE r.rolname = $1 LIMIT $2::bigint) batch
WHERE place = 1 OR clock_timestamp() < statement_timestamp() + interval '2 s'`,
  };
  while ((await session.run(find, signal)).length > 0) {
    const isDone = await session.transaction(async () => {
      if (!(await isStillOwned(session, { kind: "Role", name }, owner, signal))) return true;
      for (const { name } of schemas) {
        if (!(await isStillOwned(session, { kind: "Schema", name }, owner, signal))) continue;
        await markSchema(session, { schema: name, owner }, signal);
      }
      await session.run(unlink, signal);
      return false;
    }, signal);
    if (isDone) return;
  }
}

/** In one transaction: a role without its rights is nobody's any more, and would stay for ever. */
async function dropRole(
  session: Session,
  { name }: Owned,
  { schemas, owner }: { readonly schemas: readonly Owned[]; readonly owner: Owner },
  signal: AbortSignal,
): Promise<void> {
  const role = quoted(name);
  const run = (statement: string, text: string) => session.run({ name: statement, text }, signal);
  await session.transaction(async () => {
    if (!(await isStillOwned(session, { kind: "Role", name }, owner, signal))) return;
    for (const { name } of schemas) {
      const schema = quoted(name);
      // Somebody else's tables would refuse us; dropping what the role owns takes its rights on those, too.
      if (!(await hasForeignTables(session, name, signal))) {
        await run(
          "revokeTables",
          `REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`,
        );
      }
      await run(
        "revokeDefaults",
        `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} REVOKE ALL ON TABLES FROM ${role}`,
      );
    }
    await run("reassignOwned", `REASSIGN OWNED BY ${role} TO CURRENT_USER`);
    await run("dropOwned", `DROP OWNED BY ${role}`);
    await run("dropRole", `DROP ROLE IF EXISTS ${role}`);
  }, signal);
}

async function hasForeignTables(
  session: Session,
  schema: string,
  signal: AbortSignal,
): Promise<boolean> {
  const rows = await session.run(
    {
      name: "findForeignTables",
      values: [schema],
      text: `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT pg_has_role(c.relowner, 'USAGE') LIMIT 1`,
    },
    signal,
  );
  return rows.length > 0;
}

/** Asked once more within the transaction that acts on it. */
async function isStillOwned(
  session: Session,
  { kind, name }: Pick<Owned, "kind" | "name">,
  owner: Owner,
  signal: AbortSignal,
): Promise<boolean> {
  const text =
    kind === "Schema"
      ? "SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname = $1"
      : "SELECT shobj_description(oid, 'pg_authid') AS comment FROM pg_roles WHERE rolname = $1";
  const [row] = await session.run<{ readonly comment: string | null }>(
    { name: `check${kind}`, text, values: [name] },
    signal,
  );
  return isOwnedBy(parseOwnerComment(row?.comment ?? null)?.owner, owner);
}
