// What a raw writer is: the rows of the store, without the store.

import { writeJson } from "@keelson/base";
import { keyOf, valueOf } from "./fixtures.ts";

/** A row as a raw writer takes it: every column ready to be sent. */
export interface RawRow {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiVersion: string;
  readonly labels: string;
  readonly annotations: string;
  readonly spec: string;
  readonly status: string;
  readonly text: string;
}

/** Each call is one transaction: object rows, log rows and the counter, durable when it resolves. */
export interface RawWriter extends AsyncDisposable {
  create(rows: readonly RawRow[]): Promise<void>;
  /** `before` holds the rows as they are now, in the same order. */
  update(rows: readonly RawRow[], before: readonly RawRow[]): Promise<void>;
}

/** The n-th object, with the body of the `pattern`-th: as the store's own writers make it. */
export function rawRow(pattern: number, version: number): Omit<RawRow, "namespace" | "name"> {
  const value = valueOf(pattern, version);
  const metadata = value["metadata"] as { uid: string; labels: object; annotations: object };
  return {
    group: "ark.mckinsey.com",
    kind: "Query",
    uid: metadata.uid,
    apiVersion: "ark.mckinsey.com/v1alpha1",
    labels: JSON.stringify(metadata.labels),
    annotations: JSON.stringify(metadata.annotations),
    spec: JSON.stringify(value["spec"]),
    status: JSON.stringify(value["status"]),
    text: writeJson(value),
  };
}

/** Gives a row its key. */
export function withKey(row: Omit<RawRow, "namespace" | "name">, n: number): RawRow {
  const { namespace, name } = keyOf(n);
  return { ...row, namespace, name };
}
