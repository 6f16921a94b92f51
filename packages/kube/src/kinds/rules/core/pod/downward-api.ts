// Fields of a Pod that its containers may read: in variables and in files.

import type { JsonObject } from "@keelson/base";

import { goLowerCase } from "../../../../go-text/lower-case.ts";
import { memberOf } from "../../../../object/member.ts";
import { has, maybeObject, objectOf, objectsOf, textOf } from "../../../../object/members.ts";
import { labelKeyProblems } from "../../../../object/names.ts";
import { showAmount, signOf } from "../../amounts.ts";
import type { Place } from "../../place.ts";
import { checkLocal, checkMode } from "../paths.ts";

/** Fields that may be read as files. */
const fileFields: readonly string[] = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** Fields that may be read as variables. */
export const envFields: readonly string[] = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** The files of a volume; messages name the volume, not the file. */
export function checkDownwardFiles(source: JsonObject, at: Place): void {
  for (const file of objectsOf(source, "items")) checkDownwardFile(file, at);
}

export function checkDownwardFile(file: JsonObject, at: Place): void {
  const path = textOf(file, "path");
  if (path === "") at.child("path").required();
  checkLocal(path, at.child("path"));
  const field = maybeObject(file, "fieldRef");
  if (field !== undefined) {
    checkFieldRef(field, at.child("fieldRef"), { fields: fileFields });
    if (has(file, "resourceFieldRef")) {
      at.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (has(file, "resourceFieldRef")) {
    checkResourceRef(objectOf(file, "resourceFieldRef"), at.child("resourceFieldRef"), {
      isFile: true,
    });
  } else at.required("one of fieldRef and resourceFieldRef is required");
  checkMode(file, at, { name: "mode" });
}

/** Reports a field that cannot be read. */
export function checkFieldRef(
  reference: JsonObject,
  at: Place,
  { fields }: { readonly fields: readonly string[] },
): void {
  const [version, fieldPath] = [textOf(reference, "apiVersion"), textOf(reference, "fieldPath")];
  if (version === "") {
    at.child("apiVersion").required();
    return;
  }
  if (fieldPath === "") {
    at.child("fieldPath").required();
    return;
  }
  const refuse = (why: string): void =>
    at.child("fieldPath").invalid(fieldPath, `error converting fieldPath: ${why}`);
  if (version !== "v1") {
    refuse(`unsupported pod version: ${version}`);
    return;
  }
  const inner = fieldPath.endsWith("']") ? fieldPath.slice(0, -2) : "";
  const open = inner.indexOf("['");
  if (open > 0) {
    const subscripted = inner.slice(0, open);
    const subscript = inner.slice(open + 2);
    if (subscripted === "metadata.annotations") {
      const key = goLowerCase(subscript);
      at.invalidEach(key, labelKeyProblems(key));
    } else if (subscripted === "metadata.labels") {
      at.invalidEach(subscript, labelKeyProblems(subscript));
    } else refuse(`field label does not support subscript: ${fieldPath}`);
    return;
  }
  const field = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  if (!knownFields.has(field)) refuse(`field label not supported: ${fieldPath}`);
  else if (!fields.includes(field)) at.child("fieldPath").notSupported(field, fields);
}

/** Reports a resource that cannot be read. */
export function checkResourceRef(
  reference: JsonObject,
  at: Place,
  { isFile }: { readonly isFile: boolean },
): void {
  const resource = textOf(reference, "resource");
  if (isFile && textOf(reference, "containerName") === "") at.child("containerName").required();
  else if (resource === "") at.child("resource").required();
  else if (!resources.includes(resource) && !isHugePagesField(resource)) {
    at.child("resource").notSupportedText(resource, resources);
  }
  const divisor = memberOf(reference, "divisor");
  if (divisor === undefined || divisor === null || signOf(divisor) === 0) return;
  const rule = divisorRule(resource);
  if (rule !== undefined && !rule.divisors.includes(showAmount(divisor))) {
    at.child("divisor").invalid(
      resource,
      `only divisor's values ${rule.said} are supported with the ${rule.name} resource`,
    );
  }
}

const knownFields: ReadonlySet<string> = new Set([
  ...fileFields,
  ...envFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

const resources: readonly string[] = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

const byteDivisors = [
  "1",
  "1k",
  "1M",
  "1G",
  "1T",
  "1P",
  "1E",
  "1Ki",
  "1Mi",
  "1Gi",
  "1Ti",
  "1Pi",
  "1Ei",
];

function isHugePagesField(resource: string): boolean {
  return /^(requests|limits)\.hugepages-/.test(resource);
}

function divisorRule(
  resource: string,
):
  | { readonly name: string; readonly divisors: readonly string[]; readonly said: string }
  | undefined {
  const bytes = { divisors: byteDivisors, said: byteDivisors.join(", ") };
  if (isHugePagesField(resource)) return { name: "hugepages", ...bytes };
  switch (resource) {
    case "limits.cpu":
    case "requests.cpu":
      return { name: "cpu", divisors: ["1m", "1"], said: "1m and 1" };
    case "limits.memory":
    case "requests.memory":
      return { name: "memory", ...bytes };
    case "limits.ephemeral-storage":
    case "requests.ephemeral-storage":
      return { name: "local ephemeral storage", ...bytes };
    default:
      return undefined;
  }
}
