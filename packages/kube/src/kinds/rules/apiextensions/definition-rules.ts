// The rules of CustomResourceDefinitions.

import { append, jsonEqual, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { quote } from "../../../go-text/quote.ts";
import { validateSchema } from "../../../cel/validate-schema.ts";
import { isConditionTrue } from "../../../crd/conditions.ts";
import { conversionBundleOf, conversionWebhookOf } from "../../../crd/conversion-webhook.ts";
import { approvalAnnotation, approvalOf, isProtectedGroup } from "../../../crd/approval.ts";
import {
  annotationsOf,
  flagOf,
  has,
  maybeObject,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableOrMade,
} from "../../../object/members.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  subdomainNames,
  type NameRule,
} from "../../../object/names.ts";
import { readSchema } from "../../../schema/read-schema.ts";
import {
  childPath,
  invalidField,
  invalidShownField,
  itemPath,
  requiredField,
  type FieldError,
} from "../../../status/field-error.ts";
import { FieldErrorList } from "../../../status/field-error-list.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { caBundleProblem } from "../meta/ca-bundle.ts";
import { checkImmutable, checkImmutableWord } from "../meta/checks.ts";
import { knowsReview } from "../meta/review-versions.ts";
import { validateConversion } from "./definition-conversion.ts";
import {
  definitionForm,
  subresourcesOf,
  type DefinitionForm,
  type VersionForm,
} from "./definition-form.ts";
import { validateDefinitionNames } from "./definition-names.ts";
import { hasDefaults, unknownFormats } from "./definition-schemas.ts";
import {
  deprecationProblems,
  hasStatus,
  selectableFieldsMax,
  validateColumns,
  validateSelectableFields,
  validateSubresources,
} from "./definition-version.ts";
import { versionsText } from "./version-text.ts";

export const customResourceDefinition: KindRules = {
  namesFor,
  takesBareFinalizers: true,
  prepareForCreate: (definition) => {
    const acceptedNames = { plural: "", kind: "" };
    definition["status"] = { conditions: null, acceptedNames, storedVersions: null };
    storeVersion(definition);
  },
  prepareForUpdate: storeVersion,
  validate: (definition) => [
    ...specErrors(definition, undefined),
    ...statusErrors(definition),
    ...storedVersionErrors(definition),
    ...approvalErrors(definition, undefined),
    ...preservationErrors(definition, undefined),
  ],
  validateUpdate: (definition, old) => [
    ...specErrors(definition, old),
    ...immutableErrors(definition, old),
    ...statusErrors(definition),
    ...storedVersionErrors(definition),
    ...approvalErrors(definition, old),
    ...preservationErrors(definition, old),
  ],
  validateStatusUpdate: statusErrors,
  warnings: (definition, old) => {
    const before = new Set(old === undefined ? [] : unknownFormats(old));
    return unknownFormats(definition)
      .filter((format) => !before.has(format))
      .map((format) => `unrecognized format ${quote(format)}`);
  },
};

/** The version that is stored is remembered for ever: objects may still be in it. */
function storeVersion(definition: MutableJsonObject): void {
  const storage = objectsOf(objectOf(definition, "spec"), "versions").find((version) =>
    flagOf(version, "storage"),
  );
  if (storage === undefined) return;
  const stored = textsOf(objectOf(definition, "status"), "storedVersions");
  const name = textOf(storage, "name");
  if (!stored.includes(name))
    writableOrMade(definition, "status")["storedVersions"] = [...stored, name];
}

function namesFor(definition: JsonObject): NameRule {
  const spec = objectOf(definition, "spec");
  const needed = `${textOf(objectOf(spec, "names"), "plural")}.${textOf(spec, "group")}`;
  return (name, options) => [
    ...subdomainNames(name, options),
    ...(name === needed ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
}

function specErrors(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = objectOf(definition, "spec");
  const form = definitionForm(spec);
  const oldForm = old === undefined ? undefined : definitionForm(objectOf(old, "spec"));
  const errors: FieldError[] = [...groupErrors(textOf(spec, "group"))];

  const scope = textOf(spec, "scope");
  const scopes = ["Cluster", "Namespaced"];
  if (scope === "") errors.push(requiredField("spec.scope"));
  else if (!scopes.includes(scope))
    Place.root("spec.scope", errors).notSupportedText(scope, scopes);

  append(errors, missingSchemas(form, oldForm));
  const preserves = flagOf(spec, "preserveUnknownFields");
  if (preserves && hasDefaults(form)) {
    const detail = "must be false in order to use defaults in the schema";
    errors.push(invalidField("spec.preserveUnknownFields", true, detail));
  }
  append(errors, versionErrors(form, oldForm));
  for (const name of ["plural", "singular", "kind", "listKind"]) {
    if (textOf(objectOf(spec, "names"), name) === "")
      errors.push(requiredField(`spec.names.${name}`));
  }
  append(errors, validateDefinitionNames(objectOf(spec, "names"), "spec.names"));
  const hasAnyStatus =
    hasStatus(form.subresources) ||
    form.versions.some(({ subresources }) => hasStatus(subresources));
  append(errors, schemaErrors(form.validation, "spec.validation", hasAnyStatus));
  append(errors, validateSubresources(form.subresources, "spec.subresources"));
  append(errors, validateColumns(form.additionalPrinterColumns, "spec.additionalPrinterColumns"));
  const { selectableFields = [] } = form;
  if (selectableFields.length > 0) {
    if (form.validation === undefined) {
      const detail = "may only be set when validations.schema is included";
      errors.push(invalidField("spec.selectableFields", "", detail));
    } else {
      const mayBeMany = wereMany(oldForm?.selectableFields, selectableFields);
      const options = { path: "spec.selectableFields", mayBeMany };
      const schema = objectOf(form.validation, "openAPIV3Schema");
      append(errors, validateSelectableFields(selectableFields, schema, options));
    }
  }
  const strategy = textOf(objectOf(spec, "conversion"), "strategy");
  if (has(spec, "conversion") && strategy !== "None" && preserves) {
    const detail = "must be None if spec.preserveUnknownFields is true";
    Place.root("spec.conversion.strategy", errors).invalidWord(strategy, detail);
  }
  const oldReviews = textsOf(conversionWebhookOf(old ?? {}), "conversionReviewVersions");
  append(
    errors,
    validateConversion(maybeObject(spec, "conversion"), {
      path: "spec.conversion",
      needsKnownReview: oldReviews.length === 0 || knowsReview(oldReviews),
      allowsBadBundle: old === undefined || allowsBadBundle(old),
    }),
  );
  return errors;
}

function groupErrors(group: string): FieldError[] {
  if (group === "") return [requiredField("spec.group")];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalidField("spec.group", group, problems.join(","))];
  if (group.includes(".")) return [];
  return [invalidField("spec.group", group, "should be a domain with at least one dot")];
}

function hasSchema(schema: JsonObject | undefined): boolean {
  return schema !== undefined && has(schema, "openAPIV3Schema");
}

/** Every version needs a schema, unless the definition that is replaced did without. */
function missingSchemas(form: DefinitionForm, old: DefinitionForm | undefined): FieldError[] {
  if (hasSchema(form.validation)) return [];
  const placeOf = (index: number): string => `spec.versions[${index}].schema.openAPIV3Schema`;
  const lacksSchema = old !== undefined && !hasAllSchemas(old);
  return form.versions.flatMap(({ schema, written }, index) => {
    if (hasSchema(schema)) return [];
    if (!lacksSchema) return [requiredField(placeOf(index))];
    const isPruned = !flagOf(form.spec, "preserveUnknownFields") && flagOf(written, "served");
    return isPruned
      ? [requiredField(placeOf(index), "because otherwise all fields are pruned")]
      : [];
  });
}

function hasAllSchemas(form: DefinitionForm): boolean {
  return hasSchema(form.validation) || form.versions.every(({ schema }) => hasSchema(schema));
}

function versionErrors(form: DefinitionForm, old: DefinitionForm | undefined): FieldError[] {
  const errors = form.versions.flatMap((version, index) => {
    const path = itemPath("spec.versions", index);
    const problems = dns1035LabelProblems(version.name);
    const found =
      problems.length === 0
        ? []
        : [invalidField(childPath(path, "name"), version.name, problems.join(","))];
    return [...found, ...oneVersionErrors(form, version, { path, old })];
  });
  const all = new FieldErrorList(errors);
  if (new Set(form.versions.map(({ name }) => name)).size < form.versions.length) {
    const detail = "must contain unique version names";
    all.add(() => invalidShownField("spec.versions", versionsText(form.versions), detail));
  }
  if (form.versions.filter(({ written }) => flagOf(written, "storage")).length !== 1) {
    const detail = "must have exactly one version marked as storage version";
    all.add(() => invalidShownField("spec.versions", versionsText(form.versions), detail));
  }
  if (form.version !== "") {
    const problems = dns1035LabelProblems(form.version);
    if (problems.length > 0) {
      errors.push(invalidField("spec.version", form.version, problems.join(",")));
    }
  }
  return errors;
}

function oneVersionErrors(
  form: DefinitionForm,
  version: VersionForm,
  { path, old }: { readonly path: string; readonly old: DefinitionForm | undefined },
): FieldError[] {
  const errors: FieldError[] = [];
  for (const problem of deprecationProblems(version.written)) {
    const warning = textOf(version.written, "deprecationWarning");
    Place.root(childPath(path, "deprecationWarning"), errors).invalidWord(warning, problem);
  }
  const withStatus = hasStatus(subresourcesOf(form, version));
  append(errors, schemaErrors(version.schema, childPath(path, "schema"), withStatus));
  append(errors, validateSubresources(version.subresources, childPath(path, "subresources")));
  const columns = childPath(path, "additionalPrinterColumns");
  append(errors, validateColumns(version.additionalPrinterColumns, columns));
  const { selectableFields = [] } = version;
  if (selectableFields.length > 0) {
    const place = childPath(path, "selectableFields");
    if (!hasSchema(version.schema)) {
      const detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
      errors.push(invalidField(place, "", detail));
    } else {
      const before = old?.byName.get(version.name);
      const mayBeMany = wereMany(before?.selectableFields, selectableFields);
      const schema = objectOf(version.schema ?? {}, "openAPIV3Schema");
      const options = { path: place, mayBeMany };
      append(errors, validateSelectableFields(selectableFields, schema, options));
    }
  }
  return errors;
}

function schemaErrors(
  schema: JsonObject | undefined,
  path: string,
  withStatus: boolean,
): FieldError[] {
  const written = schema && maybeObject(schema, "openAPIV3Schema");
  if (written === undefined) return [];
  const place = childPath(path, "openAPIV3Schema");
  return validateSchema(readSchema(written), { path: place, hasStatus: withStatus });
}

function wereMany(old: readonly JsonObject[] | undefined, next: readonly JsonObject[]): boolean {
  return old !== undefined && old.length > selectableFieldsMax && jsonEqual(old, next);
}

/** Certificates are judged once the kind is there; what could not be read before may stay. */
function allowsBadBundle(old: JsonObject): boolean {
  if (!isConditionTrue(old, "Established")) return true;
  const bundle = conversionBundleOf(old);
  return bundle !== "" && caBundleProblem(bundle) !== undefined;
}

function immutableErrors(definition: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const at = Place.root("spec", errors);
  const [spec, before] = [objectOf(definition, "spec"), objectOf(old, "spec")];
  const [names, oldNames] = [objectOf(spec, "names"), objectOf(before, "names")];
  if (isConditionTrue(old, "Established")) {
    checkImmutableWord(textOf(spec, "scope"), textOf(before, "scope"), at.child("scope"));
    const place = at.child("names").child("kind");
    checkImmutable(textOf(names, "kind"), textOf(oldNames, "kind"), place);
  }
  checkImmutable(textOf(spec, "group"), textOf(before, "group"), at.child("group"));
  const plural = at.child("names").child("plural");
  checkImmutable(textOf(names, "plural"), textOf(oldNames, "plural"), plural);
  return errors;
}

function statusErrors(definition: JsonObject): FieldError[] {
  return validateDefinitionNames(
    objectOf(objectOf(definition, "status"), "acceptedNames"),
    "status.acceptedNames",
  );
}

function storedVersionErrors(definition: JsonObject): FieldError[] {
  const path = "status.storedVersions";
  const stored = textsOf(objectOf(definition, "status"), "storedVersions");
  if (stored.length === 0) {
    return [invalidField(path, null, "must have at least one stored version")];
  }
  const errors: FieldError[] = [];
  const versions = objectsOf(objectOf(definition, "spec"), "versions");
  const left = new Map(stored.map((version, index) => [version, index]));
  for (const version of versions) {
    const name = textOf(version, "name");
    if (flagOf(version, "storage") && !left.has(name)) {
      errors.push(invalidField(path, stored, `must have the storage version ${name}`));
    }
    left.delete(name);
  }
  for (const [version, index] of left) {
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.push(invalidField(itemPath(path, index), version, detail));
  }
  return errors;
}

function approvalErrors(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (!isProtectedGroup(textOf(objectOf(definition, "spec"), "group"))) return [];
  const { state, reason } = approvalOf(definition);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const path = itemPath("metadata.annotations", approvalAnnotation);
  if (state === "Missing") return [requiredField(path, reason)];
  if (state !== "Invalid") return [];
  const annotation = textOf(annotationsOf(definition), approvalAnnotation);
  return [invalidField(path, annotation, reason)];
}

function preservationErrors(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (flagOf(objectOf(old ?? {}, "spec"), "preserveUnknownFields")) return [];
  if (!flagOf(objectOf(definition, "spec"), "preserveUnknownFields")) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidField("spec.preserveUnknownFields", true, detail)];
}
