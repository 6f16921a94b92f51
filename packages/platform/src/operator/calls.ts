// How an object is brought up that no change brings: a service has a place for it.

import { keyOf, refOfKey, type ObjectKind, type ObjectRef } from "@keelson/client";
import type { Enqueue, Source } from "@keelson/controller";

/** Objects of both kinds share the services, so that their keys there say the kind. */
export function laneKey({ kind }: Pick<ObjectKind, "kind">, ref: ObjectRef): string {
  return `${kind} ${keyOf(ref)}`;
}

/** A source for each kind that enqueues whom it is told to. */
export class Calls {
  readonly #enqueues = new Map<string, Enqueue>();

  /** By its `laneKey`. Of a kind that nobody sees to, nobody is called. */
  call(key: string): void {
    const space = key.indexOf(" ");
    this.#enqueues.get(key.slice(0, space))?.(refOfKey(key.slice(space + 1)));
  }

  of({ kind }: Pick<ObjectKind, "kind">): Source {
    return {
      untilReady: () => Promise.resolve(),
      start: (enqueue) => {
        this.#enqueues.set(kind, enqueue);
        return { [Symbol.dispose]: () => void this.#enqueues.delete(kind) };
      },
    };
  }
}
