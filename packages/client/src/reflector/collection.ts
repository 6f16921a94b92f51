// A collection as a reflector sees it: read as a whole, watched from a version. The simulation has one of its own.

import type { Caller } from "../caller.ts";
import type { Resource } from "../kinds.ts";
import type { DynamicObject, KubeObject } from "../object.ts";
import type { Priority } from "../rate-limiter.ts";
import { ResourceClient, type List, type Selection } from "../resource-client.ts";
import { openWatch, type WatchEvent } from "../watch.ts";

export interface CollectionWatch {
  /** Left out with `sendInitialEvents`: then the whole state comes first. */
  readonly from?: string;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds: number;
  readonly openTimeoutMs: number;
}

export interface Collection<T extends KubeObject = DynamicObject> {
  /** As `Access` says. */
  readonly isInProcess: boolean;
  /** Everything, as of one version. */
  list(signal: AbortSignal): Promise<List<T>>;
  /** As `openWatch`. */
  watch(request: CollectionWatch, signal: AbortSignal): Promise<AsyncIterable<WatchEvent<T>>>;
  /** The version of the collection now. */
  probe(signal: AbortSignal): Promise<string>;
  /** From here on, other connections. */
  renewConnections(): void;
}

export interface CollectionOptions {
  readonly client: Caller & {
    readonly transport: { renewConnections(reason: "silence"): void };
    readonly isInProcess: boolean;
  };
  readonly resource: Resource;
  readonly selection?: Selection;
  readonly priority?: Priority;
}

/** A collection of a cluster. */
export function collectionOf<T extends KubeObject = DynamicObject>({
  client,
  resource,
  selection = {},
  priority = "normal",
}: CollectionOptions): Collection<T> {
  const objects = new ResourceClient<T>(client, resource);
  return {
    isInProcess: client.isInProcess,
    list: (signal) => objects.list({ ...selection, priority, timeoutMs: listTimeoutMs }, signal),
    watch: ({ from, ...request }, signal) =>
      openWatch<T>(
        client,
        {
          ...selection,
          ...request,
          resource,
          priority,
          ...(from === undefined ? {} : { resourceVersion: from }),
        },
        signal,
      ),
    probe: async (signal) => {
      const pages = objects.pages({ ...selection, limit: 1, timeoutMs: probeTimeoutMs }, signal);
      for await (const { resourceVersion } of pages) return resourceVersion;
      return "";
    },
    renewConnections: () => client.transport.renewConnections("silence"),
  };
}

/** A page; a list has as much time for each of its pages. */
const listTimeoutMs = 60_000;
const probeTimeoutMs = 10_000;
