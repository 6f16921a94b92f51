// One loop over objects of several kinds: they share its workers, and none of them has any to itself.

import type { ObjectKind, ObjectRef } from "@keelson/client";
import type { Reconciler, Source } from "@keelson/controller";

export interface KindLoop {
  readonly kind: ObjectKind;
  readonly sources: readonly Source[];
  readonly reconcile: Reconciler;
}

/** What a controller of all of them needs. Its keys say the kind, and so do its logs. */
export function sharedQueue(loops: readonly KindLoop[]): Pick<KindLoop, "sources" | "reconcile"> {
  const reconcilers = new Map(loops.map(({ kind, reconcile }) => [kind.kind, reconcile]));
  return {
    sources: loops.flatMap(({ kind, sources }) =>
      sources.map((source): Source => ({
        untilReady: (signal) => source.untilReady(signal),
        start: (enqueue) =>
          source.start((ref, priority) => enqueue(withKind(kind.kind, ref), priority)),
      })),
    ),
    reconcile: async (marked, signal) => {
      const { kind, ref } = withoutKind(marked);
      const reconcile = reconcilers.get(kind);
      if (reconcile === undefined) throw new Error(`nobody sees to ${kind}`);
      return await reconcile(ref, signal);
    },
  };
}

/** In the namespace, before a space, which no namespace has: so those of one kind and namespace take turns. */
function withKind(kind: string, { namespace = "", name }: ObjectRef): ObjectRef {
  return { namespace: `${kind} ${namespace}`, name };
}

function withoutKind({ namespace = "", name }: ObjectRef): {
  readonly kind: string;
  readonly ref: ObjectRef;
} {
  const space = namespace.indexOf(" ");
  return { kind: namespace.slice(0, space), ref: { namespace: namespace.slice(space + 1), name } };
}
