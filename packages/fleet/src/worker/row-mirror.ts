import { isLater, keyOf, refOf, refOfKey, type DynamicObject, type Mirror } from "@keelson/client";
import { claimedRow } from "./mark.ts";
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
  /** Rows were read since, and there is none. */
  readonly onNobodys: (object: DynamicObject) => void;
}

/** Hands the observer what concerns a row; whatever else is in the cluster costs a look into a map, and its name. */
export class RowMirror implements Mirror {
  readonly #options: RowMirrorOptions;
  /** Objects with our mark that came before their rows were read, the latest of each. */
  readonly #strangers = new Map<string, DynamicObject>();
  /** The names of objects that are no row's. Somebody may come to want one of them, and nothing need change in it then. */
  readonly #others = new Set<string>();
  #version = "";
  #askedMs: number | undefined;

  constructor(options: RowMirrorOptions) {
    this.#options = options;
  }

  known(): string {
    return this.#version;
  }

  /** Everything is asked for now, and handed over by the next `replace`. */
  asked(nowMs: number): void {
    this.#askedMs = nowMs;
  }

  replace(objects: readonly DynamicObject[], version: string): void {
    const { rows, observer, kind, namespace } = this.#options;
    this.#version = version;
    this.#others.clear();
    this.#strangers.clear(); // Those that are there are told of anew; the others went unseen.
    const present = new Set<string>();
    for (const object of objects) {
      present.add(keyOf(refOf(object)));
      this.#tell(object, { type: "present", object });
    }
    for (const [key, ids] of rows.all(kind)) {
      if (present.has(key)) continue;
      if (namespace !== undefined && refOfKey(key).namespace !== namespace) continue;
      for (const id of ids) observer.see(id, { type: "absent", version, askedMs: this.#askedMs });
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

  /** Rows were read, these among them: strangers are known now, or are nobody's. */
  lookAgain(asked: ReadonlySet<number>): void {
    for (const [key, object] of this.#strangers) {
      const ids = this.#rowsOf(object);
      for (const id of ids) this.#options.observer.see(id, { type: "present", object });
      // One that came while they were read has to wait for the next time.
      const mark = claimedRow(object) ?? 0;
      if (!ids.includes(mark) && !asked.has(mark)) continue;
      this.#strangers.delete(key);
      if (ids.length === 0) this.#options.onNobodys(object);
    }
  }

  /** Whether an object of this name is there that was no row's when it was last heard of. */
  isOther(key: string): boolean {
    return this.#others.has(key);
  }

  /** What was read of one of those, now that it is a row's; nothing if the watch has told of it meanwhile. */
  tellOther(key: string, object: DynamicObject): void {
    if (this.#others.has(key)) this.#tell(object, { type: "present", object });
  }

  #tell(object: DynamicObject, seen: Seen): void {
    const ids = this.#rowsOf(object);
    for (const id of ids) this.#options.observer.see(id, seen);
    const key = keyOf(refOf(object));
    this.#strangers.delete(key);
    if (seen.type === "present" && ids.length === 0) this.#others.add(key);
    else this.#others.delete(key);
    if (seen.type === "absent") return;
    const mark = claimedRow(object);
    // Also beside a row that is known: that may be the one before, which is being deleted.
    if (mark === undefined || ids.includes(mark)) return;
    this.#strangers.set(key, object);
    this.#options.onStranger(mark);
  }

  #rowsOf(object: DynamicObject): readonly number[] {
    return this.#options.rows.of(this.#options.kind, keyOf(refOf(object)));
  }
}
