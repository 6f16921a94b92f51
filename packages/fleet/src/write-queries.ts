// What the query of a write may ask. A write that was meant as a trial must never be carried out.

import { validationFailed } from "@keelson/base";
import type { FastifyRequest } from "fastify";

const names = ["dryRun", "orphan"];

/** Refuses a write with a parameter that nobody would heed: a misspelt one must not be taken for none. */
export async function refuseUnknownQueries(request: FastifyRequest): Promise<void> {
  if (request.method === "GET" || request.method === "HEAD") return;
  for (const field of Object.keys(request.query as object)) {
    if (!names.includes(field))
      throw validationFailed({ field, message: "is not a known parameter" });
  }
  const { isTriable = false } = request.routeOptions.config as { readonly isTriable?: boolean };
  if (flagOf(request, "dryRun") && !isTriable) {
    throw validationFailed({ field: "dryRun", message: "is not possible for this request" });
  }
}

/** A parameter that is true or false, and false where it is not given. */
export function flagOf(request: FastifyRequest, name: string): boolean {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  throw validationFailed({ field: name, message: "must be true or false" });
}
