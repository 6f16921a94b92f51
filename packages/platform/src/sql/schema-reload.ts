// PostgREST keeps a picture of the tables, and looks again when it is told so. PostgreSQL tells it by itself where the
// administrator may install a trigger for that; elsewhere we do, when a migration is over.

import { isForbidden } from "./driver-errors.ts";
import type { Session, Statement } from "./session.ts";

/** For the whole database: no app has it, and no app's end takes it away. */
const schema = "plattr_operator";

const findTriggers: Statement = {
  name: "findReloadTriggers",
  text: `SELECT count(*) = 2 AS "isInstalled" FROM pg_event_trigger
WHERE evtname IN ('plattr_reload_on_ddl', 'plattr_reload_on_drop') AND evtenabled <> 'D'`,
};

// Temporary tables are nobody else's business, and some apps make many.
const installTriggers: Statement = {
  name: "installReloadTriggers",
  text: `
SELECT pg_advisory_xact_lock(hashtext('${schema}'));
CREATE SCHEMA IF NOT EXISTS ${schema};
CREATE OR REPLACE FUNCTION ${schema}.reload_on_ddl() RETURNS event_trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE c.schema_name IS DISTINCT FROM 'pg_temp') THEN
    NOTIFY pgrst, 'reload schema';
  END IF;
END $$;
CREATE OR REPLACE FUNCTION ${schema}.reload_on_drop() RETURNS event_trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() o WHERE NOT o.is_temporary) THEN
    NOTIFY pgrst, 'reload schema';
  END IF;
END $$;
DROP EVENT TRIGGER IF EXISTS plattr_reload_on_ddl;
DROP EVENT TRIGGER IF EXISTS plattr_reload_on_drop;
CREATE EVENT TRIGGER plattr_reload_on_ddl ON ddl_command_end EXECUTE FUNCTION ${schema}.reload_on_ddl();
CREATE EVENT TRIGGER plattr_reload_on_drop ON sql_drop EXECUTE FUNCTION ${schema}.reload_on_drop()`,
};

/** Whether PostgreSQL tells of every change of a table by itself, from now on at the latest. */
export async function installReload(session: Session, signal: AbortSignal): Promise<boolean> {
  const [found] = await session.run<{ readonly isInstalled: boolean }>(findTriggers, signal);
  if (found?.isInstalled === true) return true;
  try {
    await session.run(installTriggers, signal); // Several commands in one message are one transaction.
    return true;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** Tells every PostgREST of this database to look again. */
export async function notifyReload(session: Session, signal: AbortSignal): Promise<void> {
  await session.run({ name: "notifyReload", text: "NOTIFY pgrst, 'reload schema'" }, signal);
}
