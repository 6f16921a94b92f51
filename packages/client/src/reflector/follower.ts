// One watch, and how what it brings reaches the mirror.

import { keyOf, refOf, type KubeObject } from "../object.ts";
import { isLater } from "../resource-version.ts";
import type { WatchEvent } from "../watch.ts";
import type { Mirror } from "./mirror.ts";
import { hasOwed, isOwedStill, owedBy, type Owed } from "./owed.ts";

export interface FollowParts<T> {
  readonly request: {
    readonly from?: string;
    readonly sendInitialEvents?: boolean;
    readonly timeoutSeconds: number;
  };
  readonly isShort?: boolean;
  /** Where the mirror is, if it is anywhere. */
  readonly version?: string;
  /** What the state is gathered in, when it comes first. */
  readonly initial?: Map<string, T>;
}

/** The server sends changes as if the state had not been asked for. */
export class NoInitialEnd extends Error {
  constructor() {
    super("a watch goes on and its state does not end");
    this.name = "NoInitialEnd";
  }
}

/** A version went back: what we know of is not what is. */
export class WentBack extends Error {
  constructor(version: string, known: string) {
    super(`a watch is at version ${version}, after ${known}`);
    this.name = "WentBack";
  }
}

/** Hands the events of one watch to the mirror. */
export class Follower<T extends KubeObject> {
  readonly #mirror: Mirror<T>;
  readonly #known: string;
  readonly #owed: Owed;
  #initial: Map<string, T> | undefined;
  version: string | undefined;
  heard: "changes" | "bookmark" | "nothing" = "nothing";

  constructor(mirror: Mirror<T>, { initial, version }: FollowParts<T>) {
    this.#mirror = mirror;
    this.#known = mirror.known();
    this.#owed = owedBy(mirror);
    this.#initial = initial;
    this.version = version;
  }

  /** Whether the mirror has a whole state. */
  get isLevel(): boolean {
    return this.#initial === undefined;
  }

  /** Whether the watch did not come to what was known when it began. */
  get isBehind(): boolean {
    return isLater(this.#known, this.version ?? "") || isOwedStill(this.#mirror, this.#owed);
  }

  take(event: WatchEvent<T>): void {
    if (this.#initial !== undefined) this.#gather(event, this.#initial);
    else if (event.type === "BOOKMARK") this.#bookmark(event.resourceVersion);
    else this.#change(event.type, event.object);
  }

  #gather(event: WatchEvent<T>, initial: Map<string, T>): void {
    if (event.type === "BOOKMARK") {
      // Whoever honours the request ends the state with its first bookmark.
      if (!event.isInitialEnd) throw new NoInitialEnd();
      this.#initial = undefined;
      this.version = event.resourceVersion;
      this.heard = "changes";
      const items = [...initial.values()];
      const isBack = isLater(this.#known, event.resourceVersion) || hasOwed(items, this.#owed);
      this.#mirror.replace(items, event.resourceVersion, { isBack });
    } else if (event.type === "DELETED") {
      initial.delete(keyOf(refOf(event.object)));
    } else {
      initial.set(keyOf(refOf(event.object)), event.object);
    }
  }

  #bookmark(version: string): void {
    this.#refuseOlder(version);
    this.version = version;
    if (this.heard === "nothing") this.heard = "bookmark";
    this.#mirror.bookmark(version);
  }

  #change(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void {
    const { resourceVersion: version = "" } = object.metadata;
    this.#refuseOlder(version);
    this.version = version;
    this.heard = "changes";
    this.#mirror.change(type, object);
  }

  #refuseOlder(version: string): void {
    const known = this.version;
    if (known !== undefined && version !== known && isLater(known, version)) {
      throw new WentBack(version, known);
    }
  }
}
