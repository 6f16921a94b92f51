// The namespaces of a cluster that we keep ourselves.

import { type Store } from "@keelson/store";

import { findRow } from "../find-row.ts";
import type { Mirror } from "../mirror.ts";
import { isTerminating } from "../object-metadata.ts";
import type { Namespaces } from "./namespace-lifecycle.ts";

export function storedNamespaces({
  store,
  mirror,
}: {
  readonly store: Store;
  readonly mirror: Pick<Mirror, "get">;
}): Namespaces {
  return {
    isActive: (name) => {
      const mirrored = mirror.get("", name);
      return mirrored !== undefined && !isTerminating(mirrored.object);
    },
    ask: async (name, signal) => {
      const row = await findRow(store, { kind: "Namespace", namespace: "", name }, signal);
      if (row === undefined) return "missing";
      return isTerminating(row.body.value) ? "terminating" : "active";
    },
  };
}
