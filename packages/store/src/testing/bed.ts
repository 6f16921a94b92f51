// What a backend provides so that the contract suite can put it to the test.

import type { Clock } from "@keelson/base";
import type { OnStatement } from "../backend.ts";
import { Body } from "../body.ts";
import type { Key } from "../key.ts";
import type { StoreLimits } from "../limits.ts";
import type { Store } from "../store.ts";
import type { Watch, WatchItem } from "../watch.ts";

export interface OpenOptions {
  readonly clock?: Clock;
  readonly limits?: Partial<StoreLimits>;
  readonly onStatement?: OnStatement;
}

/** One database, on which stores are opened. */
export interface Bed extends AsyncDisposable {
  /** Opens a store on the database; the test disposes of it. */
  open(options?: OpenOptions): Promise<Store>;
  /** Runs SQL behind the store's back; undefined where nobody but the store can reach the tables. */
  readonly sql: ((text: string) => Promise<readonly Record<string, unknown>[]>) | undefined;
  /** The table behind `resources`, for whoever damages an object. */
  readonly objects: string;
}

export interface Fixture {
  readonly name: string;
  /** Why the fixture cannot run here; undefined: it can. */
  readonly missing: string | undefined;
  /** Whether a store that is closed and opened again finds its data. */
  readonly isPersistent: boolean;
  /** Whether several stores may be open on one database. */
  readonly isShared: boolean;
  /** A database without objects. */
  prepare(): Promise<Bed>;
}

export const signal = new AbortController().signal;
export const kind = "Query.ark.mckinsey.com";
export const everywhere = { kind, namespace: "" } as const;

export function key(name: string, namespace = "default"): Key {
  return { kind, namespace, name };
}

let uids = 0;

/** An object with a uid of its own, unless told otherwise. */
export function object(
  name: string,
  { uid = `uid-${(uids += 1)}`, labels, ...rest }: ObjectParts = {},
): Body {
  return Body.of({
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind: "Query",
    metadata: { name, uid, ...(labels === undefined ? {} : { labels }) },
    ...rest,
  });
}

type ObjectParts = {
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [member: string]: string | object | number | bigint | undefined;
} & Partial<Parameters<typeof Body.of>[0]>;

/** Reads a watch until it has carried `count` items. */
export async function take(watch: Watch, count: number): Promise<WatchItem[]> {
  const items: WatchItem[] = [];
  while (items.length < count) {
    const next = await watch.next();
    if (next === undefined) throw new Error(`the watch ended after ${items.length} items`);
    items.push(...next);
  }
  return items;
}

/** A change in the form that comparisons show best. */
export function summary(item: WatchItem): string {
  if (item.type === "BOOKMARK")
    return `BOOKMARK ${item.revision}${item.initialEventsEnd ? " end" : ""}`;
  return `${item.type} ${item.key.name} ${item.revision}`;
}

/** Everything the tables hold, for comparing before and after. */
export async function dump({ sql }: Pick<Bed, "sql">): Promise<Record<string, unknown>> {
  if (sql === undefined) throw new Error("the tables of this fixture cannot be read");
  return {
    resources: await sql(
      "SELECT api_group, kind, namespace, name, resource_version, uid, object FROM resources ORDER BY 1, 2, 3, 4",
    ),
    changes: await sql(
      "SELECT revision, type, namespace, name, uid, object, previous, previous_revision FROM changes ORDER BY 1",
    ),
    counts: await sql(
      "SELECT api_group, kind, namespace, objects FROM counts WHERE objects <> 0 ORDER BY 1, 2, 3",
    ),
    meta: await sql("SELECT head, floor FROM meta"),
  };
}
