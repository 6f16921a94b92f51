// What a DELETE asks for (KB 34–37).

import { isJsonArray, isJsonObject, JsonNumber, type Json, type JsonObject } from "@keelson/base";
import { failures, jsonTypeName, memberOf, type FieldError } from "@keelson/kube";

import { isTrue, longIntegerIn } from "../http/query-values.ts";

export type Propagation = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  /** An integer of 64 bits. */
  readonly gracePeriodSeconds?: number | bigint;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: Propagation;
  readonly isDryRun: boolean;
}

/** Reads options that came as a body. Throws a `StatusError`. */
export function deleteOptionsFrom(body: JsonObject): DeleteOptions {
  const preconditions = memberOf(body, "preconditions");
  const uid = isJsonObject(preconditions) ? textOf(preconditions, "uid") : undefined;
  const resourceVersion = isJsonObject(preconditions)
    ? textOf(preconditions, "resourceVersion")
    : undefined;
  const grace = integerOf(body, "gracePeriodSeconds");
  const orphan = memberOf(body, "orphanDependents") ?? null;
  if (orphan !== null && typeof orphan !== "boolean") {
    throw wrongType(jsonTypeName(orphan), "orphanDependents", "bool");
  }
  const dryRun = memberOf(body, "dryRun") ?? null;
  return checked({
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(orphan === null ? {} : { orphanDependents: orphan }),
    propagationPolicy: textOf(body, "propagationPolicy"),
    dryRun: isJsonArray(dryRun) ? dryRun : [],
  });
}

/** Reads options that came in the query string, as they may without a body. Throws a `StatusError`. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptions {
  const grace = longIntegerIn(query, "gracePeriodSeconds");
  const orphan = query.get("orphanDependents");
  const uid = query.get("uid");
  const resourceVersion = query.get("resourceVersion");
  return checked({
    ...(uid === null ? {} : { uid }),
    ...(resourceVersion === null ? {} : { resourceVersion }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    dryRun: query.getAll("dryRun"),
  });
}

interface Unchecked extends Omit<DeleteOptions, "propagationPolicy" | "isDryRun"> {
  readonly propagationPolicy: string | undefined;
  readonly dryRun: readonly Json[];
}

function checked({ propagationPolicy, dryRun, ...rest }: Unchecked): DeleteOptions {
  const errors: FieldError[] = [];
  if (rest.orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push({
      type: "FieldValueInvalid",
      field: "propagationPolicy",
      value: propagationPolicy,
      detail: "orphanDependents and deletionPropagation cannot be both set",
    });
  }
  if (propagationPolicy !== undefined && !isPropagation(propagationPolicy)) {
    const detail = `supported values: ${["Foreground", "Background", "Orphan", "nil"]
      .map((value) => `"${value}"`)
      .join(", ")}`;
    errors.push({
      type: "FieldValueNotSupported",
      field: "propagationPolicy",
      value: propagationPolicy,
      detail,
    });
  }
  if (dryRun.some((value) => value !== "All")) {
    errors.push({
      type: "FieldValueNotSupported",
      field: "dryRun",
      value: dryRun,
      detail: 'supported values: "All"',
    });
  }
  if (errors.length > 0) {
    throw failures.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  }
  return {
    ...rest,
    ...(propagationPolicy !== undefined && isPropagation(propagationPolicy)
      ? { propagationPolicy }
      : {}),
    isDryRun: dryRun.length > 0,
  };
}

function isPropagation(text: string): text is Propagation {
  return text === "Orphan" || text === "Background" || text === "Foreground";
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = memberOf(object, name) ?? null;
  if (value === null) return undefined;
  if (typeof value !== "string") throw wrongType(jsonTypeName(value), name, "string");
  return value;
}

/** A number of 64 bits. */
function integerOf(object: JsonObject, name: string): number | bigint | undefined {
  const value = memberOf(object, name) ?? null;
  if (value === null) return undefined;
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (value instanceof JsonNumber && value.text === "-0") return 0;
  const isNumber = typeof value === "number" || value instanceof JsonNumber;
  throw wrongType(isNumber ? `number ${value.toString()}` : jsonTypeName(value), name, "int64");
}

function wrongType(value: string, field: string, type: string): Error {
  return failures.badRequest(
    `json: cannot unmarshal ${value} into Go struct field DeleteOptions.${field} of type ${type}`,
  );
}
