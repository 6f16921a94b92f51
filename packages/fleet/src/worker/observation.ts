// What the cluster says of a resource, worked out from its object and from what we applied.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { isLater } from "@keelson/client";
import type { DynamicObject } from "@keelson/client";
import { leadsToValues } from "../resources/secret-markers.ts";
import { storableVersion } from "../sql/storable.ts";
import { annotations, fieldManager } from "./desired-object.ts";
import { driftOf, type Drifted } from "./drift.ts";
import { healthOf } from "./health.ts";
import { rowNumber } from "./mark.ts";
import { keptManagedFields, ownsAll, type OwnedField } from "./owned-fields.ts";

/** What we recorded of our last apply. */
export interface AppliedRecord {
  readonly generation: number;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owned: readonly OwnedField[];
  /** By the clock of this process, at the latest; undefined: nobody knows. */
  readonly recordedMs: number | undefined;
}

/** What an object is compared with. */
export interface Judged {
  readonly id: number;
  /** Undefined: nothing was applied yet, as far as is recorded. */
  readonly applied: AppliedRecord | undefined;
  /** Whether an apply is under way or to come: what that makes of the object is recorded after it. */
  readonly isAwaited: boolean;
}

/** What is written of an object that is there. */
export interface Observation {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly spec: JsonObject;
  /** Who owns which of its fields. */
  readonly managedFields: readonly JsonObject[];
  /** Undefined: it cannot be believed, and the recorded numbers stay. */
  readonly numbers: { readonly generation: number; readonly revision: number } | undefined;
  readonly health: string;
  readonly healthMessage: string | null;
  readonly drift: readonly Drifted[];
  /** It names a generation that we have no record of: should that come after all, the object is to be compared again. */
  readonly isAhead: boolean;
}

/**
 * `early`: the object is ahead of our record of the apply that made it, which is about to be written. Where no apply is
 * awaited nobody will write it, as after a restore of the database, and the object is judged by what we know. `old`: it
 * is from before that apply, and a later one follows.
 */
export function observe(
  object: DynamicObject,
  { id, applied, isAwaited }: Judged,
): Observation | "early" | "old" {
  const { uid = "", resourceVersion: version = "" } = object.metadata;
  const resourceVersion = storableVersion(version); // As that of our apply is recorded.
  const numbers = numbersOf(object, id);
  const isAhead = numbers !== undefined && numbers.generation > (applied?.generation ?? 0);
  if (isAhead && isAwaited) return "early";
  const isSame = applied !== undefined && applied.uid === uid;
  if (isSame && isLater(applied.resourceVersion, resourceVersion)) return "old";
  const { health, message } = healthOf(object);
  return {
    uid,
    resourceVersion,
    spec: shapedLikeDesired(object),
    managedFields: keptManagedFields(object),
    numbers,
    health,
    healthMessage: message,
    drift: applied === undefined ? [] : driftedFields(object, applied),
    isAhead,
  };
}

/** Believed only if the object says that it is this row's, and we are who said so. */
function numbersOf(object: DynamicObject, id: number): Observation["numbers"] {
  const { annotations: own = {} } = object.metadata;
  const generation = rowNumber(own[annotations.generation]);
  const revision = rowNumber(own[annotations.revision]);
  const paths = Object.values(annotations).map((name) => ["metadata", "annotations", name]);
  const isOurs = own[annotations.resourceId] === String(id) && ownsAll(object, fieldManager, paths);
  return isOurs && generation !== undefined && revision !== undefined
    ? { generation, revision }
    : undefined;
}

function driftedFields(object: DynamicObject, applied: AppliedRecord): readonly Drifted[] {
  const isSecret = object.kind === "Secret" && object.apiVersion === "v1";
  return driftOf(object, applied.owned, fieldManager).map((field) => {
    // That a Secret's value was changed is told, and neither what it was nor what it is.
    const isHidden = isSecret && leadsToValues(field.path);
    return isHidden ? { ...field, desired: null, current: null } : field;
  });
}

const ownNames: readonly string[] = Object.values(annotations);

/** The object as a spec would say it: without what only the server says. */
export function shapedLikeDesired(object: DynamicObject): JsonObject {
  const { apiVersion: _, kind: _kind, metadata, status: _status, ...rest } = object as JsonObject;
  const { labels, annotations: all } = isJsonObject(metadata) ? metadata : {};
  const others = Object.entries(isJsonObject(all) ? all : {}).filter(
    ([name]) => !ownNames.includes(name),
  );
  const kept: Record<string, Json> = {
    ...(labels === undefined ? {} : { labels }),
    ...(others.length === 0 ? {} : { annotations: Object.fromEntries(others) }),
  };
  return Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept };
}
