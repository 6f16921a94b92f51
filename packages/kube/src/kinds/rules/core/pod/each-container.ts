import type { JsonObject } from "@keelson/base";

import { objectsOf } from "../../members.ts";

export type ContainerList = "initContainers" | "containers" | "ephemeralContainers";

export interface PlacedContainer {
  readonly container: JsonObject;
  readonly list: ContainerList;
  readonly index: number;
}

const lists: readonly ContainerList[] = ["initContainers", "containers", "ephemeralContainers"];

/** All containers of a Pod, init containers first. */
export function allContainers(spec: JsonObject): readonly PlacedContainer[] {
  return lists.flatMap((list) =>
    objectsOf(spec, list).map((container, index) => ({ container, list, index })),
  );
}
