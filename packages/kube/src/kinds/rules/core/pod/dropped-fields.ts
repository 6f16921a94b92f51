// Fields that are behind feature gates that are off: taken out, unless the old object has them already.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import {
  has,
  maybeObject,
  objectOf,
  objectsOf,
  writableObject,
  writableObjects,
} from "../../../../object/members.ts";
import { allContainers, containerLists, containerStatusLists } from "./each-container.ts";

/** Takes out of the spec of a Pod what is not served. */
export function dropDisabledFields(spec: MutableJsonObject, old: JsonObject | undefined): void {
  for (const projection of ["clusterTrustBundle", "podCertificate"]) {
    if (old !== undefined && hasProjection(old, projection)) continue;
    for (const volume of writableObjects(spec, "volumes")) {
      const projected = writableObject(volume, "projected");
      if (projected === undefined) continue;
      for (const source of writableObjects(projected, "sources")) delete source[projection];
    }
  }
  if (old === undefined || !has(old, "schedulingGroup")) delete spec["schedulingGroup"];
  if (old === undefined || !hasStopSignal(old)) {
    for (const list of containerLists) {
      for (const container of writableObjects(spec, list)) dropStopSignal(container);
    }
  }
}

/** Takes out of the status of a Pod what is not served. */
export function dropDisabledStatusFields(status: MutableJsonObject, old: JsonObject): void {
  if (!has(old, "nodeAllocatableResourceClaimStatuses")) {
    delete status["nodeAllocatableResourceClaimStatuses"];
  }
  const isInUse = containerStatusLists.some((list) =>
    objectsOf(old, list).some((own) =>
      objectsOf(own, "volumeMounts").some((mount) => has(mount, "volumeStatus")),
    ),
  );
  if (isInUse) return;
  for (const list of containerStatusLists) {
    for (const own of writableObjects(status, list)) {
      for (const mount of writableObjects(own, "volumeMounts")) delete mount["volumeStatus"];
    }
  }
}

/** A lifecycle that was nothing but a signal is gone with it. */
function dropStopSignal(container: MutableJsonObject): void {
  const lifecycle = writableObject(container, "lifecycle");
  if (lifecycle === undefined || !Object.hasOwn(lifecycle, "stopSignal")) return;
  delete lifecycle["stopSignal"];
  if (Object.keys(lifecycle).length === 0) delete container["lifecycle"];
}

function hasProjection(spec: JsonObject, name: string): boolean {
  return objectsOf(spec, "volumes").some((volume) =>
    objectsOf(objectOf(volume, "projected"), "sources").some((source) => has(source, name)),
  );
}

function hasStopSignal(spec: JsonObject): boolean {
  return allContainers(spec).some(({ container }) => {
    const lifecycle = maybeObject(container, "lifecycle");
    return lifecycle !== undefined && has(lifecycle, "stopSignal");
  });
}
