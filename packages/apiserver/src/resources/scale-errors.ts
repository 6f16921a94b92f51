// What `scale` needs of the numbers in a custom object.

import { isJsonObject, JsonNumber, type Json, type JsonObject } from "@keelson/base";
import { memberOf, printValue, type CustomKind, type FieldError } from "@keelson/kube";

const replicasMax = 2 ** 31 - 1;

/** What is wrong with the replicas that are wanted. */
export function scaleSpecErrors(object: JsonObject, scale: CustomKind["scale"]): FieldError[] {
  return scale === undefined ? [] : replicasErrors(object, scale.specReplicasPath);
}

/** What is wrong with the replicas that there are, and with the selector. */
export function scaleStatusErrors(object: JsonObject, scale: CustomKind["scale"]): FieldError[] {
  if (scale === undefined) return [];
  const errors = replicasErrors(object, scale.statusReplicasPath);
  if (scale.labelSelectorPath === undefined) return errors;
  const found = find(object, scale.labelSelectorPath);
  if (typeof found === "object" && "problem" in found) {
    errors.push(invalid(scale.labelSelectorPath, "", found.problem));
  } else if (found?.value !== undefined && typeof found.value !== "string") {
    const problem = accessorProblem(scale.labelSelectorPath, found.value, "string");
    errors.push(invalid(scale.labelSelectorPath, "", problem));
  }
  return errors;
}

function replicasErrors(object: JsonObject, path: string): FieldError[] {
  const found = find(object, path);
  if (found === undefined) return [];
  if ("problem" in found) return [invalid(path, 0, found.problem)];
  const { value } = found;
  const isWhole =
    (typeof value === "number" && Number.isInteger(value)) || typeof value === "bigint";
  if (!isWhole) return [invalid(path, 0, accessorProblem(path, value, "int64"))];
  if (value < 0) return [invalid(path, value, "should be a non-negative integer")];
  if (value <= replicasMax) return [];
  return [invalid(path, value, `should be less than or equal to ${replicasMax}`)];
}

/** The value at a path; undefined if the path ends before. */
function find(
  object: JsonObject,
  path: string,
): { readonly value: Json } | { readonly problem: string } | undefined {
  const names = path.replace(/^\./, "").split(".");
  let value: Json = object;
  for (const [index, name] of names.entries()) {
    if (value === null) return undefined;
    if (!isJsonObject(value)) {
      const place = `.${names.slice(0, index + 1).join(".")}`;
      const problem = `${place} accessor error: ${printValue(value)} is of the type ${goType(value)}, expected map[string]interface{}`;
      return { problem };
    }
    const member: Json | undefined = memberOf(value, name);
    if (member === undefined) return undefined;
    value = member;
  }
  return { value };
}

function accessorProblem(path: string, value: Json, expected: string): string {
  const place = `.${path.replace(/^\./, "")}`;
  return `${place} accessor error: ${printValue(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function invalid(field: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, value, detail };
}

function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || typeof value === "bigint" || value instanceof JsonNumber) {
    return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))
      ? "int64"
      : "float64";
  }
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}
