// The variables of a container.

import type { JsonObject } from "@keelson/base";

import { maybeObject, objectsOf, textOf } from "../../../../object/members.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  subdomainNames,
} from "../../../../object/names.ts";
import type { Place } from "../../place.ts";
import { configKeyProblems, envNameProblems } from "../../text-problems.ts";
import { checkNoBacksteps } from "../paths.ts";
import { checkFieldRef, checkResourceRef, envFields } from "./downward-api.ts";

export function checkEnv(container: JsonObject, at: Place): void {
  const variables = objectsOf(container, "env");
  if (variables.length === 0) return;
  const place = at.child("env");
  for (const [index, variable] of variables.entries()) {
    const name = textOf(variable, "name");
    if (name === "") place.item(index).child("name").required();
    else {
      const problems = envNameProblems(name);
      if (problems.length > 0) place.item(index).child("name").invalidEach(name, problems);
    }
    const from = maybeObject(variable, "valueFrom");
    if (from !== undefined) {
      checkValueFrom(from, place.item(index).child("valueFrom"), {
        hasValue: textOf(variable, "value") !== "",
      });
    }
  }
}

export function checkEnvFrom(container: JsonObject, at: Place): void {
  const sources = objectsOf(container, "envFrom");
  const place = at.child("envFrom");
  for (const [index, source] of sources.entries()) {
    const prefix = textOf(source, "prefix");
    if (prefix !== "")
      place.item(index).child("prefix").invalidEach(prefix, envNameProblems(prefix));
    let count = 0;
    for (const name of ["configMapRef", "secretRef"]) {
      const reference = maybeObject(source, name);
      if (reference === undefined) continue;
      count += 1;
      const target = textOf(reference, "name");
      const own = place.item(index).child(name).child("name");
      if (target === "") own.required();
      else own.invalidEach(target, subdomainNames(target, { asPrefix: true }));
    }
    if (count === 0) place.invalid("", "must specify one of: `configMapRef` or `secretRef`");
    else if (count > 1) place.invalid("", "may not have more than one field specified at a time");
  }
}

function checkValueFrom(
  from: JsonObject,
  at: Place,
  { hasValue }: { readonly hasValue: boolean },
): void {
  let count = 0;
  const each = (name: string, check: (source: JsonObject, place: Place) => void): void => {
    const source = maybeObject(from, name);
    if (source === undefined) return;
    count += 1;
    check(source, at.child(name));
  };
  each("fieldRef", (source, place) => checkFieldRef(source, place, { fields: envFields }));
  each("resourceFieldRef", (source, place) => checkResourceRef(source, place, { isFile: false }));
  each("configMapKeyRef", checkKeyRef);
  each("secretKeyRef", checkKeyRef);
  each("fileKeyRef", checkFileRef);
  if (count === 0) {
    at.invalid(
      "",
      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
    );
  } else if (hasValue) at.invalid("", "may not be specified when `value` is not empty");
  else if (count > 1) at.invalid("", "may not have more than one field specified at a time");
}

function checkKeyRef(source: JsonObject, at: Place): void {
  const [name, key] = [textOf(source, "name"), textOf(source, "key")];
  at.child("name").invalidEach(name, dnsSubdomainProblems(name));
  if (key === "") at.child("key").required();
  else at.child("key").invalidEach(key, configKeyProblems(key));
}

function checkFileRef(source: JsonObject, at: Place): void {
  const [key, volume, path] = [
    textOf(source, "key"),
    textOf(source, "volumeName"),
    textOf(source, "path"),
  ];
  if (key === "") at.child("key").required();
  else at.child("key").invalidEach(key, envNameProblems(key));
  if (volume === "") at.child("volumeName").required();
  else at.child("volumeName").invalidEach(volume, dnsLabelProblems(volume));
  if (path === "") at.child("path").required();
  else checkNoBacksteps(path, at.child("path"));
}
