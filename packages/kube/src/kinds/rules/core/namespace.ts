import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { has, objectOf, textOf, textsOf, writableOrMade } from "../../../object/members.ts";
import { labelKeyProblems, labelNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";

const finalizer = "kubernetes";
const nameLabel = "kubernetes.io/metadata.name";

export const namespaceRules: KindRules = {
  names: labelNames,
  prepareForCreate: (namespace) => {
    namespace["status"] = { phase: "Active" };
    const spec = writableOrMade(namespace, "spec");
    const finalizers = textsOf(spec, "finalizers");
    if (!finalizers.includes(finalizer)) spec["finalizers"] = [...finalizers, finalizer];
    labelWithName(namespace);
  },
  prepareForUpdate: (namespace, old) => {
    const spec = writableOrMade(namespace, "spec");
    const before = textsOf(objectOf(old, "spec"), "finalizers");
    if (before.length === 0) delete spec["finalizers"];
    else spec["finalizers"] = [...before];
    labelWithName(namespace);
  },
  prepareForStatusUpdate: labelWithName,
  validate: (namespace) => validateSpec(namespace),
  validateUpdate: (namespace) => validateSpec(namespace),
  validateStatusUpdate: (namespace) => {
    const at = Place.root("status").child("Phase");
    const isDeleting = has(objectOf(namespace, "metadata"), "deletionTimestamp");
    const phase = textOf(objectOf(namespace, "status"), "phase");
    if (!isDeleting && phase !== "Active") {
      at.invalidWord(phase, "may only be 'Active' if `deletionTimestamp` is empty");
    }
    if (isDeleting && phase !== "Terminating") {
      at.invalidWord(phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
    return at.errors;
  },
};

/** At `/finalize`, which is updated as a status is: only the finalizers of its spec change. */
export const namespaceFinalizeRules: KindRules = {
  prepareForStatusUpdate: labelWithName,
  validateStatusUpdate: (namespace) => {
    const at = Place.root("spec").child("finalizers");
    for (const [index, name] of textsOf(objectOf(namespace, "spec"), "finalizers").entries()) {
      checkFinalizer(name, at.item(index));
    }
    return at.errors;
  },
};

/** So that selectors can choose a namespace by its name. */
function labelWithName(namespace: MutableJsonObject): void {
  const metadata = writableOrMade(namespace, "metadata");
  writableOrMade(metadata, "labels")[nameLabel] = textOf(metadata, "name");
}

function validateSpec(namespace: JsonObject): Place["errors"] {
  const at = Place.root("spec").child("finalizers");
  for (const name of textsOf(objectOf(namespace, "spec"), "finalizers")) checkFinalizer(name, at);
  return at.errors;
}

function checkFinalizer(name: string, at: Place): void {
  at.invalidEach(name, labelKeyProblems(name));
  const isStandard = ["kubernetes", "orphan", "foregroundDeletion"].includes(name);
  if (!name.includes("/") && !isStandard) {
    at.invalid(name, "name is neither a standard finalizer name nor is it fully qualified");
  }
}
