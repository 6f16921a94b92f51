import { isLater, keyOf, refOf, refOfKey, type DynamicObject, type Mirror } from "@keelson/client";
import { annotations } from "./desired-object.ts";
import type { Observer, Seen } from "./observer.ts";
import type { WatchedRows } from "./watched-rows.ts";

export interface RowMirrorOptions {
  /** The id of a `WatchedKind`. */
  readonly kind: string;
  /** The namespace that it mirrors; undefined: all of the cluster. */
  readonly namespace: string | undefined;
  readonly rows: WatchedRows;
  readonly observer: Observer;
  /** An object says that it is this row's, and no row of its name is known: it may be new. */
  readonly onStranger: (id: number) => void;
}

/** Hands the observer what concerns a row; whatever else is in the cluster costs a look into a map. */
export class RowMirror implements Mirror {
  readonly #options: RowMirrorOptions;
  /** Objects with our mark that came before their rows were read, the latest of each. */
  readonly #strangers = new Map<string, DynamicObject>();
  #version = "";

  constructor(options: RowMirrorOptions) {
    this.#options = options;
  }

  known(): string {
    return this.#version;
  }

  replace(objects: readonly DynamicObject[], version: string): void {
    const { rows, observer, kind, namespace } = this.#options;
    this.#version = version;
    const present = new Set<string>();
    for (const object of objects) {
      present.add(keyOf(refOf(object)));
      this.#tell(object, { type: "present", object });
    }
    for (const [key, ids] of rows.all(kind)) {
      if (present.has(key)) continue;
      if (namespace !== undefined && refOfKey(key).namespace !== namespace) continue;
      for (const id of ids) observer.see(id, { type: "absent", version });
    }
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: DynamicObject): void {
    const { resourceVersion: version = "" } = object.metadata;
    if (isLater(version, this.#version)) this.#version = version;
    this.#tell(
      object,
      type === "DELETED" ? { type: "absent", version } : { type: "present", object },
    );
  }

  bookmark(version: string): void {
    this.#version = version;
  }

  /** Rows were read: strangers are known now, or are nobody's. */
  lookAgain(): void {
    const strangers = [...this.#strangers.values()];
    this.#strangers.clear();
    for (const object of strangers) {
      for (const id of this.#rowsOf(object)) {
        this.#options.observer.see(id, { type: "present", object });
      }
    }
  }

  #tell(object: DynamicObject, seen: Seen): void {
    const ids = this.#rowsOf(object);
    for (const id of ids) this.#options.observer.see(id, seen);
    if (ids.length > 0) return;
    const key = keyOf(refOf(object));
    if (seen.type === "absent") {
      this.#strangers.delete(key);
      return;
    }
    const mark = Number(object.metadata.annotations?.[annotations.resourceId]);
    if (!Number.isSafeInteger(mark)) return;
    this.#strangers.set(key, object);
    this.#options.onStranger(mark);
  }

  #rowsOf(object: DynamicObject): readonly number[] {
    return this.#options.rows.of(this.#options.kind, keyOf(refOf(object)));
  }
}
