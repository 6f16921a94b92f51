// Which part of an object each of its subresources writes. Everything else stays as it is stored.

import { cloneJson, isJsonObject, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { objectAt } from "../fields.ts";
import { metadataOf, ownMetadata } from "../object-metadata.ts";
import type { Resource } from "../resources/resource.ts";

interface Change {
  /** As it was sent; changed in place. */
  readonly next: MutableJsonObject;
  readonly live: JsonObject;
}

/** Takes the live object but for the part that the subresource writes. */
export function keepAllBut(resource: Resource, subresource: string, change: Change): void {
  const rule = Object.hasOwn(parts, subresource) ? parts[subresource] : undefined;
  if (rule === undefined) throw new Error(`nothing is written through ${subresource}`);
  const { next, live } = change;
  const sent = { ...next };
  keepMetadata(resource, subresource, change);
  for (const name of Object.keys(next)) {
    if (name !== "metadata") delete next[name];
  }
  for (const name of Object.keys(live)) {
    if (name !== "metadata") copyMember(next, live, name);
  }
  rule(next, sent);
}

type Part = (next: MutableJsonObject, sent: JsonObject) => void;

const parts: Readonly<Record<string, Part>> = {
  status: (next, sent) => copyMember(next, sent, "status"),
  /** Of a namespace. */
  finalize: (next, sent) => copyMember(next, sent, "spec"),
  /** Of a certificate signing request: whether it is approved. */
  approval: (next, sent) => {
    copyMember(ownObject(next, "status"), objectAt(sent, "status"), "conditions");
  },
  /** Of a pod: the node it runs on. */
  binding: (next, sent) => {
    copyMember(next, sent, "spec");
    copyMember(next, sent, "status");
  },
  ephemeralcontainers: (next, sent) => {
    copyMember(ownObject(next, "spec"), objectAt(sent, "spec"), "ephemeralContainers");
  },
  /** Of a pod: which part of the spec is taken is a rule of its own. */
  resize: (next, sent) => copyMember(next, sent, "spec"),
};

/** Who manages what is written through; of some kinds also labels and annotations (KB §4). */
function keepMetadata(resource: Resource, subresource: string, { next, live }: Change): void {
  const sent = ownMetadata(next);
  const isOfPods = subresource === "ephemeralcontainers" || subresource === "resize";
  if ((resource.switches.statusWritesMetadata && !isOfPods) || subresource === "binding") {
    copyMember(sent, metadataOf(live), "generation");
    return;
  }
  if (resource.statusWritesAnnotations === true) {
    copyMember(sent, metadataOf(live), "labels");
    copyMember(sent, metadataOf(live), "generation");
    return;
  }
  const kept = cloneJson(metadataOf(live));
  copyMember(kept, sent, "managedFields");
  // What identifies the object is compared, not overwritten: a wrong uid is refused.
  for (const name of ["name", "namespace", "uid"]) {
    if (sent[name] !== undefined) kept[name] = sent[name];
  }
  next["metadata"] = kept;
}

/** Makes a member what it is elsewhere; takes it away where there is none. */
export function copyMember(target: MutableJsonObject, source: JsonObject, name: string): void {
  const value = source[name];
  if (value === undefined) delete target[name];
  else target[name] = cloneJson(value);
}

function ownObject(object: MutableJsonObject, name: string): MutableJsonObject {
  const value = object[name];
  if (isJsonObject(value)) return value;
  const made: MutableJsonObject = {};
  object[name] = made;
  return made;
}
