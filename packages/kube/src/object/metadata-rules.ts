// What the metadata of every object must be.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { byteLength, compareBytes } from "../go-text/byte-order.ts";
import { goJson } from "../go-text/go-json.ts";
import { goLowerCase } from "../go-text/lower-case.ts";
import { isPrintable, quote } from "../go-text/quote.ts";
import { FieldErrorList } from "../status/field-error-list.ts";
import {
  childPath,
  forbiddenField,
  invalidField,
  invalidShownField,
  itemPath,
  requiredField,
  tooLongField,
  type FieldError,
} from "../status/field-error.ts";
import { memberOf } from "./member.ts";
import { listOf, objectOf, textOf } from "./members.ts";
import {
  labelKeyProblems,
  labelNames,
  labelValueProblems,
  pathSegmentNames,
  type NameRule,
} from "./names.ts";

/** How many bytes all annotations of an object may have together, keys and values. */
export const annotationsBytesMax = 256 * 1024;

/** How many bytes the name of a field manager may have. */
export const fieldManagerBytesMax = 128;

export interface MetadataRuleOptions {
  readonly isNamespaced: boolean;
  readonly nameRule: NameRule;
  /** Built-in kinds know the finalizers that need no domain; all others need one. */
  readonly isBuiltIn?: boolean;
  /** What `sharedMetadataProblems` found, where it was asked already. */
  readonly shared?: readonly FieldError[];
}

/** What is looked at when nothing else is wrong with a new object: what its name begins with must fit into a path, all of it. */
export function validateNamePrefix(metadata: JsonObject): FieldError[] {
  const prefix = textOf(metadata, "generateName");
  return pathSegmentNames(prefix, { asPrefix: true }).map((problem) =>
    invalidField("metadata.generateName", prefix, problem),
  );
}

/** What is wrong with the metadata of a new object. `path` is `metadata`. */
export function validateMetadata(
  metadata: JsonObject,
  { isNamespaced, nameRule, isBuiltIn = false, shared }: MetadataRuleOptions,
  path = "metadata",
): FieldError[] {
  const errors: FieldError[] = [];
  const text = (name: string): string => textOf(metadata, name);
  const at = (name: string): string => childPath(path, name);

  const generateName = text("generateName");
  if (generateName !== "") {
    for (const problem of nameRule(generateName, { asPrefix: true })) {
      errors.push(invalidField(at("generateName"), generateName, problem));
    }
  }
  const name = text("name");
  if (name === "") errors.push(requiredField(at("name"), "name or generateName is required"));
  else for (const problem of nameRule(name)) errors.push(invalidField(at("name"), name, problem));

  const namespace = text("namespace");
  if (!isNamespaced) {
    if (namespace !== "") {
      errors.push(forbiddenField(at("namespace"), "not allowed on this type"));
    }
  } else if (namespace === "") {
    errors.push(requiredField(at("namespace")));
  } else {
    for (const problem of labelNames(namespace)) {
      errors.push(invalidField(at("namespace"), namespace, problem));
    }
  }
  const generation = memberOf(metadata, "generation");
  if ((typeof generation === "number" || typeof generation === "bigint") && generation < 0) {
    errors.push(invalidField(at("generation"), generation, "must be greater than or equal to 0"));
  }
  return [
    ...errors,
    ...(shared ?? sharedMetadataProblems(metadata, path)),
    ...validateFinalizers(listOf(metadata, "finalizers"), at("finalizers")),
    ...(isBuiltIn ? validateFinalizerDomains(metadata, path) : []),
  ];
}

/** What built-in kinds ask of finalizers besides: those without a domain must be known. */
export function validateFinalizerDomains(metadata: JsonObject, path = "metadata"): FieldError[] {
  return unqualifiedFinalizers(listOf(metadata, "finalizers"), childPath(path, "finalizers"));
}

/** What is wrong with the metadata of an object that replaces another. */
export function validateMetadataUpdate(
  next: JsonObject,
  old: JsonObject,
  {
    path = "metadata",
    shared,
  }: { readonly path?: string; readonly shared?: readonly FieldError[] } = {},
): FieldError[] {
  const errors: FieldError[] = [];
  const at = (name: string): string => childPath(path, name);
  if (textOf(old, "deletionTimestamp") !== "") {
    const before = new Set(listOf(old, "finalizers"));
    const added = listOf(next, "finalizers").filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const list = added.map(String).sort(compareBytes).map(quote).join(", ");
      errors.push(
        forbiddenField(
          at("finalizers"),
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      );
    }
  }
  if (textOf(next, "resourceVersion") === "") {
    errors.push(invalidField(at("resourceVersion"), "", "must be specified for an update"));
  }
  for (const name of immutable) {
    const value = memberOf(next, name);
    if ((value ?? null) !== (memberOf(old, name) ?? null)) {
      errors.push(invalidField(at(name), value ?? emptyOf(name), "field is immutable"));
    }
  }
  return [...errors, ...(shared ?? sharedMetadataProblems(next, path))];
}

/** What is wrong with labels: of an object, of a selector, of a template. */
export function validateLabels(labels: JsonObject, path: string): FieldError[] {
  const found = new FieldErrorList([]);
  for (const key of Object.keys(labels).sort(compareBytes)) {
    if (found.isFull) break;
    for (const problem of labelKeyProblems(key)) found.add(() => invalidField(path, key, problem));
    const value = memberOf(labels, key);
    if (typeof value !== "string") continue;
    for (const problem of labelValueProblems(value)) {
      found.add(() => invalidField(path, value, problem));
    }
  }
  return found.errors;
}

/** What is wrong with annotations: their keys, and their size together. */
export function validateAnnotations(annotations: JsonObject, path: string): FieldError[] {
  const found = new FieldErrorList([]);
  let bytes = 0;
  for (const key of Object.keys(annotations).sort(compareBytes)) {
    if (found.isFull) break;
    for (const problem of labelKeyProblems(goLowerCase(key))) {
      found.add(() => invalidField(path, key, problem));
    }
    const value = memberOf(annotations, key);
    bytes += byteLength(key) + (typeof value === "string" ? byteLength(value) : 0);
  }
  if (bytes > annotationsBytesMax) found.add(() => tooLongField(path, annotationsBytesMax));
  return found.errors;
}

/** What is wrong with finalizers. */
export function validateFinalizers(finalizers: readonly Json[], path: string): FieldError[] {
  const found = new FieldErrorList([]);
  for (const finalizer of finalizers) {
    if (found.isFull) break;
    if (typeof finalizer !== "string") continue;
    for (const problem of labelKeyProblems(finalizer)) {
      found.add(() => invalidField(path, finalizer, problem));
    }
  }
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const detail = "finalizer orphan and foregroundDeletion cannot be both set";
    found.add(() => invalidField(path, finalizers, detail));
  }
  return found.errors;
}

/** What is wrong with the name of a field manager: at most 128 bytes, all printable. */
export function validateFieldManager(manager: string, path: string): FieldError[] {
  if (manager.length <= fieldManagerBytesMax && isPlainText.test(manager)) return [];
  const found = new FieldErrorList([]);
  if (byteLength(manager) > fieldManagerBytesMax) {
    found.add(() => tooLongField(path, fieldManagerBytesMax));
  }
  let offset = 0;
  for (const character of manager) {
    if (found.isFull) break;
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const detail = `invalid character U+${code} (at position ${offset})`;
      found.add(() => invalidField(path, manager, detail));
    }
    offset += byteLength(character);
  }
  return found.errors;
}

/** The field manager of a client that names none: its User-Agent up to the slash, what is printable of it (KB 46). */
export function managerFromUserAgent(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  const plain = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (plain.length <= fieldManagerBytesMax && isPlainText.test(plain)) return plain;
  let manager = "";
  let bytes = 0;
  for (const character of plain) {
    if (!isPrintable(character)) continue;
    bytes += byteLength(character);
    if (bytes > fieldManagerBytesMax) break;
    manager += character;
  }
  return manager;
}

/** Nothing but printable ASCII, as almost always. */
const isPlainText = /^[ -~]*$/;

const standardFinalizers: ReadonlySet<Json> = new Set([
  "kubernetes",
  "orphan",
  "foregroundDeletion",
]);

function unqualifiedFinalizers(finalizers: readonly Json[], path: string): FieldError[] {
  const detail = "name is neither a standard finalizer name nor is it fully qualified";
  const found = new FieldErrorList([]);
  for (const [index, name] of finalizers.entries()) {
    if (found.isFull) break;
    if (typeof name !== "string" || name.includes("/") || standardFinalizers.has(name)) continue;
    found.add(() => invalidField(itemPath(path, index), name, detail));
  }
  return found.errors;
}

const immutable = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function emptyOf(name: (typeof immutable)[number]): Json {
  return name === "name" || name === "namespace" || name === "uid" ? "" : null;
}

/** What is wrong with the parts that new objects and changed ones are asked for alike: labels, annotations, owners, managers. */
export function sharedMetadataProblems(metadata: JsonObject, path = "metadata"): FieldError[] {
  return [
    ...validateLabels(objectOf(metadata, "labels"), childPath(path, "labels")),
    ...validateAnnotations(objectOf(metadata, "annotations"), childPath(path, "annotations")),
    ...validateOwners(listOf(metadata, "ownerReferences"), childPath(path, "ownerReferences")),
    ...validateManagers(listOf(metadata, "managedFields"), childPath(path, "managedFields")),
  ];
}

function validateOwners(owners: readonly Json[], path: string): FieldError[] {
  const found = new FieldErrorList([]);
  let controller = "";
  // Each further controller is told with all owners, whose text is made once.
  let shown: string | undefined;
  for (const owner of owners) {
    if (found.isFull) break;
    if (!isJsonObject(owner)) continue;
    const apiVersion = textOf(owner, "apiVersion");
    const kind = textOf(owner, "kind");
    if (apiVersion === "" || apiVersion.endsWith("/")) {
      const detail = "version must not be empty";
      found.add(() => invalidField(childPath(path, "apiVersion"), apiVersion, detail));
    }
    for (const name of ["kind", "name", "uid"]) {
      const value = textOf(owner, name);
      if (value !== "") continue;
      found.add(() => invalidField(childPath(path, name), value, "must not be empty"));
    }
    if (apiVersion === "v1" && kind === "Event") {
      const detail = "/v1, Kind=Event is disallowed from being an owner";
      found.add(() => invalidField(path, owner, detail));
    }
    if (memberOf(owner, "controller") !== true) continue;
    const here = `${kind}/${textOf(owner, "name")}`;
    if (controller === "") {
      controller = here;
      continue;
    }
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${here}`;
    const all = (shown ??= `[${owners.map(shownOwner).join(",")}]`);
    found.add(() => invalidShownField(path, all, detail));
  }
  return found.errors;
}

const ownerFields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];

/** An owner in the order of its fields. */
function shownOwner(owner: Json): string {
  if (!isJsonObject(owner)) return goJson(owner);
  const members = ownerFields.flatMap((name) => {
    const value = memberOf(owner, name);
    return value === undefined ? [] : [`${goJson(name)}:${goJson(value)}`];
  });
  return `{${members.join(",")}}`;
}

function validateManagers(entries: readonly Json[], path: string): FieldError[] {
  const found = new FieldErrorList([]);
  for (const [index, entry] of entries.entries()) {
    if (found.isFull) break;
    if (!isJsonObject(entry)) continue;
    const here = itemPath(path, index);
    const operation = textOf(entry, "operation");
    if (operation !== "Apply" && operation !== "Update") {
      const detail = "must be `Apply` or `Update`";
      found.add(() => invalidField(childPath(here, "operation"), operation, detail));
    }
    const fieldsType = textOf(entry, "fieldsType");
    if (fieldsType !== "" && fieldsType !== "FieldsV1") {
      const detail = "must be `FieldsV1`";
      found.add(() => invalidField(childPath(here, "fieldsType"), fieldsType, detail));
    }
    const manager = validateFieldManager(textOf(entry, "manager"), childPath(here, "manager"));
    for (const error of manager) found.add(() => error);
    if (byteLength(textOf(entry, "subresource")) > 256) {
      found.add(() => tooLongField(childPath(here, "subresource"), 256));
    }
  }
  return found.errors;
}
