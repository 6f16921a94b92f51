// The resources that are served now. Custom ones come and go.

import type { Revision } from "@keelson/store";

import type { Model, Resource } from "./resource.ts";

/** What is served, as one immutable state: whoever holds one sees no change. */
export interface Served {
  /** Rises with every change. */
  readonly generation: number;
  /** In the order of discovery. */
  readonly all: readonly Resource[];
}

/**
 * The resources by their address. Sources put theirs in under a name of their own and replace them as a whole;
 * where two sources claim one address, the one that came first keeps it.
 */
export class Registry {
  readonly #sources = new Map<string, readonly Resource[]>();
  readonly #listeners = new Set<() => void>();
  /** Who wants to know when a resource with this model is served no longer. */
  readonly #followers = new Map<Model, Set<(revision: Revision) => void>>();
  #byAddress: ReadonlyMap<string, Resource> = new Map();
  #versions: ReadonlyMap<string, readonly Resource[]> = new Map();
  #groups: ReadonlySet<string> = new Set();
  #models: ReadonlySet<Model> = new Set();
  #served: Served = { generation: 0, all: [] };

  get served(): Served {
    return this.#served;
  }

  /** Serves these, instead of what the source had before; since this revision, where the store has brought them. */
  put(source: string, resources: readonly Resource[], revision: Revision = 0): void {
    this.#sources.set(source, resources);
    const byAddress = new Map<string, Resource>();
    for (const resource of [...this.#sources.values()].flat()) {
      const address = addressOf(resource.group, resource.version, resource.plural);
      if (!byAddress.has(address)) byAddress.set(address, resource);
    }
    this.#byAddress = byAddress;
    const all = [...byAddress.values()];
    this.#versions = Map.groupBy(all, ({ group, version }) => `${group}/${version}`);
    this.#groups = new Set(all.filter(({ isCustom }) => !isCustom).map(({ group }) => group));
    this.#models = new Set(all.map(({ model }) => model));
    this.#served = { generation: this.#served.generation + 1, all };
    for (const listener of this.#listeners) listener();
    this.#tellFollowers(revision);
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byAddress.get(addressOf(group, version, plural));
  }

  /** The resources of a version; undefined if the group has no such version. */
  ofVersion(group: string, version: string): readonly Resource[] | undefined {
    return this.#versions.get(`${group}/${version}`);
  }

  /** Whether a group is there for good, whatever versions of it are served. */
  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Calls `listener` once, when a resource is served no longer or is made anew: its objects may look otherwise, or be another
   * kind's. One that is only closing is what it was. Told is since which revision; 0 if it was so before.
   */
  onReplaced({ model }: Resource, listener: (revision: Revision) => void): Disposable {
    if (!this.#models.has(model)) {
      listener(0);
      return { [Symbol.dispose]: () => undefined };
    }
    const followers = this.#followers.get(model) ?? new Set();
    this.#followers.set(model, followers.add(listener));
    return {
      [Symbol.dispose]: () => {
        followers.delete(listener);
        if (followers.size === 0) this.#followers.delete(model);
      },
    };
  }

  #tellFollowers(revision: Revision): void {
    for (const [model, followers] of this.#followers) {
      if (this.#models.has(model)) continue;
      this.#followers.delete(model);
      for (const follower of followers) follower(revision);
    }
  }
}

function addressOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
