// What handlers read of a request besides its body's members.

import { RestError, validationFailed, type Json } from "@keelson/base";
import type { FastifyRequest } from "fastify";
import { limitOf, type Query } from "./list-query.ts";
import { integerMax } from "./resource.ts";

export function bodyOf(request: FastifyRequest): Json | undefined {
  return request.body as Json | undefined;
}

/** Not a number: 400. A number that no row can have: 404. */
export function idOf(request: FastifyRequest): number {
  const { id } = request.params as { readonly id: string };
  if (!/^[0-9]+$/.test(id)) throw validationFailed({ field: "id", message: "must be a number" });
  const number = Number(id);
  if (number > integerMax) throw new RestError("RESOURCE_NOT_FOUND", "no such resource");
  return number;
}

/** The generation of `If-Match: "3"`; `*` is any. */
export function ifMatchOf(request: FastifyRequest): number | undefined {
  const header = request.headers["if-match"];
  if (header === undefined || header.trim() === "*") return undefined;
  const found = /^\s*(?:W\/)?"([0-9]{1,10})"\s*$/.exec(header);
  // A tag of somebody else's making matches nothing.
  return found === null ? 0 : Number(found[1]);
}

export function revisionsPage(query: Query): { readonly before: number; readonly limit: number } {
  const { before, limit } = query;
  const wrong = (field: string, message: string): never => {
    throw validationFailed({ field, message });
  };
  if (before !== undefined && !(typeof before === "string" && /^\d{1,10}$/.test(before))) {
    return wrong("before", "must be a generation");
  }
  return {
    before: before === undefined ? integerMax : Math.min(Number(before), integerMax),
    limit: limitOf(typeof limit === "string" ? limit : null, wrong),
  };
}
