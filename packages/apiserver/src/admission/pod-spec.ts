// Parts of pods and other kinds that admission looks at and fills in.

import { isJsonArray, isJsonObject, type MutableJsonObject } from "@keelson/base";
import { failures, type StatusError } from "@keelson/kube";

import type { Resource } from "../resources/resource.ts";
import type { AdmissionRequest } from "./admission.ts";

/** Whether a resource is this one, in whatever version. */
export function isResource({ group, plural }: Resource, name: string): boolean {
  return (group === "" ? plural : `${plural}.${group}`) === name;
}

/** The spec of an object that belongs to the caller, made if there is none. */
export function ownSpec(object: MutableJsonObject): MutableJsonObject {
  const { spec } = object;
  if (isJsonObject(spec)) return spec;
  const made: MutableJsonObject = {};
  object["spec"] = made;
  return made;
}

/** The objects of a list that belongs to the caller. */
export function ownItems(object: MutableJsonObject, name: string): readonly MutableJsonObject[] {
  const list = object[name];
  return isJsonArray(list)
    ? list.filter((item): item is MutableJsonObject => isJsonObject(item))
    : [];
}

/** A refusal of what a request asks for. */
export function refused({ resource, name }: AdmissionRequest, why: string): StatusError {
  return failures.forbidden({ group: resource.group, resource: resource.plural }, name, why);
}
