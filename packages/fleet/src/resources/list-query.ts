// Which page of which resources a query asks for.

import { refuseProblems, type FieldProblem } from "@keelson/base";
import { labelKeyProblems } from "@keelson/kube";
import type { ResourceFilter } from "../sql/resource-details.ts";
import { integerMax } from "./resource.ts";

export interface PageAsked {
  readonly filter: Omit<ResourceFilter, "clusters">;
  /** The last id of the page before. */
  readonly after: number;
  readonly limit: number;
  /** The token for what comes after `id`. */
  readonly cursorAfter: (id: number) => string;
}

/** What a query may hold. */
export type Query = Readonly<Record<string, unknown>>;

export const limitMax = 1_000;
export const limitUsual = 500;

export const statuses = [
  "deleting",
  "error",
  "pending",
  "out-of-sync",
  "drifted",
  "pending-applied",
  "synced",
] as const;

/** The word for how far a resource got. */
export type ResourceStatus = (typeof statuses)[number];

const allNames = ["cluster_id", "namespace", "kind", "name", "status", "label", "limit", "cursor"];

/** Reads a query that may hold the parameters of these names. Throws `VALIDATION_FAILED` with all that is wrong. */
export function readListQuery(query: Query, names: readonly string[] = allNames): PageAsked {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, message: string): void => void problems.push({ field, message });
  for (const field of Object.keys(query)) {
    if (!names.includes(field)) wrong(field, "is not a known parameter");
  }
  const text = (field: string): string | null => {
    const value = query[field];
    if (value === undefined) return null;
    if (typeof value === "string" && !value.includes("\0") && value.isWellFormed()) return value;
    wrong(field, "must be given once, as a text");
    return null;
  };
  const status = text("status");
  if (status !== null && !statuses.some((one) => one === status)) {
    wrong("status", `must be one of ${statuses.join(", ")}`);
  }
  const [labelKey, labelValue] = labelOf(text("label"), wrong);
  const limit = limitOf(text("limit"), wrong);
  const after = afterOf(text("cursor"), wrong);
  const filter = {
    clusterId: text("cluster_id"),
    namespace: text("namespace"),
    kind: text("kind"),
    name: text("name"),
    status,
    labelKey,
    labelValue,
  };
  refuseProblems(problems);
  return { filter, after, limit, cursorAfter };
}

type Wrong = (field: string, message: string) => void;

function labelOf(label: string | null, wrong: Wrong): readonly [string | null, string | null] {
  if (label === null) return [null, null];
  const equals = label.indexOf("=");
  const key = label.slice(0, Math.max(equals, 0));
  if (equals < 0 || labelKeyProblems(key).length > 0) {
    wrong("label", "must be a key, an equals sign and a value: app=web");
    return [null, null];
  }
  return [key, label.slice(equals + 1)];
}

export function limitOf(limit: string | null, wrong: Wrong): number {
  if (limit === null) return limitUsual;
  const number = /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (number >= 1 && number <= limitMax) return number;
  wrong("limit", `must be a whole number from 1 to ${limitMax}`);
  return limitUsual;
}

/** Opaque to clients: what is in it may change. */
function cursorAfter(id: number): string {
  return Buffer.from(`id:${id}`).toString("base64url");
}

function afterOf(cursor: string | null, wrong: Wrong): number {
  if (cursor === null) return 0;
  const found = /^id:(\d{1,10})$/.exec(Buffer.from(cursor, "base64url").toString());
  const id = Number(found?.[1] ?? Number.NaN);
  if (id <= integerMax) return id;
  wrong("cursor", "must be one that a list has answered");
  return 0;
}
