// The registry of controllers. A trigger makes every status dirty that depends on a change.

import { statement } from "@keelson/database";

export interface ControllerRow {
  readonly name: string;
  readonly kinds: readonly string[];
  readonly platforms: readonly string[];
  readonly finalizer: boolean;
  readonly retired_at: Date | null;
}

export const listControllers = statement<undefined, ControllerRow>(
  "listControllers",
  (sql) => sql`
    SELECT name, kinds, platforms, finalizer, retired_at FROM controllers ORDER BY name LIMIT 10000`,
);

/** Long, because every resource that is concerned is marked with it. */
const deadlineMs = 55_000;

/** What is like that already is not written. */
export const registerController = statement<{
  readonly name: string;
  readonly kinds: readonly string[];
  readonly platforms: readonly string[];
  readonly finalizer: boolean;
}>(
  "registerController",
  (sql, { name, kinds, platforms, finalizer }) => sql`
    INSERT INTO controllers AS k (name, kinds, platforms, finalizer)
    VALUES (${name}, ${kinds}::text[], ${platforms}::text[], ${finalizer})
    ON CONFLICT (name) DO UPDATE
    SET kinds = excluded.kinds, platforms = excluded.platforms, finalizer = excluded.finalizer,
        retired_at = NULL
    WHERE (k.kinds, k.platforms, k.finalizer, k.retired_at IS NULL) IS DISTINCT FROM
          (excluded.kinds, excluded.platforms, excluded.finalizer, true)`,
  { deadlineMs },
);

/**
 * Retires a controller that is registered or has ever reported, and closes its finalizers; gives no row for one that
 * nobody knows.
 */
export const retireController = statement<string, { known: boolean }>(
  "retireController",
  (sql, name) => sql`
    WITH known AS (
      SELECT 1 FROM controllers WHERE name = ${name}
      UNION ALL SELECT 1 FROM controller_status WHERE controller_name = ${name}
      UNION ALL SELECT 1 FROM nodepool_controller_status WHERE controller_name = ${name}
      UNION ALL SELECT 1 FROM finalizers WHERE controller_name = ${name}
      LIMIT 1
    ), retired AS (
      INSERT INTO controllers AS k (name, retired_at) SELECT ${name}::varchar, clock_timestamp() FROM known
      ON CONFLICT (name) DO UPDATE SET retired_at = excluded.retired_at WHERE k.retired_at IS NULL
    ), closed AS (
      UPDATE finalizers SET finalized_at = clock_timestamp()
      WHERE controller_name = ${name} AND finalized_at IS NULL
    )
    SELECT true AS known FROM known`,
  { deadlineMs },
);
