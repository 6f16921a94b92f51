// The rules of leases, and of those who would hold them.

import type { JsonObject } from "@keelson/base";

import { labelKeyProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { maybeNumber, objectOf, textOf, writableObject } from "../../../object/members.ts";
import { checkImmutable } from "../meta/checks.ts";
import { compareSemver, parseSemver, zeroSemver, type Semver } from "../meta/semver.ts";
import { Place } from "../place.ts";
import { configKeyProblems } from "../text-problems.ts";

export const lease: KindRules = {
  takesBareFinalizers: true,
  prepareForCreate: (object) => {
    // Choosing who leads by version is off, as by default.
    const spec = writableObject(object, "spec");
    delete spec?.["strategy"];
    delete spec?.["preferredHolder"];
  },
  prepareForUpdate: (object, old) => {
    const spec = writableObject(object, "spec");
    const before = objectOf(old, "spec");
    for (const name of ["strategy", "preferredHolder"]) {
      if (spec !== undefined && !Object.hasOwn(before, name)) delete spec[name];
    }
  },
  validate: (object) => {
    const at = Place.root("spec");
    const spec = objectOf(object, "spec");
    const seconds = maybeNumber(spec, "leaseDurationSeconds");
    if (seconds !== undefined && seconds <= 0) {
      at.child("leaseDurationSeconds").invalid(seconds, "must be greater than 0");
    }
    const transitions = maybeNumber(spec, "leaseTransitions");
    if (transitions !== undefined && transitions < 0) {
      at.child("leaseTransitions").invalid(transitions, "must be greater than or equal to 0");
    }
    if (Object.hasOwn(spec, "strategy")) {
      checkStrategy(textOf(spec, "strategy"), at.child("strategy"));
    }
    if (textOf(spec, "preferredHolder") !== "" && textOf(spec, "strategy") === "") {
      at.child("preferredHolder").forbidden("may only be specified if `strategy` is defined");
    }
    return at.errors;
  },
};

export const leaseCandidate: KindRules = {
  names: configKeyProblems,
  takesBareFinalizers: true,
  validate: (object) => candidateErrors(objectOf(object, "spec")),
  validateUpdate: (object, old) => {
    const spec = objectOf(object, "spec");
    const errors = candidateErrors(spec);
    const at = Place.root("spec", errors).child("leaseName");
    checkImmutable(textOf(spec, "leaseName"), textOf(objectOf(old, "spec"), "leaseName"), at);
    return errors;
  },
};

function candidateErrors(spec: JsonObject): FieldError[] {
  const at = Place.root("spec");
  if (textOf(spec, "leaseName") === "") at.child("leaseName").required();
  const emulation = textOf(spec, "emulationVersion");
  const binary = textOf(spec, "binaryVersion");
  const read = (name: string, text: string): Semver | undefined => {
    const version = parseSemver(text);
    if (version === undefined) at.child(name).invalid(text, "must be a valid semantic version");
    return version;
  };
  const emulated = emulation === "" ? undefined : read("emulationVersion", emulation);
  let own: Semver | undefined;
  if (binary === "") at.child("binaryVersion").required();
  else own = read("binaryVersion", binary);
  const isOlder = compareSemver(own ?? zeroSemver, emulated ?? zeroSemver) < 0;
  if (binary !== "" && emulation !== "" && isOlder) {
    const detail = "must be greater than or equal to `emulationVersion`";
    at.child("binaryVersion").invalid(binary, detail);
  }
  const strategy = textOf(spec, "strategy");
  if (strategy === "") at.child("strategy").required();
  else {
    const isZero = compareSemver(emulated ?? zeroSemver, zeroSemver) === 0;
    if (strategy === "OldestEmulationVersion" && isZero) {
      const detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
      at.child("emulationVersion").required(detail);
    }
    checkStrategy(strategy, at.child("strategy"));
  }
  return at.errors;
}

function checkStrategy(strategy: string, at: Place): void {
  const place = at.child("strategy");
  if (strategy.includes("/")) place.invalidWordEach(strategy, labelKeyProblems(strategy));
  else if (strategy !== "OldestEmulationVersion") {
    place.notSupported(strategy, ["OldestEmulationVersion"]);
  }
}
