// What a leader may do, and how what it writes is kept apart from what an earlier leader still writes.

import {
  isConflict,
  refOf,
  type KubeObject,
  type ObjectRef,
  type ResourceClient,
} from "@keelson/client";

/** Where the highest token that has written an object is kept. */
export const fencingAnnotation = "keelson.dev/fencing-token";

/** A later leader has written already: whoever sees this leads no more. */
export class Fenced extends Error {
  readonly code = "FENCED";
  readonly token: bigint;
  readonly seen: bigint;

  constructor(token: bigint, seen: bigint) {
    super(`a leader with token ${seen} has written after us, with token ${token}`);
    this.name = "Fenced";
    this.token = token;
    this.seen = seen;
  }
}

/** Another leads, or may. */
export class LeadershipLost extends Error {
  readonly code = "LEADERSHIP_LOST";

  constructor(lease: string) {
    super(`the lease ${lease} is not ours any more`);
    this.name = "LeadershipLost";
  }
}

export interface LeadershipParts {
  /** Its name. */
  readonly lease: string;
  readonly token: bigint;
  readonly isHeld: () => boolean;
  readonly lost: AbortSignal;
}

/** The object that is written. */
export interface FencedTarget<T extends KubeObject> {
  readonly resource: Pick<ResourceClient<T>, "get" | "update">;
  readonly ref: ObjectRef;
}

const conflictTriesMax = 8;

/** One term of leadership. */
export class Leadership {
  /** Higher than that of every earlier leader. Targets that keep the highest one they saw can refuse the lower. */
  readonly token: bigint;
  /** Aborts with `LeadershipLost` when we must take it that another leads; a stop alone does not abort it. */
  readonly lost: AbortSignal;
  readonly #lease: string;
  readonly #isHeld: () => boolean;

  constructor({ lease, token, isHeld, lost }: LeadershipParts) {
    this.token = token;
    this.lost = lost;
    this.#lease = lease;
    this.#isHeld = isHeld;
  }

  /** Whether we may believe that we lead, by our own clock. Only a fenced write is certain. */
  get isHeld(): boolean {
    return this.#isHeld();
  }

  /** Throws `LeadershipLost` unless we may believe that we lead: before whatever cannot be written fenced. */
  throwIfLost(): void {
    if (!this.isHeld) throw new LeadershipLost(this.#lease);
  }

  /** Throws `Fenced` if a later leader has written `object`. */
  check(object: KubeObject): void {
    const seen = fencingTokenOf(object);
    if (seen > this.token) throw new Fenced(this.token, seen);
  }

  /**
   * Changes an object so that no earlier leader can change it afterwards (C13): it reads the object, refuses if a
   * later leader has written it, and writes with its version and our token. Whoever was stopped in between meets
   * a conflict, reads again, and finds the higher token. Rejects with `Fenced`.
   */
  async update<T extends KubeObject>(
    { resource, ref }: FencedTarget<T>,
    change: (object: T) => T,
    signal: AbortSignal,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const object = await resource.get(ref, signal);
      this.check(object);
      try {
        return await resource.update(this.#mark(change(object), object), {}, signal);
      } catch (error) {
        if (!isConflict(error) || attempt === conflictTriesMax) throw error;
      }
    }
  }

  #mark<T extends KubeObject>(changed: T, read: T): T {
    const annotations = {
      ...changed.metadata.annotations,
      [fencingAnnotation]: String(this.token),
    };
    const { resourceVersion = "" } = read.metadata;
    const metadata = { ...changed.metadata, ...refOf(read), annotations, resourceVersion };
    return { ...changed, metadata };
  }
}

/** The token of the last leader that has written an object fenced; zero if none has. */
export function fencingTokenOf({ metadata: { annotations = {} } }: KubeObject): bigint {
  const text = annotations[fencingAnnotation] ?? "";
  return /^\d{1,40}$/.test(text) ? BigInt(text) : 0n;
}
