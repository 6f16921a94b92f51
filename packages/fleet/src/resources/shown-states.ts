// The states of a resource as they may be shown: of a Secret with markers for its values, which still tell equal from unequal.

import type { Json, JsonObject } from "@keelson/base";
import type { States } from "../sql/diffs.ts";
import { specAsKept } from "../worker/desired-object.ts";
import type { Drifted } from "../worker/drift.ts";
import { valueAt, type OwnedField } from "../worker/owned-fields.ts";
import type { Compared } from "./diff.ts";
import type { ResourceKey } from "./resource.ts";
import { isSecret, leadsToValues, type SecretMarkers } from "./secret-markers.ts";

/** What is compared of them. */
export function compared(states: States, markers: SecretMarkers): Compared {
  const { resource, ...others } = shownStates(states, markers);
  return {
    ...others,
    desired: resource.isDeleting ? undefined : resource.desiredSpec,
    isForcing: resource.conflictPolicy === "force",
  };
}

function shownStates(states: States, markers: SecretMarkers): States {
  const { resource, applied, current } = states;
  if (!isSecret(resource)) return states;
  const hide = (spec: JsonObject): JsonObject => markers.hide(spec, resource);
  const owned = states.owned.map((field) => shownField(field, resource, markers));
  const shown = current === null || current === undefined ? current : hide(current);
  return {
    ...states,
    // Where the values are to be found in the cluster, so that like is compared with like.
    resource: { ...resource, desiredSpec: hide(specAsKept(resource.desiredSpec, resource)) },
    applied: applied === undefined ? undefined : hide(specAsKept(applied, resource)),
    current: shown,
    owned,
    drift: states.drift.map((field) => shownDrift(field, owned, shown ?? {})),
  };
}

function shownField(field: OwnedField, key: ResourceKey, markers: SecretMarkers): OwnedField {
  const { path, value } = field;
  const [member = "", name] = path;
  if (typeof member !== "string" || (name !== undefined && typeof name !== "string")) return field;
  const alone = markers.hide({ [member]: name === undefined ? value : { [name]: value } }, key);
  return { path, value: valueAt(alone, path.slice(0, 2)) ?? value };
}

/** What is recorded of a drift holds no value of a Secret. */
function shownDrift(field: Drifted, owned: readonly OwnedField[], current: JsonObject): Drifted {
  if (!leadsToValues(field.path)) return field;
  const [, member = "", name] = field.path.split("/");
  if (member === "metadata" || name === undefined)
    return { ...field, desired: null, current: null };
  const path = [member, name.replaceAll("~1", "/").replaceAll("~0", "~")];
  const isIt = ({ path: [first, second] }: OwnedField): boolean =>
    first === path[0] && second === path[1];
  const desired: Json = owned.find(isIt)?.value ?? null;
  return { ...field, desired, current: valueAt(current, path) ?? null };
}
