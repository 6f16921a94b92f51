// The columns `kubectl get` shows for a kind.

import type { Oracle } from "../cluster.ts";
import { collectionPath } from "./paths.ts";
import type { DiscoveredKind } from "./discovery.ts";

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** Asks for an empty Table. Undefined for what cannot be listed. */
export async function columnsOf(
  oracle: Oracle,
  kind: DiscoveredKind,
  signal: AbortSignal,
): Promise<readonly Column[] | undefined> {
  if (!kind.verbs.includes("list")) return undefined;
  const path = `${collectionPath(kind)}?limit=1`;
  const { status, body, text } = await oracle.client.send({ path, headers: { accept } }, signal);
  if (status !== 200) throw new Error(`no table of ${kind.plural}: ${text}`);
  const { columnDefinitions } = body as { columnDefinitions: (Column & { description: string })[] };
  return columnDefinitions.map(({ name, type, format, priority }) => ({
    name,
    type,
    format,
    priority,
  }));
}
