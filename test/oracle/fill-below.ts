// Objects put into etcd itself: the server would take half a minute for what this does in a second.

import type { Oracle } from "./cluster.ts";

/** The most operations of one transaction of etcd. */
const putsMax = 128;

interface Filled {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

/** Puts objects of a kind that lives in namespaces below the server; `resource` is `configmaps`, `pods`. */
export async function fillBelow(
  oracle: Oracle,
  {
    resource,
    count,
    object,
  }: { resource: string; count: number; object: (index: number) => Filled },
  signal: AbortSignal,
): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const put = (index: number): object => {
    const value = object(index);
    const { namespace = "default", name = "" } = value.metadata;
    const creationTimestamp = "2026-01-01T00:00:00Z";
    const metadata = { uid: crypto.randomUUID(), creationTimestamp, ...value.metadata };
    const key = base64(`/registry/${resource}/${namespace}/${name}`);
    return { requestPut: { key, value: base64(JSON.stringify({ ...value, metadata })) } };
  };
  for (let start = 0; start < count; start += putsMax) {
    const length = Math.min(putsMax, count - start);
    const success = Array.from({ length }, (_, i) => put(start + i));
    const body = JSON.stringify({ success });
    const response = await fetch(`${oracle.etcdUrl}/v3/kv/txn`, { method: "POST", body, signal });
    const text = await response.text();
    if (!response.ok) throw new Error(`etcd refused to be filled: ${text}`);
  }
}
