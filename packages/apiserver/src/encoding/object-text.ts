// Stored objects as clients of a resource see them, made once for each state of each object.

import { writeJson, type JsonObject } from "@keelson/base";
import type { Body, Revision } from "@keelson/store";

import type { Resource } from "../resources/resource.ts";
import {
  inStoredOrder,
  objectWithRevision,
  partsOfListItem,
  partsWithRevision,
  withRevision,
  type Parts,
} from "./stored-text.ts";

/** The object in the version of the resource; without a resourceVersion if it has none. */
export function objectOf(
  { model }: Resource,
  { body, revision }: { readonly body: Body; readonly revision: Revision | undefined },
): JsonObject {
  const object = model.fromStored(body.value);
  return revision === undefined ? object : objectWithRevision(object, revision);
}

/** The same as JSON text. */
export function objectText(
  resource: Resource,
  { body, revision }: { readonly body: Body; readonly revision: Revision | undefined },
): string {
  const text = servedText(resource, body);
  return revision === undefined ? text : withRevision(text, revision);
}

/** The same as an item of a list, in parts: only those of custom kinds say what they are. */
export function itemParts(
  resource: Resource,
  { body, revision }: { readonly body: Body; readonly revision: Revision },
): Parts {
  const text = servedText(resource, body);
  return resource.isCustom ? partsWithRevision(text, revision) : partsOfListItem(text, revision);
}

/** Texts of objects that are not stored as they are served, by what they were made from. */
const served = new WeakMap<Resource, WeakMap<Body, string>>();

function servedText(resource: Resource, body: Body): string {
  if (resource.model.readsAsStored) return body.text;
  let texts = served.get(resource);
  if (texts === undefined) served.set(resource, (texts = new WeakMap()));
  let text = texts.get(body);
  if (text === undefined) {
    text = writeJson(inStoredOrder(resource.model.fromStored(body.value)));
    texts.set(body, text);
  }
  return text;
}
