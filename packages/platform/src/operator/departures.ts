// Whoever waits for what is somebody else's looks again when anybody has gone: it may have been theirs.

import type { DynamicObject } from "@keelson/client";
import type { ObjectCache } from "@keelson/controller";

import { statusOf } from "./object-status.ts";

export class Departures {
  #count = 0;

  /** How many have gone so far: a conflict is judged again when it is another. */
  get count(): number {
    return this.#count;
  }

  /** Until it is disposed of, brings up all in these caches that are in conflict when an object of one of them has gone. */
  follow(caches: readonly ObjectCache[], call: (object: DynamicObject) => void): Disposable {
    const followings = caches.map((cache) =>
      cache.subscribe(({ type }) => {
        if (type !== "deleted") return;
        this.#count += 1;
        for (const one of caches) [...one.list()].filter(isInConflict).forEach(call);
      }),
    );
    return {
      [Symbol.dispose]: () => {
        for (const following of followings) following[Symbol.dispose]();
      },
    };
  }
}

function isInConflict(object: DynamicObject): boolean {
  return (statusOf(object).conditions ?? []).some(({ reason }) => reason === "Conflict");
}
