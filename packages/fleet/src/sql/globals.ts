// The table `global_resources`: what users want in many clusters. Triggers write the copies (0007-global-copies.sql).

import { statement } from "@keelson/database";

/** Whoever changes a global resource or a target takes this first, and holds it until the commit. */
export const holdGlobals = statement<undefined>("holdGlobals", (sql) => sql`SELECT lock_globals()`);
