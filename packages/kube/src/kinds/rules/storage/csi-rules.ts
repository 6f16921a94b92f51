// The rules of drivers for volumes, and of what they say of nodes.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeNumber,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObject,
} from "../../../object/members.ts";
import { labelKeyProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkImmutable, checkNotNegative, isSame } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import { checkTokenSeconds } from "../meta/token-seconds.ts";

const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const lifecycleModes = ["Persistent", "Ephemeral"];
const tokensWarning =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

export const csiDriver: KindRules = {
  prepareForCreate: (object) => {
    // Limits that hold Pods back are off, as by default.
    delete writableObject(object, "spec")?.["preventPodSchedulingIfMissing"];
  },
  prepareForUpdate: (object, old) => {
    if (has(objectOf(old, "spec"), "preventPodSchedulingIfMissing")) return;
    delete writableObject(object, "spec")?.["preventPodSchedulingIfMissing"];
  },
  validate: (object) => driverErrors(objectOf(object, "spec")),
  validateUpdate: (object, old) => {
    const [spec, before] = [objectOf(object, "spec"), objectOf(old, "spec")];
    const errors = driverErrors(spec);
    const at = Place.root("spec", errors);
    const keep = (name: string, place: Place): void => {
      checkImmutable(memberOf(spec, name), memberOf(before, name), place);
    };
    keep("attachRequired", at.child("attachedRequired"));
    keep("volumeLifecycleModes", at.child("volumeLifecycleModes"));
    return errors;
  },
  warnings: (object, old) => {
    const spec = objectOf(object, "spec");
    const before = old === undefined ? undefined : objectOf(old, "spec")["tokenRequests"];
    const isNew = old === undefined || !isSame(memberOf(spec, "tokenRequests"), before);
    const isUnset = !has(spec, "serviceAccountTokenInSecrets");
    const hasTokens = objectsOf(spec, "tokenRequests").length > 0;
    return isNew && isUnset && hasTokens ? [tokensWarning] : [];
  },
};

function driverErrors(spec: JsonObject): FieldError[] {
  const at = Place.root("spec");
  const need = (name: string, place: Place): void => {
    if (!has(spec, name)) place.required();
  };
  need("attachRequired", at.child("attachedRequired"));
  need("podInfoOnMount", at.child("podInfoOnMount"));
  need("storageCapacity", at.child("storageCapacity"));
  const policy = maybeText(spec, "fsGroupPolicy");
  if (policy !== undefined && !groupPolicies.includes(policy)) {
    at.child("fsGroupPolicy").notSupported(policy, groupPolicies);
  }
  checkTokens(objectsOf(spec, "tokenRequests"), at.child("tokenRequests"));
  for (const mode of textsOf(spec, "volumeLifecycleModes")) {
    if (!lifecycleModes.includes(mode)) {
      at.child("volumeLifecycleModes").notSupported(mode, lifecycleModes);
    }
  }
  need("seLinuxMount", at.child("seLinuxMount"));
  const period = maybeNumber(spec, "nodeAllocatableUpdatePeriodSeconds");
  if (period !== undefined && period < 10) {
    const detail = "must be greater than or equal to 10 seconds";
    const shown = memberOf(spec, "nodeAllocatableUpdatePeriodSeconds") ?? period;
    at.child("nodeAllocatableUpdatePeriodSeconds").invalid(shown, detail);
  }
  const isInSecrets = memberOf(spec, "serviceAccountTokenInSecrets") ?? null;
  if (isInSecrets !== null && objectsOf(spec, "tokenRequests").length === 0) {
    const detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    at.child("serviceAccountTokenInSecrets").invalid(isInSecrets, detail);
  }
  return at.errors;
}

function checkTokens(requests: readonly JsonObject[], at: Place): void {
  const audiences = new Set<string>();
  for (const [index, request] of requests.entries()) {
    const audience = textOf(request, "audience");
    if (audiences.has(audience)) {
      at.item(index).child("audience").duplicate(audience);
      continue;
    }
    audiences.add(audience);
    if (has(request, "expirationSeconds")) checkTokenSeconds(request, at.item(index));
  }
}

const driverShape = struct(
  `Name name string
  NodeID nodeID string
  TopologyKeys topologyKeys []string
  Allocatable allocatable any`,
);
const nodeIdBytesMax = 256;

export const csiNode: KindRules = {
  validate: nodeErrors,
  validateUpdate: (object, old) => {
    const errors = nodeErrors(object);
    const at = Place.root("spec", errors).child("drivers");
    // How many volumes fit may change, nothing else.
    const fixed = ({ allocatable: _allocatable, ...rest }: JsonObject): JsonObject => rest;
    const drivers = Map.groupBy(
      objectsOf(objectOf(object, "spec"), "drivers").map(fixed),
      ({ name }) => name,
    );
    for (const before of objectsOf(objectOf(old, "spec"), "drivers").map(fixed)) {
      for (const driver of drivers.get(before["name"]) ?? []) {
        if (at.isFull) return errors;
        if (!isSame(driver, before)) {
          at.invalidShown(printShape(driverShape, driver), "field is immutable");
        }
      }
    }
    return errors;
  },
};

function nodeErrors(object: JsonObject): FieldError[] {
  const at = Place.root("spec").child("drivers");
  const names = new Set<string>();
  for (const [index, driver] of objectsOf(objectOf(object, "spec"), "drivers").entries()) {
    const place = at.item(index);
    const [name, id] = [textOf(driver, "name"), textOf(driver, "nodeID")];
    checkDriverName(name, place.child("name"));
    if (id === "") place.child("nodeID").required();
    if (byteLength(id) > nodeIdBytesMax) {
      place.child("nodeID").invalid(id, `must be ${nodeIdBytesMax} characters or less`);
    }
    checkNotNegative(objectOf(driver, "allocatable"), place.child("allocatable"), ["count"]);
    if (names.has(name)) place.child("name").duplicate(name);
    names.add(name);
    checkTopologyKeys(textsOf(driver, "topologyKeys"), place);
  }
  return at.errors;
}

function checkTopologyKeys(keys: readonly string[], at: Place): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === "") at.required();
    if (seen.has(key)) at.duplicate(key);
    seen.add(key);
    at.invalidEach(key, labelKeyProblems(key));
  }
}
