// What a caller expects of a resource before changing it.

import { RestError, validationFailed } from "@keelson/base";
import type { Resource } from "./resource.ts";

/** The versions of `If-Match`; undefined is any. */
export type IfMatch = ReadonlySet<string> | undefined;

/** Reads the header: `"v"`, several, or `*`. What is no tag matches nothing. */
export function ifMatchOf(header: string | undefined): IfMatch {
  if (header === undefined || header.trim() === "*") return undefined;
  return new Set([...header.matchAll(/"([^"]*)"/g)].map(([, version = ""]) => version));
}

/** Throws `PRECONDITION_FAILED` with what is there instead. */
export function requireVersion(resource: Resource, ifMatch: IfMatch): void {
  if (ifMatch === undefined || ifMatch.has(resource.resourceVersion)) return;
  const message =
    ifMatch.size === 0
      ? 'If-Match must have the resource_version in quotes, as "…"'
      : `the ${resource.kind} has another resource_version`;
  throw new RestError("PRECONDITION_FAILED", message, { details: currently(resource) });
}

/** Throws `GENERATION_CONFLICT` with what is there instead. */
export function requireGeneration(resource: Resource, expected: number | undefined): void {
  if (expected === undefined || expected === resource.generation) return;
  throw new RestError(
    "GENERATION_CONFLICT",
    `the ${resource.kind} is at generation ${resource.generation}, not ${expected}`,
    { details: currently(resource) },
  );
}

/** The generation that a body expects, in either spelling. Throws where they disagree. */
export function expectedGeneration(body: {
  readonly generation?: number;
  readonly expected_generation?: number;
}): number | undefined {
  const { generation, expected_generation: expected } = body;
  if (generation !== undefined && expected !== undefined && generation !== expected) {
    throw validationFailed({ field: "expected_generation", message: "differs from generation" });
  }
  return generation ?? expected;
}

function currently({ generation, resourceVersion }: Resource) {
  return { generation, resource_version: resourceVersion };
}
