// The namespaces of a cluster that we keep ourselves.

import { NotFound, type Store } from "@keelson/store";

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
      try {
        const { body } = await store.get({ kind: "Namespace", namespace: "", name }, signal);
        return isTerminating(body.value) ? "terminating" : "active";
      } catch (error) {
        if (error instanceof NotFound) return "missing";
        throw error;
      }
    },
  };
}
