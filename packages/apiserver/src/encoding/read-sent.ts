// A body that must be of a kind, and what is said of one that is nonsense.

import { failures } from "@keelson/kube";

import { readBody, UnreadableBody } from "./read-body.ts";

/** Reads a body. Throws a `StatusError`: what cannot be read is shown, as far as 30 bytes of it tell. */
export function readSent(
  body: Uint8Array,
  { kind }: { readonly kind: string },
  options: Parameters<typeof readBody>[1],
): ReturnType<typeof readBody> {
  try {
    return readBody(body, options);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw failures.badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summaryOf(body)})`,
    );
  }
}

const summaryBytes = 30;

function summaryOf(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, summaryBytes));
  const text = body[0] === 0x7b ? bytes.toString() : bytes.toString("hex");
  return body.length > summaryBytes ? `${text} ...` : text;
}
