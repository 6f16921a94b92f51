// Paths in volumes and mounts.

import type { JsonObject } from "@keelson/base";

import { maybeNumber } from "../../../object/members.ts";
import type { Place } from "../place.ts";

/** Reports a path that goes up. */
export function checkNoBacksteps(path: string, at: Place): void {
  if (hasBacksteps(path)) at.invalid(path, "must not contain '..'");
}

export function hasBacksteps(path: string): boolean {
  return path.includes("..") && path.split("/").includes("..");
}

/** Reports a path that is absolute or goes up. */
export function checkDescending(path: string, at: Place): void {
  if (path.startsWith("/")) at.invalid(path, "must be a relative path");
  checkNoBacksteps(path, at);
}

/** Reports a path that no file of a projected volume may have. */
export function checkLocal(path: string, at: Place): void {
  checkDescending(path, at);
  if (path.startsWith("..") && !path.startsWith("../"))
    at.invalid(path, "must not start with '..'");
}

/** Reports permissions that are none. */
export function checkMode(
  source: JsonObject,
  at: Place,
  { name }: { readonly name: string },
): void {
  const mode = maybeNumber(source, name);
  if (mode !== undefined && (mode > 0o777 || mode < 0)) {
    at.child(name).invalid(mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}
