// Waiting for the garbage collector, which may be behind what was made.

import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";

import { until } from "../tools/until.ts";

export interface Asked {
  readonly method?: "POST" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
}

/** Whom an object belongs to. */
export type Reference = Readonly<Record<"apiVersion" | "kind" | "name" | "uid", string>>;

export interface Collected {
  readonly namespace: string;
  /** Where the objects are that it should know. */
  readonly collection: string;
  /** One more of them. */
  readonly make: (name: string, ownerReferences: readonly Reference[]) => JsonObject;
  readonly send: (
    request: Asked,
  ) => Promise<{ readonly status: number; readonly text: string; readonly body: unknown }>;
}

/**
 * Resolves when the garbage collector has seen what was made in a collection so far: it hears of it in order, and lets one go that
 * came after. A real one is a process of its own and may be behind; whom it does not know it does not orphan, nor wait for.
 */
export async function untilCollectorKnows(
  { namespace, collection, make, send }: Collected,
  signal: AbortSignal,
): Promise<void> {
  const must = async (request: Asked): Promise<unknown> => {
    const { status, text, body } = await send(request);
    const { method = "GET", path } = request;
    assert.ok(status < 300, `${method} ${path} answered ${status} ${text.slice(0, 500)}`);
    return body;
  };
  const owners = `/api/v1/namespaces/${namespace}/configmaps`;
  const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "known-by" } };
  const made = await must({ method: "POST", path: owners, body: owner });
  const { uid } = (made as { readonly metadata: { readonly uid: string } }).metadata;
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "known-by", uid };
  await must({ method: "POST", path: collection, body: make("known", [reference]) });
  await must({ method: "DELETE", path: `${owners}/known-by` });
  const isKnown = async () => (await send({ path: `${collection}/known` })).status === 404;
  await until(isKnown, signal, "the garbage collector to know");
}
