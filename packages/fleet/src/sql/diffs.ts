// What a difference is worked out from: the three states of a resource, and whose the fields are.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { statement } from "@keelson/database";
import type { Drifted } from "../worker/drift.ts";
import type { OwnedField } from "../worker/owned-fields.ts";
import { columns, specOf, toResource, type ResourceRow } from "./resources.ts";
import { readStored } from "./stored.ts";
import type { Resource } from "../resources/resource.ts";

interface StatesRow extends ResourceRow {
  readonly applied_spec: string | null;
  readonly owned: string | null;
  readonly applied_uid: string | null;
  readonly current_spec: string | null;
  readonly managed_fields: string | null;
  readonly drift: string | null;
  readonly is_absent: boolean;
}

export const findStates = statement<readonly number[], StatesRow>(
  "findStates",
  (sql, ids) => sql`
    SELECT ${columns(sql)}, a.spec::text AS applied_spec, a.owned::text AS owned, a.uid AS applied_uid,
           c.spec::text AS current_spec, c.managed_fields::text AS managed_fields,
           c.drift::text AS drift, c.deleted_at IS NOT NULL AS is_absent
    FROM resources r
    LEFT JOIN resource_applied_states a ON a.resource_id = r.id
    LEFT JOIN resource_current_states c ON c.resource_id = r.id
    WHERE r.id = ANY (${ids}::integer[])`,
);

/** A resource with what was applied for it and what the cluster last said. */
export interface States {
  readonly resource: Resource;
  readonly applied: JsonObject | undefined;
  readonly owned: readonly OwnedField[];
  /** The uid of what we applied. */
  readonly uid: string | undefined;
  /** Null: the object is known to be absent. */
  readonly current: JsonObject | null | undefined;
  readonly managedFields: readonly Json[];
  readonly drift: readonly Drifted[];
}

export function toStates(row: StatesRow): States {
  return {
    resource: toResource(row),
    applied: row.applied_spec === null ? undefined : specOf(row.applied_spec),
    // Both were written by us from these very shapes.
    owned: listOf(row.owned) as unknown as OwnedField[],
    drift: listOf(row.drift) as unknown as Drifted[],
    uid: row.applied_uid ?? undefined,
    current: row.is_absent
      ? null
      : row.current_spec === null
        ? undefined
        : specOf(row.current_spec),
    managedFields: listOf(row.managed_fields).filter(isJsonObject),
  };
}

function listOf(text: string | null): readonly Json[] {
  const list = text === null ? [] : readStored(text);
  return isJsonArray(list) ? list : [];
}
