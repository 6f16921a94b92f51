import assert from "node:assert/strict";

import type { HttpClient } from "../tools/http-client.ts";

/** Makes a namespace, which must not be there yet. */
export async function createNamespace(
  { client }: { readonly client: HttpClient },
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  const request = { method: "POST", path: "/api/v1/namespaces", body } as const;
  const { status, text } = await client.send(request, signal);
  assert.equal(status, 201, `${name} was not created: ${text.slice(0, 500)}`);
}
