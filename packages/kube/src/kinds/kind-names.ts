// What the built-in kinds are called, without all else that is known of them: for programs that must start fast.

import { completeKind, type BuiltinKind, type KindRecord } from "./builtin-kind.ts";

/** The names of one kind in one version. */
export type KindNames = Pick<
  BuiltinKind,
  "group" | "version" | "kind" | "plural" | "singular" | "shortNames" | "isNamespaced"
>;

/** The kinds whose objects are stored, in the order of discovery. */
export async function loadKindNames(): Promise<readonly KindNames[]> {
  const { default: records } = await import("./data/kinds.json", { with: { type: "json" } });
  return (records as unknown as readonly KindRecord[])
    .map(completeKind)
    .filter(({ listKind }) => listKind !== undefined);
}
