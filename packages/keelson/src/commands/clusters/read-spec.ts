// A spec from a file or from standard input.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { usageError } from "../command-error.ts";
import { readManifests } from "../read-manifests.ts";
import type { Session } from "../session.ts";

/** The one object of the file; of one that is whole, as `get -o yaml` shows it, the spec. */
export async function readSpec(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const [first, ...others] = await readManifests(session, [path], { isRecursive: false }, signal);
  if (first === undefined || others.length > 0) {
    throw usageError(`${path} must hold one spec: it has ${others.length + 1} documents`);
  }
  const { spec, resource_version: version } = first.object;
  return version !== undefined && spec !== undefined && isJsonObject(spec) ? spec : first.object;
}
