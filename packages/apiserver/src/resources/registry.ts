// The resources that are served now. Custom ones come and go.

import type { Resource } from "./resource.ts";

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
  #byAddress: ReadonlyMap<string, Resource> = new Map();
  #versions: ReadonlyMap<string, readonly Resource[]> = new Map();
  #groups: ReadonlySet<string> = new Set();
  #served: Served = { generation: 0, all: [] };

  get served(): Served {
    return this.#served;
  }

  /** Serves these, instead of what the source had before. */
  put(source: string, resources: readonly Resource[]): void {
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
    this.#served = { generation: this.#served.generation + 1, all };
    for (const listener of this.#listeners) listener();
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
}

function addressOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
