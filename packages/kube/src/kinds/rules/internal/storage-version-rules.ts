// The rules of what API servers say of their stored versions, and of moving objects from one to another.

import type { JsonObject } from "@keelson/base";

import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import { maybeText, objectOf, objectsOf, textOf, textsOf } from "../../../object/members.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  type NameRule,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { isFirstTrue } from "../conditions.ts";
import { checkConditions, checkImmutableShown } from "../meta/checks.ts";
import { conditionsText } from "../meta/conditions-text.ts";
import { Place } from "../place.ts";

const storageVersionNames: NameRule = (name) => {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map(
      (problem) => `the resource segment ${problem}`,
    ),
  ];
};

export const storageVersion: KindRules = {
  names: storageVersionNames,
  validate: statusErrors,
  validateUpdate: () => [],
  validateStatusUpdate: statusErrors,
};

function statusErrors(object: JsonObject): FieldError[] {
  const at = Place.root("status");
  const status = objectOf(object, "status");
  const servers = objectsOf(status, "storageVersions");
  const ids = new Set<string>();
  for (const [index, server] of servers.entries()) {
    const place = at.child("storageVersions").item(index);
    const id = textOf(server, "apiServerID");
    if (ids.has(id)) place.child("apiServerID").duplicate(id);
    ids.add(id);
    checkServer(server, place);
  }
  checkCommon(status, servers, at.child("commonEncodingVersion"));
  checkOwnConditions(objectsOf(status, "conditions"), at);
  return at.errors;
}

function checkServer(server: JsonObject, at: Place): void {
  const id = textOf(server, "apiServerID");
  at.child("apiServerID").invalidEach(id, dnsSubdomainProblems(id));
  const check = (version: string, place: Place): void => {
    const problems = apiVersionProblems(version);
    if (problems.length > 0) place.invalid(version, problems.join(","));
  };
  const encoding = textOf(server, "encodingVersion");
  check(encoding, at.child("encodingVersion"));
  const decodable = textsOf(server, "decodableVersions");
  const known = new Set(decodable);
  let listed: string | undefined;
  const place = at.child("decodableVersions");
  for (const [index, version] of decodable.entries()) check(version, place.item(index));
  if (!decodable.includes(encoding)) {
    const detail = `decodableVersions must include encodingVersion ${encoding}`;
    place.invalid(decodable.length === 0 ? null : decodable, detail);
  }
  for (const [index, version] of textsOf(server, "servedVersions").entries()) {
    const own = at.child("servedVersions").item(index);
    check(version, own);
    if (!known.has(version)) {
      listed ??= `[${decodable.join(" ")}]`;
      own.invalid(
        version,
        `individual served version : ${version} must be included in decodableVersions : ${listed}`,
      );
    }
  }
}

function checkCommon(status: JsonObject, servers: readonly JsonObject[], at: Place): void {
  const said = maybeText(status, "commonEncodingVersion");
  const encodings = new Set(servers.map((server) => textOf(server, "encodingVersion")));
  const actual = encodings.size === 1 ? [...encodings][0] : undefined;
  if (actual === undefined) {
    if (said === undefined) return;
    at.invalid(
      said,
      "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet",
    );
  } else if (said === undefined) {
    at.invalid(null, `the common encoding version is ${actual}`);
  } else if (said !== actual) {
    at.invalid(said, `the actual common encoding version is ${actual}`);
  }
}

/** Their places are told without the name of the list. */
function checkOwnConditions(conditions: readonly JsonObject[], at: Place): void {
  const seen = new Map<string, number>();
  for (const [index, condition] of conditions.entries()) {
    const place = at.item(index);
    const [type, status] = [textOf(condition, "type"), textOf(condition, "status")];
    const before = seen.get(type);
    if (before !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${before}]`;
      place.child("type").invalid(type, detail);
    }
    seen.set(type, index);
    place.child("type").invalidEach(type, labelKeyProblems(type));
    place.child("status").invalidEach(status, labelKeyProblems(status));
    for (const name of ["reason", "message"]) {
      if (textOf(condition, name) === "") place.child(name).required();
    }
  }
}

function apiVersionProblems(apiVersion: string): readonly string[] {
  const parts = apiVersion.split("/");
  if (parts.length > 2) {
    return [
      "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')",
    ];
  }
  const version = parts.at(-1) ?? "";
  const group = parts.length === 2 ? (parts[0] ?? "") : undefined;
  const say = (part: string, problems: readonly string[]): readonly string[] =>
    problems.map((problem) => `${part} part: ${problem}`);
  return [
    ...(group === undefined
      ? []
      : say("group", group === "" ? ["must be non-empty"] : dnsSubdomainProblems(group))),
    ...say("version", version === "" ? ["must be non-empty"] : dns1035LabelProblems(version)),
  ];
}

const migrationShape = struct("Resource resource resource", {
  resource: () => struct("group group string\nresource resource string"),
});

export const storageVersionMigration: KindRules = {
  validate: migrationErrors,
  validateUpdate: (object, old) => {
    const errors = migrationErrors(object);
    checkImmutableShown(memberOf(object, "spec"), memberOf(old, "spec"), {
      at: Place.root("spec", errors),
      shown: () => printShape(migrationShape, memberOf(object, "spec")),
    });
    return errors;
  },
  validateStatusUpdate: (object, old) => {
    const at = Place.root("status");
    const [status, before] = [objectOf(object, "status"), objectOf(old, "status")];
    const revision = textOf(status, "resourceVersion");
    const place = at.child("resourceVersion");
    if (revision !== "" && !/^[1-9]\d*$/.test(revision)) {
      place.invalid(revision, `resource version is not well formed: ${revision}`);
    }
    const conditions = objectsOf(status, "conditions");
    checkConditions(conditions, at.child("conditions"));
    const was = textOf(before, "resourceVersion");
    if (was !== "" && was !== revision) place.invalid(revision, "field is immutable");
    const say = (detail: string): void => {
      at.child("conditions").invalidShown(conditionsText(conditions), detail);
    };
    if (isFirstTrue(status, "Succeeded") && isFirstTrue(status, "Failed")) {
      say("Both success and failed conditions cannot be true at the same time");
    }
    if (isFirstTrue(before, "Succeeded") && !isFirstTrue(status, "Succeeded")) {
      say("Success condition cannot be set to false once it is true");
    }
    if (isFirstTrue(before, "Failed") && !isFirstTrue(status, "Failed")) {
      say("Failed condition cannot be set to false once it is true");
    }
    return at.errors;
  },
};

function migrationErrors(object: JsonObject): FieldError[] {
  const at = Place.root("spec").child("resource");
  const target = objectOf(objectOf(object, "spec"), "resource");
  const [resource, group] = [textOf(target, "resource"), textOf(target, "group")];
  if (resource === "") at.child("resource").required("resource is required to be set");
  else {
    const problems = dns1035LabelProblems(resource);
    if (problems.length > 0) at.child("resource").invalid(resource, problems.join(","));
  }
  const problems = group === "" ? [] : dnsSubdomainProblems(group);
  if (problems.length > 0) at.child("group").invalid(group, problems.join(","));
  return at.errors;
}
