// In which format a body came: the Content-Type header.

import { unsupportedMediaType } from "../status/failures.ts";

/** The formats of patches. */
export const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export type PatchType = keyof typeof patchTypes;

/** The patches that a built-in kind takes, in the order of messages. */
export const builtInPatches: readonly PatchType[] = ["json", "merge", "strategic", "apply"];

/** The patches that a custom kind takes. */
export const customPatches: readonly PatchType[] = ["json", "merge", "apply"];

/** The format of a body among those that the endpoint reads; none said is the first. Throws `UnsupportedMediaType`. */
export function negotiateBody(header: string, accepted: readonly string[]): string {
  const mediaType = header === "" ? accepted[0] : mediaTypeOf(header);
  if (mediaType !== undefined && accepted.includes(mediaType)) return mediaType;
  throw unsupportedMediaType(accepted);
}

/** The type of a patch; parameters are ignored. Throws `UnsupportedMediaType`, which lists what is accepted (KB 31). */
export function negotiatePatch(header: string, accepted: readonly PatchType[]): PatchType {
  const semicolon = header.indexOf(";");
  const mediaType = semicolon > 0 ? header.slice(0, semicolon) : header;
  const type = accepted.find((candidate) => patchTypes[candidate] === mediaType);
  if (type !== undefined) return type;
  throw unsupportedMediaType(accepted.map((candidate) => patchTypes[candidate]));
}

/** Whether an answer is indented: asked for, or the client looks like a person's (KB §6). */
export function wantsPretty(pretty: string | undefined, userAgent: string): boolean {
  if (pretty !== undefined && pretty !== "") {
    return ["1", "t", "T", "TRUE", "true", "True"].includes(pretty);
  }
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

/** The media type without its parameters, in lower case; undefined if it is none. */
function mediaTypeOf(header: string): string | undefined {
  const [type = ""] = header.split(";", 1);
  const trimmed = type.trim().toLowerCase();
  return /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(trimmed) ? trimmed : undefined;
}
