// Conditions on a resource under which a controller acts, as pure rules.

import { jsonEqual } from "@keelson/base";
import {
  platformOf,
  type JsonMap,
  type JsonValue,
  type Reports,
  type Resource,
} from "./resource.ts";

export type Operator = "eq" | "ne" | "in" | "notin" | "exists" | "notexists";

export interface Precondition {
  /**
   * A dotted path into `{id, name, generation, spec, status}`. Reports of controllers are below
   * `status.controller_statuses.<name>`: `observed_generation`, `metadata`, and its conditions by type.
   */
  readonly field: string;
  readonly operator: Operator;
  /** For `eq` and `ne` a value, for `in` and `notin` a list of values. */
  readonly value?: JsonValue;
}

/** Something that another controller must have done, for the generation at hand. */
export interface Dependency {
  readonly controller: string;
  /** The condition that must be True; `Available` unless told. */
  readonly condition?: string;
  /** A member of its metadata that must be there. */
  readonly metadataKey?: string;
}

/** Go on; or it does not concern us; or others have to act first. */
export type Verdict =
  | { readonly verdict: "met" }
  | { readonly verdict: "notApplicable"; readonly reason: string }
  | { readonly verdict: "waits"; readonly reason: string };

const roots = new Set(["id", "name", "generation", "spec", "status"]);

/** Judges all of them. What the spec does not fulfil weighs more than what time may bring. */
export function judge(
  rules: {
    readonly preconditions: readonly Precondition[];
    readonly dependsOn: readonly Dependency[];
  },
  resource: Resource,
  reports: Reports,
): Verdict {
  const view = viewOf(resource, reports);
  const unmet = rules.preconditions.filter((precondition) => !holds(precondition, view));
  const ofSpec = unmet.find(({ field }) => !isOfStatus(field));
  if (ofSpec !== undefined) return { verdict: "notApplicable", reason: sentence(ofSpec) };
  const [first] = unmet;
  if (first !== undefined) return { verdict: "waits", reason: sentence(first) };
  for (const dependency of rules.dependsOn) {
    const missing = missingOf(dependency, resource, reports);
    if (missing !== undefined) return { verdict: "waits", reason: missing };
  }
  return { verdict: "met" };
}

/** What is wrong with a precondition as it was written; undefined for nothing. */
export function problemOf({ field, operator, value }: Precondition): string | undefined {
  const parts = field.split(".");
  if (!roots.has(parts[0] ?? "") || parts.includes("")) {
    return `${field || "(empty)"} is not a path: it begins with ${[...roots].join(", ")} and has no empty part`;
  }
  switch (operator) {
    case "eq":
    case "ne":
      return value === undefined ? `${field} ${operator} needs a value` : undefined;
    case "in":
    case "notin":
      return Array.isArray(value) ? undefined : `${field} ${operator} needs a list of values`;
    case "exists":
    case "notexists":
      return value === undefined ? undefined : `${field} ${operator} takes no value`;
    default:
      return `${String(operator satisfies never)} is not an operator: eq, ne, in, notin, exists or notexists`;
  }
}

/** Whether one precondition holds for what `viewOf` shows. */
export function holds({ field, operator, value }: Precondition, view: JsonMap): boolean {
  const found = at(view, field);
  const isPlatform = field === "spec.platform.type";
  const same = (a: JsonValue, b: JsonValue): boolean =>
    jsonEqual(isPlatform ? lower(a) : a, isPlatform ? lower(b) : b);
  const isAmong = (candidate: JsonValue): boolean =>
    Array.isArray(value) && value.some((one: JsonValue) => same(candidate, one));
  switch (operator) {
    case "eq":
      return found !== undefined && value !== undefined && same(found, value);
    case "ne":
      return found === undefined || value === undefined || !same(found, value);
    case "in":
      return found !== undefined && isAmong(found);
    case "notin":
      return found === undefined || !isAmong(found);
    case "exists":
      return found !== undefined;
    case "notexists":
      return found === undefined;
  }
}

/** What preconditions look at. */
export function viewOf(
  { id, name, generation, spec, status }: Resource,
  reports: Reports,
): JsonMap {
  const controllerStatuses = Object.fromEntries(
    Object.values(reports).map((report) => [
      report.controller_name,
      {
        ...Object.fromEntries(report.conditions.map(({ type, status }) => [type, status])),
        observed_generation: report.observed_generation,
        conditions: report.conditions as unknown as JsonValue,
        metadata: report.metadata,
        ...(report.last_error ? { last_error: report.last_error as unknown as JsonValue } : {}),
      },
    ]),
  );
  return {
    id,
    name,
    generation,
    spec,
    status: { ...status, controller_statuses: controllerStatuses },
  };
}

/** Whether an event for `platform` concerns a controller of these platforms; none means all. */
export function concerns(platforms: readonly string[], platform: string | undefined): boolean {
  if (platforms.length === 0 || platform === undefined || platform === "") return true;
  const wanted = platform.toLowerCase();
  return platforms.some((one) => one.toLowerCase() === wanted);
}

/** A nodepool's own platform, else its cluster's. */
export function platformFor(resource: Resource, cluster: Resource): string | undefined {
  return platformOf(resource.spec) ?? platformOf(cluster.spec);
}

function isOfStatus(field: string): boolean {
  return field === "status" || field.startsWith("status.");
}

function sentence({ field, operator, value }: Precondition): string {
  const shown = value === undefined ? "" : ` ${JSON.stringify(value)}`;
  return `${field} ${operator}${shown} does not hold`;
}

function missingOf(
  { controller, condition = "Available", metadataKey }: Dependency,
  { generation }: Resource,
  reports: Reports,
): string | undefined {
  const report = Object.hasOwn(reports, controller) ? reports[controller] : undefined;
  if (report === undefined) return `${controller} has not reported yet`;
  if (report.observed_generation < generation) {
    return `${controller} has reported for generation ${report.observed_generation}, not yet for ${generation}`;
  }
  const isTrue = report.conditions.some(
    ({ type, status }) => type === condition && status === "True",
  );
  if (!isTrue) return `${controller} is not ${condition} yet`;
  if (metadataKey !== undefined && (report.metadata[metadataKey] ?? null) === null) {
    return `${controller} has not told ${metadataKey} yet`;
  }
  return undefined;
}

/** The value at a path; a member that is null is there. Names of members may contain dots: the longest match wins. */
function at(value: JsonValue, path: string): JsonValue | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) {
    const [index = "", ...rest] = path.split(".");
    if (!/^\d+$/.test(index)) return undefined;
    const item = (value as readonly JsonValue[])[Number(index)];
    return item === undefined || rest.length === 0 ? item : at(item, rest.join("."));
  }
  const map = value as JsonMap;
  if (Object.hasOwn(map, path)) return map[path];
  for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
    const member = path.slice(0, dot);
    if (!Object.hasOwn(map, member)) continue;
    const found = at(map[member] as JsonValue, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function lower(value: JsonValue): JsonValue {
  return typeof value === "string" ? value.toLowerCase() : value;
}
