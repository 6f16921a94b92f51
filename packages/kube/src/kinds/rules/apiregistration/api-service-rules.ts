// The rules of APIServices.

import type { JsonObject } from "@keelson/base";

import { bytesOfBase64 } from "../../../go-text/base64.ts";
import { quote } from "../../../go-text/quote.ts";
import {
  flagOf,
  maybeObject,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../object/members.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  pathSegmentProblems,
  type NameRule,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkNames } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { portProblems } from "../text-problems.ts";

const statuses = ["True", "False", "Unknown"];

export const apiService: KindRules = {
  namesFor,
  takesBareFinalizers: true,
  prepareForCreate: (object, { now }) => {
    // What the server itself serves is there at once.
    object["status"] =
      maybeObject(objectOf(object, "spec"), "service") === undefined
        ? {
            conditions: [
              {
                type: "Available",
                status: "True",
                lastTransitionTime: now,
                reason: "Local",
                message: "Local APIServices are always available",
              },
            ],
          }
        : {};
  },
  validate: (object) => specErrors(objectOf(object, "spec")),
  validateUpdate: (object) => {
    const at = Place.root("metadata");
    checkNames(object, namesFor(object), at);
    return [...at.errors, ...specErrors(objectOf(object, "spec"))];
  },
  validateStatusUpdate: (object) => {
    const at = Place.root("status").child("conditions");
    for (const [index, condition] of objectsOf(
      objectOf(object, "status"),
      "conditions",
    ).entries()) {
      const status = textOf(condition, "status");
      if (!statuses.includes(status)) at.item(index).child("status").notSupported(status, statuses);
    }
    return at.errors;
  },
};

function namesFor(object: JsonObject): NameRule {
  const spec = objectOf(object, "spec");
  const needed = `${textOf(spec, "version")}.${textOf(spec, "group")}`;
  return (name) => {
    const problems = pathSegmentProblems(name);
    if (problems.length > 0 || name === needed) return problems;
    return [`must be \`spec.version+"."+spec.group\`: ${quote(needed)}`];
  };
}

function specErrors(spec: JsonObject): readonly FieldError[] {
  const at = Place.root("spec");
  const [group, version] = [textOf(spec, "group"), textOf(spec, "version")];
  if (group !== "") at.child("group").invalidEach(group, dnsSubdomainProblems(group));
  else if (version !== "v1") {
    at.child("group").required("only v1 may have an empty group and it better be legacy kube");
  }
  at.child("version").invalidEach(version, dns1035LabelProblems(version));
  const ofGroup = numberOf(spec, "groupPriorityMinimum");
  if (ofGroup <= 0 || ofGroup > 20_000) {
    at.child("groupPriorityMinimum").invalid(ofGroup, "must be positive and less than 20000");
  }
  const ofVersion = numberOf(spec, "versionPriority");
  if (ofVersion <= 0 || ofVersion > 1000) {
    at.child("versionPriority").invalid(ofVersion, "must be positive and less than 1000");
  }
  const bundle = bytesOfBase64(textOf(spec, "caBundle")) ?? "";
  const isInsecure = flagOf(spec, "insecureSkipTLSVerify");
  const service = maybeObject(spec, "service");
  if (service === undefined) {
    if (bundle !== "") {
      const detail = "local APIServices may not have a caBundle";
      at.child("caBundle").invalid(`${bundle.length} bytes`, detail);
    }
    if (isInsecure) {
      const detail = "local APIServices may not have insecureSkipTLSVerify";
      at.child("insecureSkipTLSVerify").invalid(true, detail);
    }
    return at.errors;
  }
  const place = at.child("service");
  for (const name of ["namespace", "name"]) {
    if (textOf(service, name) === "") place.child(name).required();
  }
  const port = numberOf(service, "port");
  for (const problem of portProblems(port)) {
    place.child("port").invalid(port, `port is not valid: ${problem}`);
  }
  if (isInsecure && bundle !== "") {
    const detail = "may not be true if caBundle is present";
    at.child("insecureSkipTLSVerify").invalid(true, detail);
  }
  return at.errors;
}
