// The events of a watch, from the lines of its stream.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import type { Caller } from "./caller.ts";
import { UnexpectedAnswer } from "./errors.ts";
import { readAnswer } from "./json-parts.ts";
import type { Resource } from "./kinds.ts";
import type { DynamicObject, KubeObject } from "./object.ts";
import { pathOf, queryOf } from "./paths.ts";
import type { Priority } from "./rate-limiter.ts";
import type { Selection } from "./resource-client.ts";
import { statusErrorOfObject } from "./status-answer.ts";

/** A change that a watch carries; a bookmark only says how far it is. */
export type WatchEvent<T extends KubeObject = DynamicObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | {
      readonly type: "BOOKMARK";
      readonly resourceVersion: string;
      /** Whether the state that the watch began with is complete. */
      readonly isInitialEnd: boolean;
    };

export interface WatchRequest extends Selection {
  /** Changes after this one. */
  readonly resourceVersion?: string;
  /** Send the whole state first, then a bookmark that ends it (WatchList). */
  readonly sendInitialEvents?: boolean;
  /** After how many seconds the server ends the stream. */
  readonly timeoutSeconds?: number;
  readonly openTimeoutMs: number;
  readonly priority?: Priority;
}

/**
 * Opens a watch; resolves when the server has accepted it. The events end when the server ends the stream. They
 * reject with a `StatusError` for an `ERROR` in it, with `ConnectionFailed` when it breaks, and with
 * `signal.reason`. Bookmarks are always asked for.
 */
export async function openWatch<T extends KubeObject = DynamicObject>(
  caller: Caller,
  { resource, ...request }: WatchRequest & { readonly resource: Resource },
  signal: AbortSignal,
): Promise<AsyncIterable<WatchEvent<T>>> {
  const { namespace, labelSelector, fieldSelector, openTimeoutMs, priority } = request;
  const { resourceVersion, sendInitialEvents = false, timeoutSeconds } = request;
  const query = queryOf({
    watch: "1",
    allowWatchBookmarks: "true",
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    ...(sendInitialEvents ? { sendInitialEvents, resourceVersionMatch: "NotOlderThan" } : {}),
  });
  const stream = await caller.open(
    {
      method: "GET",
      path: pathOf(resource, { namespace }) + query,
      headers: { accept: "application/json" },
      openTimeoutMs,
      ...(priority === undefined ? {} : { priority }),
    },
    signal,
  );
  return eventsOf<T>(stream.lines);
}

async function* eventsOf<T extends KubeObject>(
  lines: AsyncIterable<string>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of lines) {
    const { type, object } = documentOf(line);
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        yield { type, object: object as unknown as T };
        break;
      case "BOOKMARK":
        yield bookmarkOf(object);
        break;
      case "ERROR":
        throw statusErrorOfObject(object);
      default:
        throw new UnexpectedAnswer(`a watch carried an event of type ${JSON.stringify(type)}`);
    }
  }
}

function documentOf(line: string): { readonly type: unknown; readonly object: JsonObject } {
  let document: unknown;
  try {
    document = readAnswer(line);
  } catch (cause) {
    throw new UnexpectedAnswer("a watch carried a line that is no JSON", { cause });
  }
  if (isJsonObject(document as JsonObject)) {
    const { type, object } = document as JsonObject;
    if (isJsonObject(object) && isJsonObject(memberOf(object, "metadata"))) return { type, object };
  }
  throw new UnexpectedAnswer("a watch carried a document that is no event");
}

function bookmarkOf(object: JsonObject): WatchEvent<never> {
  const { metadata } = object as unknown as KubeObject;
  const { annotations = {}, resourceVersion = "" } = metadata;
  return {
    type: "BOOKMARK",
    resourceVersion,
    isInitialEnd: annotations["k8s.io/initial-events-end"] === "true",
  };
}
