// Which page of which resources a query asks for.

import { refuseProblems, type FieldProblem } from "@keelson/base";
import type { Kind } from "../kinds.ts";
import type { ResourceFilter } from "../sql/lists.ts";
import { namedPhases, phaseNamed, type Phase } from "../status/status.ts";
import { isUuid } from "./uuid.ts";

/** What a query may hold. */
export type Query = Readonly<Record<string, unknown>>;

export interface ListAsked {
  readonly filter: Omit<ResourceFilter, "createdBy">;
  readonly phase: Phase | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly includeSecrets: boolean;
}

const limitUsual = 50;
const offsetMax = 2 ** 31 - 1;

/** Throws `VALIDATION_FAILED` with all that is wrong. Numbers are digits and nothing else. */
export function readListQuery({ limitMax, name: kind }: Kind, query: Query): ListAsked {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, message: string): void => void problems.push({ field, message });
  const text = (field: string): string | undefined => {
    const value = query[field];
    if (value === undefined) return undefined;
    if (typeof value === "string" && !value.includes("\0") && value.isWellFormed()) return value;
    wrong(field, "must be given once, as a text");
    return undefined;
  };
  const number = (
    field: string,
    { min, max, usual }: { readonly min: number; readonly max: number; readonly usual: number },
  ): number => {
    const given = text(field);
    if (given === undefined) return usual;
    const value = /^[0-9]{1,10}$/.test(given) ? Number(given) : -1;
    if (value >= min && value <= max) return value;
    wrong(field, `must be a whole number from ${min} to ${max}`);
    return usual;
  };
  const limit = number("limit", { min: 1, max: limitMax, usual: limitUsual });
  const offset = number("offset", { min: 0, max: offsetMax, usual: 0 });
  const status = text("status");
  const phase = status === undefined ? undefined : phaseNamed(status);
  if (status !== undefined && phase === undefined) {
    wrong("status", `must be one of ${namedPhases.join(", ")}`);
  }
  const clusterId = kind === "nodepool" ? text("clusterId") : undefined;
  if (clusterId !== undefined && !isUuid(clusterId)) wrong("clusterId", "must be a UUID");
  const name = text("name");
  const asked = {
    filter: {
      clusterId: clusterId ?? null,
      platform: text("platform")?.toLowerCase() ?? null,
      name:
        name === undefined ? null : { text: name.replace(/\*$/, ""), isPrefix: name.endsWith("*") },
      includeDeleted: flag(query, "include_deleted", wrong),
    },
    phase,
    limit,
    offset,
    includeSecrets: flag(query, "include_secrets", wrong),
  };
  refuseProblems(problems);
  return asked;
}

export interface GetAsked {
  readonly includeReports: boolean;
  readonly includeDeleted: boolean;
  readonly includeSecrets: boolean;
}

export function readGetQuery(query: Query): GetAsked {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, message: string): void => void problems.push({ field, message });
  const { include } = query;
  if (include !== undefined && include !== "controller_status") {
    wrong("include", "must be controller_status");
  }
  const asked = {
    includeReports: include === "controller_status",
    includeDeleted: flag(query, "include_deleted", wrong),
    includeSecrets: flag(query, "include_secrets", wrong),
  };
  refuseProblems(problems);
  return asked;
}

export interface DeleteAsked {
  readonly force: boolean;
  readonly confirm: Phase | undefined;
}

export function readDeleteQuery(query: Query): DeleteAsked {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, message: string): void => void problems.push({ field, message });
  const { confirm } = query;
  const phase = typeof confirm === "string" ? phaseNamed(confirm) : undefined;
  if (confirm !== undefined && phase === undefined) {
    wrong("confirm", `must be one of ${namedPhases.join(", ")}`);
  }
  const asked = { force: flag(query, "force", wrong), confirm: phase };
  refuseProblems(problems);
  return asked;
}

function flag(
  query: Query,
  field: string,
  wrong: (field: string, message: string) => void,
): boolean {
  const value = query[field];
  if (value !== undefined && value !== "true" && value !== "false") {
    wrong(field, "must be true or false");
  }
  return value === "true";
}
