// A body that must be of a kind, and what is said of one that is nonsense.

import { failures, unrecognizedMessage } from "@keelson/kube";

import { readBody, UnreadableBody } from "./read-body.ts";

/** Reads a body. Throws a `StatusError`: what cannot be read is shown, as far as a few bytes of it tell. */
export function readSent(
  body: Uint8Array,
  { kind }: { readonly kind: string },
  options: Parameters<typeof readBody>[1],
): ReturnType<typeof readBody> {
  try {
    return readBody(body, options);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw failures.badRequest(unrecognizedMessage(kind, error.message, body));
  }
}
