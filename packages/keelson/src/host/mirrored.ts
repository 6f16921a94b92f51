// What we remember of a collection of the host.

import {
  isLater,
  laterOf,
  refOf,
  type KubeObject,
  type Mirror,
  type ReflectorState,
} from "@keelson/client";

/** One value per object, by its name; level with the host while `isLive`. */
export class Mirrored<T extends KubeObject, V> implements Mirror<T> {
  readonly #read: (object: T) => V;
  readonly #values = new Map<string, V>();
  #version = "";
  #isLive = false;

  constructor(read: (object: T) => V) {
    this.#read = read;
  }

  /** Whether it shows the host as of a moment ago. */
  get isLive(): boolean {
    return this.#isLive;
  }

  get(name: string): V | undefined {
    return this.#values.get(name);
  }

  readonly onState = (state: ReflectorState): void => {
    this.#isLive = state === "live";
  };

  known(): string {
    return this.#version;
  }

  replace(objects: readonly T[], version: string): void {
    this.#values.clear();
    for (const object of objects) this.#values.set(refOf(object).name, this.#read(object));
    this.#version = version;
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void {
    const { name } = refOf(object);
    const { resourceVersion = "" } = object.metadata;
    if (type === "DELETED") this.#values.delete(name);
    else this.#values.set(name, this.#read(object));
    this.#version = laterOf(this.#version, resourceVersion);
  }

  bookmark(version: string): void {
    if (isLater(version, this.#version)) this.#version = version;
  }
}
