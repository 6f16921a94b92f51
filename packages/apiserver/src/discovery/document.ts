// Documents that are the same for everybody: asked for by path, answered as ready bytes.

import { createHash } from "node:crypto";

/** What is asked for. */
export interface DocumentRequest {
  /** Without its query: `/apis/apps/v1`. */
  readonly path: string;
  /** The `Accept` header; empty without one. */
  readonly accept: string;
  readonly ifNoneMatch?: string | undefined;
  /** The parameter `hash`, by which OpenAPI documents are named for ever. */
  readonly hash?: string | undefined;
}

/** What is answered: everything but the headers that every answer has. */
export interface DocumentAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export const noBytes = new Uint8Array();

/** How clients keep a document that may change. */
export const revalidated = "no-cache, private";

/** The name of a content, as `ETag` and `hash` have it, without quotes. */
export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha512").update(bytes).digest("hex").toUpperCase();
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}
