// What is missing between what PostgreSQL has and what an app shall have, as statements. Nothing missing, none.

import { claim } from "../ownership/claim.ts";
import type { Owner } from "../ownership/owner.ts";
import { literal, quoted } from "./identifier.ts";
import { takenMax, type DatabaseNames, type FoundRole, type Inspection } from "./inspection.ts";
import { ownerComment, parseOwnerComment, takenInPartComment } from "./owner-comment.ts";
import { statementKind } from "./schema-content.ts";
import type { Statement } from "./session.ts";

export interface Wanted {
  readonly names: DatabaseNames;
  readonly owner: Owner;
  /** Whether what an Application of the same name left behind may be taken over. */
  readonly adopts: boolean;
}

/**
 * The statements, in an order in which they may run, for one transaction: what is made gets its owner with it.
 *
 * Throws a Conflict where something of these names is somebody else's; then nothing may be run at all.
 */
export function provisionPlan(found: Inspection, { names, owner, adopts }: Wanted): Statement[] {
  const objects = databaseObjects(names, found);
  for (const { what, found } of objects) {
    if (found === null) continue;
    claim({ what, mark: parseOwnerComment(found.comment) }, owner, { adopts });
  }
  const whole = ownerComment({ owner, isRetained: false });
  const inPart = takesInPart(found) ? takenInPartComment(owner) : whole;
  const owning = objects.flatMap(({ kind, name, found, create }) => {
    const comment = kind === "Schema" ? inPart : whole;
    return [
      ...when(found === null, `create${kind}`, create),
      ...when(
        found?.comment !== comment,
        `own${kind}`,
        `COMMENT ON ${kind === "Schema" ? "SCHEMA" : "ROLE"} ${quoted(name)} IS ${literal(comment)}`,
      ),
    ];
  });
  return [...owning, ...rights(found, names), ...defaults(found, names), ...takings(found, names)];
}

/** Whether something of the schema is left to a further plan. */
export function takesInPart({ lost }: Pick<Inspection, "lost">): boolean {
  return lost.length > takenMax;
}

/** The three things that are made, in their order, and what is there of them. */
export function databaseObjects(
  { schema, appRole, anonRole }: DatabaseNames,
  found: Pick<Inspection, "schema" | "app" | "anon">,
) {
  const ofRole = (name: string) => ({ what: `role ${name}`, name }) as const;
  return [
    {
      kind: "Schema",
      what: `schema ${schema}`,
      name: schema,
      found: found.schema,
      create: `CREATE SCHEMA ${quoted(schema)}`,
    },
    {
      kind: "AppRole",
      ...ofRole(appRole),
      found: found.app,
      create: `CREATE ROLE ${quoted(appRole)} LOGIN`,
    },
    {
      kind: "AnonRole",
      ...ofRole(anonRole),
      found: found.anon,
      create: `CREATE ROLE ${quoted(anonRole)} NOLOGIN`,
    },
  ] as const;
}

/** To hand a role to the administrator. The creator of a role has it already from PostgreSQL 16 on, but may not act for it. */
export function grantToAdmin(role: string, version: number): string {
  const options = version >= 160_000 ? " WITH INHERIT TRUE, SET TRUE" : "";
  return `GRANT ${quoted(role)} TO CURRENT_USER${options}`;
}

function rights(found: Inspection, names: DatabaseNames): Statement[] {
  const [schema, app, anon] = [names.schema, names.appRole, names.anonRole].map(quoted);
  const { version } = found;
  // Whoever had the schema had every right on it; with another owner, the rights of that one are what counts.
  const isTaken = found.schema?.isAdmins === false;
  return [
    ...when(isTaken, "takeSchema", `ALTER SCHEMA ${schema} OWNER TO CURRENT_USER`),
    ...logins("AppRole", names.appRole, found.app, { logsIn: true }),
    ...logins("AnonRole", names.anonRole, found.anon, { logsIn: false }),
    ...when(found.app?.isAdmins !== true, "grantAppToAdmin", grantToAdmin(names.appRole, version)),
    ...when(
      found.anon?.isAdmins !== true,
      "grantAnonToAdmin",
      grantToAdmin(names.anonRole, version),
    ),
    ...when(!found.appMayBeAnon, "grantAnonToApp", `GRANT ${anon} TO ${app}`),
    ...when(
      isTaken || found.schema?.appMayAll !== true,
      "grantSchemaToApp",
      `GRANT ALL ON SCHEMA ${schema} TO ${app}`,
    ),
    ...when(
      isTaken || found.schema?.anonMayUse !== true,
      "grantSchemaToAnon",
      `GRANT USAGE ON SCHEMA ${schema} TO ${anon}`,
    ),
    ...when(!found.searchPath, "setSearchPath", `ALTER ROLE ${app} SET search_path TO ${schema}`),
  ];
}

/** The rest of a role's attributes is its administrator's business. */
function logins(
  kind: string,
  role: string,
  found: FoundRole | null,
  { logsIn }: { readonly logsIn: boolean },
): Statement[] {
  return when(
    found !== null && found.canLogin !== logsIn,
    `alter${kind}`,
    `ALTER ROLE ${quoted(role)} ${logsIn ? "LOGIN" : "NOLOGIN"}`,
  );
}

function defaults(found: Inspection, names: DatabaseNames): Statement[] {
  const [schema, app, anon] = [names.schema, names.appRole, names.anonRole].map(quoted);
  const { appTables, appFunctions, adminTables, adminTablesRead, adminSequences } = found.defaults;
  const ofApp = `ALTER DEFAULT PRIVILEGES FOR ROLE ${app}`;
  const ofAdmin = `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema}`;
  return [
    ...when(
      !appTables,
      "letAnonReadTables",
      `${ofApp} IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${anon}`,
    ),
    // For every schema: what everybody may do by nature cannot be taken away for one alone.
    ...when(!appFunctions, "keepFunctions", `${ofApp} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC`),
    ...when(!adminTables, "shareTables", `${ofAdmin} GRANT ALL ON TABLES TO ${app}`),
    ...when(!adminSequences, "shareSequences", `${ofAdmin} GRANT ALL ON SEQUENCES TO ${app}`),
    ...when(
      !adminTablesRead,
      "letAnonReadSharedTables",
      `${ofAdmin} GRANT SELECT ON TABLES TO ${anon}`,
    ),
  ];
}

/**
 * What an app's role that was lost had in its schema is the new one's, by then a role that may make things there. Not what
 * anon might read of it: the app may have closed that, and nothing says so any more.
 */
function takings({ lost }: Inspection, { appRole }: DatabaseNames): Statement[] {
  const owner = quoted(appRole);
  const some = lost.slice(0, takenMax);
  const alters = some.map((one) => `ALTER ${statementKind(one)} ${one.identity} OWNER TO ${owner}`);
  return when(lost.length > 0, "takeContent", alters.join("; "));
}

function when(isMissing: boolean, name: string, text: string): Statement[] {
  return isMissing ? [{ name, text }] : [];
}
