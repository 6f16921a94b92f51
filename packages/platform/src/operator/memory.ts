// What is remembered of an app between two passes, and lost by a restart: what each step came to, so that a
// service that is away holds up nothing that was done, and how often each has failed.

import type { DynamicObject } from "@keelson/client";

import type { Failure } from "../steps/failure.ts";
import type { ResourceType, StepOutcome } from "../steps/step.ts";
import type { Attempt } from "./retry.ts";

/** What a step came to when it was last done. */
export type StepMemory = {
  /** What it was done for: for another one it counts for nothing. */
  readonly stamp: string;
  /** When it was first tried for this stamp, by the monotonic clock. */
  readonly sinceMs: number;
  /** Until then it holds: a success until it is compared again, a failure until it is tried again. */
  readonly untilMs: number;
} & (
  | { readonly outcome: StepOutcome; readonly failure?: undefined }
  | (Attempt & {
      readonly outcome?: undefined;
      /** As it is shown. */
      readonly failure: Failure;
      /** How many objects had gone by then. */
      readonly departures: number;
      /** What it had of children that only its service can give back: it is tried again when one of them is gone. */
      readonly children: readonly DynamicObject[];
    })
);

/** The last attempt of a step, if it has failed. */
export function failedBefore(memory: StepMemory | undefined): Attempt | undefined {
  if (memory?.failure === undefined) return undefined;
  const { reason, attempts, untilMs } = memory;
  return { reason, attempts, untilMs };
}

/** What is counted and told of a step, once its status says so too. */
export interface Untold {
  /** Whether it was done just now. */
  readonly isFresh: boolean;
  /** What was mended that had been done before. */
  readonly repaired: readonly string[];
  /** How long it took until it was there, where it was not. */
  readonly provisionedMs?: number;
}

export interface AppMemory {
  readonly uid: string;
  readonly steps: Map<ResourceType, StepMemory>;
  /** For which stamp a step was last prepared: what it then writes once more is a repair. */
  readonly prepared: Map<ResourceType, string>;
  /** What was last applied for the workload, by kind and name, in digests: to tell repairs from changes. */
  readonly applied: Map<string, string>;
  /** Since when a rollout is under way, and for which stamp. */
  rollout: { readonly stamp: string; readonly sinceMs: number } | undefined;
  /** What was done and is not told yet, since the status that says so has not landed. */
  readonly untold: Map<ResourceType, Untold>;
  /** The last attempt at a pass, where it failed as a whole, and at which generation. */
  failed: (Attempt & { readonly generation: number | undefined }) | undefined;
}

export class Memories {
  readonly #apps = new Map<string, AppMemory>();

  /** That of this very object, new if there is none. */
  of(key: string, uid: string): AppMemory {
    const known = this.#apps.get(key);
    if (known?.uid === uid) return known;
    const memory: AppMemory = {
      uid,
      steps: new Map(),
      prepared: new Map(),
      applied: new Map(),
      rollout: undefined,
      untold: new Map(),
      failed: undefined,
    };
    this.#apps.set(key, memory);
    return memory;
  }

  /** Gives what is forgotten, if there was something. */
  forget(key: string): AppMemory | undefined {
    const memory = this.#apps.get(key);
    this.#apps.delete(key);
    return memory;
  }
}
