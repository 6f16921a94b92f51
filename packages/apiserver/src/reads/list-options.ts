// The query of a list, a watch or a deletecollection (KB 1–22).

import { failures, quote, type FieldError } from "@keelson/kube";
import type { Revision, Selector } from "@keelson/store";

import { integerIn, isTrue } from "../http/query-values.ts";
import type { Resource } from "../resources/resource.ts";
import { selectorOf } from "./selection.ts";

export type Match = "Exact" | "NotOlderThan";

export interface ListOptions {
  readonly selector: Selector;
  /** As it came: empty for a consistent read, `0` for any state. */
  readonly resourceVersion: string;
  readonly match: Match | undefined;
  /** 0: everything. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  /** Whether a watch begins with the state, ended by a marked bookmark. */
  readonly sendInitialEvents: boolean;
}

/** Reads and checks the options. `name` narrows to the one object that the path names. Throws a `StatusError`. */
export function listOptions(
  resource: Resource,
  query: URLSearchParams,
  { isWatch, name }: { readonly isWatch: boolean; readonly name: string },
): ListOptions {
  const limit = integerIn(query, "limit") ?? 0;
  const timeoutSeconds = integerIn(query, "timeoutSeconds");
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const next = query.get("continue") ?? "";
  const allowWatchBookmarks = isTrue(query.get("allowWatchBookmarks"));
  let initial = query.has("sendInitialEvents") ? isTrue(query.get("sendInitialEvents")) : undefined;
  let effective = match;
  // KB 8: an old-style watch without a revision begins with the state.
  const isOldStyle =
    isWatch && initial === undefined && match === "" && ["", "0"].includes(resourceVersion);
  if (isOldStyle) {
    initial = true;
    effective = "NotOlderThan";
  }

  const errors = isWatch
    ? watchErrors({ match: effective, initial, next })
    : listErrors({ match, resourceVersion, next, initial });
  if (errors.length > 0) {
    throw failures.invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
  }
  return {
    selector: selectorOf(resource, {
      labels: query.get("labelSelector") ?? "",
      fields: query.get("fieldSelector") ?? "",
      name,
    }),
    resourceVersion,
    match: effective === "Exact" || effective === "NotOlderThan" ? effective : undefined,
    limit: Math.max(0, limit),
    continue: next,
    timeoutSeconds,
    allowWatchBookmarks,
    sendInitialEvents: initial ?? false,
  };
}

function listErrors({
  match,
  resourceVersion,
  next,
  initial,
}: {
  readonly match: string;
  readonly resourceVersion: string;
  readonly next: string;
  readonly initial: boolean | undefined;
}): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (detail: string): void => {
    errors.push({ type: "FieldValueForbidden", field: "resourceVersionMatch", detail });
  };
  if (match !== "") {
    if (resourceVersion === "") {
      forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (next !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(unknownMatch(match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && resourceVersion === "0") {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (initial !== undefined) {
    errors.push({
      type: "FieldValueForbidden",
      field: "sendInitialEvents",
      detail: "sendInitialEvents is forbidden for list",
    });
  }
  return errors;
}

function watchErrors({
  match,
  initial,
  next,
}: {
  readonly match: string;
  readonly initial: boolean | undefined;
  readonly next: string;
}): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (detail: string): void => {
    errors.push({ type: "FieldValueForbidden", field: "resourceVersionMatch", detail });
  };
  if (initial !== undefined && match !== "NotOlderThan") {
    forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match !== "") {
    if (initial === undefined) {
      forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (match !== "NotOlderThan") errors.push(unknownMatch(match, ["NotOlderThan"]));
    if (next !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
  }
  return errors;
}

function unknownMatch(value: string, supported: readonly string[]): FieldError {
  return {
    type: "FieldValueNotSupported",
    field: "resourceVersionMatch",
    value,
    detail: `supported values: ${supported.map((one) => `"${one}"`).join(", ")}`,
  };
}

/** A revision as clients write it; undefined if it says nothing. Throws a `BadRequest` (KB 5). */
export function revisionFrom(text: string): Revision | undefined {
  if (text === "" || text === "0") return undefined;
  if (!/^[0-9]+$/.test(text)) throw badRevision(text, "invalid syntax");
  const revision = Number(text);
  if (!Number.isSafeInteger(revision)) {
    if (BigInt(text) > 18_446_744_073_709_551_615n) throw badRevision(text, "value out of range");
    return Number.MAX_SAFE_INTEGER;
  }
  return revision === 0 ? undefined : revision;
}

function badRevision(text: string, why: string): Error {
  const value = quote(text);
  const detail = `strconv.ParseUint: parsing ${value}: ${why}`;
  return failures.badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${value}: ${detail}`,
  );
}
