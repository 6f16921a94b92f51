// The PostgreSQLs that settings name: of the services, and of the objects of the Kubernetes API.

import type { Clock } from "@keelson/base";
import {
  DatabaseError,
  isMigrated,
  MigrationChanged,
  openDatabase,
  SchemaTooNew,
  serverFacts,
} from "@keelson/database";
import { inspectPostgres, StoreError } from "@keelson/store";
import type { Config } from "../../config.ts";
import { withoutPassword } from "../../config/show.ts";
import { storeAddress } from "../../open-store.ts";
import { StartError } from "../../start-error.ts";
import { ownerFix } from "../../start-failure.ts";
import { failed, ok, warning, type Finding } from "./finding.ts";

/** From here on everything works. */
const majorMin = 15;

export interface DatabaseChecked {
  readonly finding: Finding;
  /** What its clock says, where it answered. */
  readonly atMs: number | undefined;
}

/** Whether it answers, and our tables are there or can be made. */
export async function checkDatabase(
  url: string,
  { autoMigrate }: Pick<Config, "autoMigrate">,
  signal: AbortSignal,
): Promise<DatabaseChecked> {
  const check = "PostgreSQL";
  const shown = withoutPassword(url);
  const reach = "see that it runs there and lets this machine in, or mend KEELSON_DATABASE_URL";
  let atMs: number | undefined;
  const judged = async (): Promise<Finding> => {
    await using database = openDatabase({ url, name: "doctor", connectionsMax: 1 });
    const [row] = await database.run(serverFacts, undefined, signal);
    if (row === undefined) return failed(check, `${shown} is silent`, reach);
    const { version, at, user, name, mayCreate } = row;
    atMs = Number(at);
    if (Number.parseInt(version, 10) < majorMin) {
      const fix = `take version ${majorMin} or newer`;
      return failed(check, `${version} at ${shown} is too old`, fix);
    }
    const found = `${version} at ${shown}`;
    const { serviceMigrations } = await import("../../service-migrations.ts");
    if (await isMigrated(database, serviceMigrations, signal)) return ok(check, found);
    if (!autoMigrate) {
      const fix = "start one replica without --auto-migrate=false";
      return warning(check, `${found}, and its schema is behind`, fix);
    }
    return mayCreate
      ? ok(check, `${found}, its schema made or brought up to date at the next start`)
      : failed(check, `${found}: user ${user} may not make schemas in ${name}`, ownerFix(url));
  };
  try {
    return { finding: await judged(), atMs };
  } catch (error) {
    const isOthers = error instanceof SchemaTooNew || error instanceof MigrationChanged;
    if (!isOthers && !(error instanceof DatabaseError)) throw error;
    const fix = isOthers ? "run the version that made it, or take another database" : reach;
    return { finding: failed(check, `${shown}: ${error.message}`, fix), atMs };
  }
}

/** The one of the objects, where that is another; undefined where it is not. Changes nothing there. */
export async function checkStoreDatabase(
  config: Config,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { storageDriver, postgresHost: host, postgresSchema: schema } = config;
  if (storageDriver !== "postgresql" || host === undefined) return undefined;
  const check = "PostgreSQL of the store";
  const place = `${config.postgresDatabase} at ${host}:${config.postgresPort}`;
  const reach = "see that it runs there and lets this machine in, or mend the settings of storage";
  try {
    const address = await storeAddress({ config, databaseUrl: () => "" });
    const { version, found, wanted, mayCreate } = await inspectPostgres(
      { ...address, schema, clock },
      signal,
    );
    const shown = `${version} at ${place}`;
    if (found >= wanted) return ok(check, `${shown}, schema ${schema} at version ${found}`);
    if (!mayCreate) {
      const user = config.postgresUsername;
      const fix = `run "keelson apiserver migrate" as the owner of the database, with --postgres-server-role ${user}`;
      return failed(check, `${shown}: user ${user} may not make schemas there`, fix);
    }
    const behind = found === 0 ? "holds no store yet" : `is at version ${found}, not ${wanted}`;
    const fix =
      'keelson up brings it up to date by itself; before keelson apiserver, run "keelson apiserver migrate"';
    return warning(check, `${shown}, and schema ${schema} ${behind}`, fix);
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof StartError)) throw error;
    return failed(check, `${place}: ${error.message}`, reach);
  }
}
