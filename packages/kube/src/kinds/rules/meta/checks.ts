// Checks that several kinds share.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { byteLength } from "../../../go-text/byte-order.ts";
import { memberOf } from "../../../object/member.ts";
import { numberOf, objectOf, textOf } from "../../../object/members.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  type NameRule,
} from "../../../object/names.ts";
import type { Place } from "../place.ts";

/** Reports a value that is not what it was. */
export function checkImmutable(next: Json | undefined, old: Json | undefined, at: Place): void {
  if (!isSame(next, old)) at.invalid(next ?? null, "field is immutable");
}

/** Reports a word that is not what it was, of a type of its own in Go or one that may be absent. */
export function checkImmutableWord(next: Json | undefined, old: Json | undefined, at: Place): void {
  checkImmutableShown(next, old, { at, shown: () => goJson(next ?? null) });
}

/** Reports a value that is not what it was, as the message shows it. */
export function checkImmutableShown(
  next: Json | undefined,
  old: Json | undefined,
  { at, shown }: { readonly at: Place; readonly shown: () => string },
): void {
  if (!isSame(next, old)) at.invalidShown(shown(), "field is immutable");
}

/** Reports a name, or the beginning of one, that the rule does not take: an update may change what names follow from. */
export function checkNames(object: JsonObject, rule: NameRule, at: Place): void {
  for (const member of ["generateName", "name"]) {
    const name = textOf(objectOf(object, "metadata"), member);
    if (name === "") continue;
    at.child(member).invalidEach(name, rule(name, { asPrefix: member === "generateName" }));
  }
}

/** Reports numbers below zero. */
export function checkNotNegative(holder: JsonObject, at: Place, names: readonly string[]): void {
  for (const name of names) {
    if (numberOf(holder, name) >= 0) continue;
    at.child(name).invalid(memberOf(holder, name) ?? 0, "must be greater than or equal to 0");
  }
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return jsonEqual(a ?? null, b ?? null);
}

/** Reports a value that is not one of a few; none at all only if one is needed. */
export function checkChoice(
  value: string | undefined,
  at: Place,
  { of, isNeeded }: { readonly of: readonly string[]; readonly isNeeded: boolean },
): void {
  if (value === undefined) {
    if (isNeeded) at.required();
  } else if (!of.includes(value)) at.notSupported(value, of);
}

const statuses = ["False", "True", "Unknown"];
const reasonForm = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const reasonPattern = new RegExp(`^${reasonForm}$`);

/** Reports what is wrong with conditions of the common form. */
export function checkConditions(conditions: readonly JsonObject[], at: Place): void {
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const type = textOf(condition, "type");
    if (seen.has(type)) at.item(index).child("type").duplicate(type);
    seen.add(type);
    checkCondition(condition, at.item(index));
  }
}

function checkCondition(condition: JsonObject, at: Place): void {
  const [type, status] = [textOf(condition, "type"), textOf(condition, "status")];
  at.child("type").invalidEach(type, labelKeyProblems(type));
  if (!statuses.includes(status)) at.child("status").notSupported(status, statuses);
  if (numberOf(condition, "observedGeneration") < 0) {
    const generation = memberOf(condition, "observedGeneration") ?? 0;
    at.child("observedGeneration").invalid(generation, "must be greater than or equal to zero");
  }
  if (textOf(condition, "lastTransitionTime") === "") at.child("lastTransitionTime").required();
  const reason = textOf(condition, "reason");
  if (reason === "") at.child("reason").required();
  else {
    if (!reasonPattern.test(reason)) {
      at.child("reason").invalid(
        reason,
        `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonForm}')`,
      );
    }
    if (byteLength(reason) > 1024) at.child("reason").tooLong(1024);
  }
  if (byteLength(textOf(condition, "message")) > 32768) at.child("message").tooLong(32768);
}

/** Reports what is no name of a domain with two parts or more; a dot at the end is all right. */
export function checkDomainName(name: string, at: Place): void {
  if (name === "") {
    at.required();
    return;
  }
  const bare = name.endsWith(".") ? name.slice(0, -1) : name;
  const problems = dnsSubdomainProblems(bare);
  if (problems.length > 0) {
    at.invalid(bare, problems.join(","));
    return;
  }
  const labels = bare.split(".");
  if (labels.length < 2) {
    at.invalid(bare, "should be a domain with at least two segments separated by dots");
    return;
  }
  const wrong = labels.find((label) => dnsLabelProblems(label).length > 0);
  if (wrong !== undefined) at.invalid(wrong, dnsLabelProblems(wrong).join(","));
}

/** Reports what is no name of a domain with three parts or more. */
export function checkThreePartDomain(name: string, at: Place): void {
  if (name === "") {
    at.required();
    return;
  }
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) at.invalid(name, problems.join(","));
  else if (name.split(".").length < 3) {
    at.invalid(name, "should be a domain with at least three segments separated by dots");
  }
}

const httpPath = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;
const httpPathPattern = new RegExp(`^${httpPath}$`);

/** Reports what is not `domain/path`. */
export function checkDomainPrefixedPath(text: string, at: Place): void {
  if (text === "") {
    at.required();
    return;
  }
  const slash = text.indexOf("/");
  const [host, path] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (slash < 0 || host === "" || path === "") {
    at.invalid(text, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  at.invalidEach(host, dnsSubdomainProblems(host));
  if (!httpPathPattern.test(path)) {
    at.invalid(path, `Invalid path (regex used for validation is '${httpPath}')`);
  }
}

const wildcard = String.raw`\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`;
const wildcardPattern = new RegExp(`^${wildcard}$`);

/** What is wrong with the name of all hosts of a domain: `*.example.com`. */
export function wildcardProblems(text: string): readonly string[] {
  const problems = byteLength(text) > 253 ? ["must be no more than 253 characters"] : [];
  if (text.length > 4096 || !wildcardPattern.test(text)) {
    problems.push(
      `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${wildcard}')`,
    );
  }
  return problems;
}
