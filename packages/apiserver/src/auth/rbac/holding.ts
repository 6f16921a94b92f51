// A rule that somebody holds, made ready to be compared with many others.

import { pathStem, type PolicyRule } from "./policy-rule.ts";

export class Holding {
  readonly #verbs: ReadonlySet<string>;
  readonly #apiGroups: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  readonly #resourceNames: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  /** How the paths begin that a star ends, in order, without those that begin as another does. */
  readonly #stems: readonly string[];

  constructor(rule: PolicyRule) {
    this.#verbs = new Set(rule.verbs);
    this.#apiGroups = new Set(rule.apiGroups);
    this.#resources = new Set(rule.resources);
    this.#resourceNames = new Set(rule.resourceNames);
    this.#paths = new Set(rule.nonResourceURLs);
    this.#stems = shortest(rule.nonResourceURLs.filter((path) => path.endsWith("*")).map(pathStem));
  }

  /** Whether the rule includes all of a part, which speaks of resources or of paths. */
  covers(part: PolicyRule): boolean {
    const names = this.#resourceNames;
    return (
      includesAll(this.#verbs, part.verbs) &&
      includesAll(this.#apiGroups, part.apiGroups) &&
      part.resources.every((resource) => this.#coversResource(resource)) &&
      part.nonResourceURLs.every((path) => this.#coversPath(path)) &&
      (names.size === 0 ||
        (part.resourceNames.length > 0 && part.resourceNames.every((name) => names.has(name))))
    );
  }

  #coversResource(resource: string): boolean {
    const resources = this.#resources;
    if (resources.has("*") || resources.has(resource)) return true;
    const slash = resource.indexOf("/");
    return slash >= 0 && resources.has(`*${resource.slice(slash)}`);
  }

  #coversPath(path: string): boolean {
    if (this.#paths.has(path)) return true;
    // As none begins as another does, only the last that is not behind the path can be its beginning.
    let [low, high] = [0, this.#stems.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#stems[middle] ?? "") <= path) low = middle + 1;
      else high = middle;
    }
    const stem = this.#stems[low - 1];
    return stem !== undefined && path.startsWith(stem);
  }
}

function includesAll(owned: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return owned.has("*") || wanted.every((item) => owned.has(item));
}

/** In order, without those that begin as another does. */
function shortest(stems: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const stem of stems.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !stem.startsWith(last)) kept.push(stem);
  }
  return kept;
}
