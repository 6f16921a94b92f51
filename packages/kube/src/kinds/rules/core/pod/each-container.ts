import type { JsonObject } from "@keelson/base";

import { objectsOf } from "../../../../object/members.ts";

type ContainerList = "initContainers" | "containers" | "ephemeralContainers";

export interface PlacedContainer {
  readonly container: JsonObject;
  readonly list: ContainerList;
  readonly index: number;
}

/** The lists of containers in a spec, in the order in which most rules look at them. */
export const containerLists: readonly ContainerList[] = [
  "initContainers",
  "containers",
  "ephemeralContainers",
];

/** What a status says of containers, list by list. */
export const containerStatusLists = [
  "containerStatuses",
  "initContainerStatuses",
  "ephemeralContainerStatuses",
] as const;

/** All containers of a Pod, init containers first. */
export function allContainers(spec: JsonObject): readonly PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  for (const list of containerLists) {
    for (const [index, container] of objectsOf(spec, list).entries()) {
      placed.push({ container, list, index });
    }
  }
  return placed;
}
