// The database of an app: its schema and roles, the Secret with which it logs in, and the Job that migrates it.

import type { Random } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { childOf, secretKind } from "../children/child.ts";
import type { Children } from "../children/children.ts";
import type { Ledger } from "../ownership/ledger.ts";
import type { DatabaseAdmin } from "../sql/database-admin.ts";
import { ownsDatabase } from "../sql/removal.ts";
import {
  isMigrating,
  jobKind,
  migrationJobOf,
  migrationOutcome,
  type MigrationSettings,
} from "./database-migrations.ts";
import { databaseVariables, isOurPassword, passwordIn } from "./database-variables.ts";
import type { Policy } from "./step.ts";
import { StepError } from "./step-error.ts";

/** What the step needs of the cluster. A Secret that is overlooked would be made anew, with another password. */
export type DatabaseChildren = Pick<Children, "apply" | "findNow" | "list" | "remove">;

export interface DatabaseSettings extends MigrationSettings {
  /** Where apps find the database, where that is not where the administrator does. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
}

export interface DatabaseStep {
  /** Left out: no database is configured. */
  readonly admin: DatabaseAdmin | undefined;
  readonly children: DatabaseChildren;
  readonly settings: DatabaseSettings;
  readonly random: Random;
  /** The last Job of each schema that PostgREST was told of. Forgotten by a restart, it is told once more. */
  readonly told: Map<string, string | undefined>;
}

export interface DatabaseOutcome {
  /** What had to be done in PostgreSQL, by the names of its statements. */
  readonly changes: readonly string[];
  /** The Deployment may have the app's image only once it is not `running`. */
  readonly migration: "none" | "running" | "done";
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
}

/** Throws a `StepError` for what cannot be done now. */
export async function reconcileDatabase(
  { admin, children, settings, random, told }: DatabaseStep,
  { app, ledger, adopts }: { readonly app: App; readonly ledger: Ledger; readonly adopts: boolean },
  signal: AbortSignal,
): Promise<DatabaseOutcome> {
  if (admin === undefined) {
    throw new StepError(
      "NotConfigured",
      "no database is configured: set DB_ADMIN_URL, DB_ADMIN_URL_FILE or DB_SECRET_ARN",
    );
  }
  const { names, owner } = app;
  refuseOtherSchema(app, ledger);
  // What has migrated a schema that is gone seems to have been done for the one that is made in its place.
  const beforeSchema = () => removeJobs(app, children, signal);
  const made = await admin.ensure({ names, owner, ledger, adopts, beforeSchema }, signal);
  const server = await admin.server(signal);
  const secretWith = (password: string): DynamicObject =>
    secretOf(
      app,
      databaseVariables({
        host: settings.host ?? server.host,
        port: settings.port ?? server.port,
        database: settings.database ?? server.database,
        tls: server.tls,
        user: names.appRole,
        schema: names.schema,
        password,
      }),
    );

  const isNewRole = made.includes("createAppRole");
  const tried = await tryPassword({ admin, children }, { app, isNewRole }, signal);
  const { enters, given } = tried;
  const kept = tried.enters ? tried.given : isOurPassword(given) ? given : undefined;
  const password = kept ?? newPassword(random);
  // The Secret first: a crash from here on leaves a password that the next run gives to the role.
  const secret = await children.apply(app, secretWith(password), signal);
  if (!enters) await admin.setPassword({ names, owner, password }, signal);
  const changes = enters ? made : [...made, "setPassword"];

  const tellsByItself = await admin.tellsByItself(signal);
  const job = await migrate(app, { children, settings }, signal);
  if (job === undefined) return { changes, migration: "none", wanted: [secret] };
  const migration = migrationOutcome(job);
  const isNews = migration === "done" && told.get(names.schema) !== job.metadata.uid;
  if (isNews && !tellsByItself) await admin.tellOfChanges(signal);
  if (migration === "done") told.set(names.schema, job.metadata.uid);
  return { changes, migration, wanted: [secret, job] };
}

/** Its data would stay behind, and stay readable. Nothing but the ledger knows: a new object, or a block that was away, has no past. */
function refuseOtherSchema({ names, kind }: App, ledger: Ledger): void {
  const other = ledger
    .all("Schema")
    .find(({ name, state }) => name !== names.schema && state !== "Retained");
  if (other === undefined) return;
  const instead =
    kind === "Application"
      ? "switch the database off first"
      : "its Application names another schema now, so delete the preview and create it anew";
  const message = `schema ${other.name} is its own and has its data, which ${names.schema} would not have: ${instead}`;
  throw new StepError("InvalidSpec", message);
}

type Tried =
  | { readonly enters: true; readonly given: string }
  | { readonly enters: false; readonly given: string | undefined };

/** What the Secret holds, and whether it logs in. */
async function tryPassword(
  { admin, children }: { readonly admin: DatabaseAdmin; readonly children: DatabaseChildren },
  { app, isNewRole }: { readonly app: App; readonly isNewRole: boolean },
  signal: AbortSignal,
): Promise<Tried> {
  const { names } = app;
  const ref = { ...secretKind, name: names.children.database };
  const find = async () => passwordIn(variablesOf(await children.findNow(app, ref, signal)));
  for (;;) {
    signal.throwIfAborted();
    const given = await find();
    if (given === undefined) return { enters: false, given };
    const tried: Tried =
      !isNewRole && (await admin.logsIn({ user: names.appRole, password: given }, signal))
        ? { enters: true, given }
        : { enters: false, given };
    // Somebody may have deleted it while PostgreSQL was asked: what is gone is not to come back.
    if ((await find()) === given) return tried;
  }
}

/** Takes the database away, or keeps it, by the policy; of an app that never had one nothing is asked. */
export async function cleanupDatabase(
  { admin, children, told }: Pick<DatabaseStep, "admin" | "children" | "told">,
  { app, ledger, policy }: { readonly app: App; readonly ledger: Ledger; readonly policy: Policy },
  signal: AbortSignal,
): Promise<void> {
  const { owner, names } = app;
  if (!ownsDatabase(ledger)) return;
  if (admin === undefined) {
    const what = ledger.all("Schema").map(({ name }) => `schema ${name}`);
    const message = `${what.join(", ")} cannot be removed: no database is configured, set DB_ADMIN_URL`;
    throw new StepError("NotConfigured", message);
  }
  // Before the ledger forgets: from then on nothing would bring us back to the Secret.
  await children.remove(app, { ...secretKind, name: names.children.database }, signal);
  if (policy === "Retain") await admin.retain({ owner, ledger }, signal);
  else await admin.remove({ owner, ledger }, signal);
  told.delete(names.schema);
}

/**
 * The Job of this image, made if there is none; as it is if there is: a Job cannot be changed, nor should it run twice. That of
 * an earlier image goes first while it is at work: cut off, knex and prisma leave a lock or a failure that nobody clears.
 */
async function migrate(
  app: App,
  { children, settings }: Pick<DatabaseStep, "children" | "settings">,
  signal: AbortSignal,
): Promise<DynamicObject | undefined> {
  const desired = migrationJobOf(app, settings);
  if (desired === undefined) return undefined;
  const { apiVersion, kind, metadata } = desired;
  const found = await children.findNow(
    app,
    { apiVersion, kind, name: metadata.name ?? "" },
    signal,
  );
  if (found !== undefined) return found;
  const earlier = await children.list(app, { apiVersion, kind }, signal);
  return earlier.find(isMigrating) ?? (await children.apply(app, desired, signal));
}

async function removeJobs(
  app: App,
  children: DatabaseChildren,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of await children.list(app, jobKind, signal)) {
    await children.remove(app, { ...jobKind, name: metadata.name ?? "" }, signal);
  }
}

function secretOf(app: App, variables: Readonly<Record<string, string>>): DynamicObject {
  const data = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
  );
  return childOf(app, {
    ...secretKind,
    name: app.names.children.database,
    content: { type: "Opaque", data },
  });
}

function variablesOf(secret: DynamicObject | undefined): Record<string, string> {
  const data = (secret?.["data"] ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
  );
}

function newPassword(random: Random): string {
  return Buffer.from(random.bytes(32)).toString("hex");
}
