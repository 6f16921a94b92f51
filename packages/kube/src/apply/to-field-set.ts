import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { FieldSet, type SetNode } from "./field-set.ts";
import { elementOf } from "./list-items.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/** Every leaf, every item and every undeclared or empty member of a value. */
export function toFieldSet(type: MergeType, value: Json): FieldSet {
  const root: SetNode = { isMember: false, children: undefined };
  collect(type, value, root);
  return root.children ?? new FieldSet();
}

/** Marks the node, or what is below it. */
function collect(type: MergeType, value: Json, node: SetNode): void {
  switch (formOf(type, value)) {
    case "scalar":
      node.isMember = true;
      break;
    case "map":
      if (type.map !== undefined) collectMap(type.map, value, node);
      break;
    case "list":
      if (type.list !== undefined) collectList(type.list, value, node);
      break;
    case undefined:
      break;
  }
}

function collectMap(map: MapType, value: Json, node: SetNode): void {
  if (map.isAtomic) {
    node.isMember = true;
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const field = map.fields.get(name);
    const child: SetNode = { isMember: false, children: undefined };
    const type = field?.type ?? map.other;
    if (type !== undefined) collect(type, member, child);
    if (field === undefined || isEmptyOrNull(member)) child.isMember = true;
    if (child.isMember || child.children !== undefined) {
      (node.children ??= new FieldSet()).setField(name, child);
    }
  }
}

function collectList(list: ListType, value: Json, node: SetNode): void {
  if (list.isAtomic) {
    node.isMember = true;
    return;
  }
  if (!isJsonArray(value) || value.length === 0) return;
  const children = (node.children ??= new FieldSet());
  const seen = new Set<string>();
  for (const item of value) {
    const element = elementOf(list, item);
    if (typeof element === "string") continue;
    if (seen.has(element.text)) {
      // Items with the same keys cannot be told apart: only that they are there is known.
      children.setItem({ element, isMember: true, children: undefined });
      continue;
    }
    seen.add(element.text);
    const child = { element, isMember: true, children: undefined };
    collect(list.item, item, child);
    child.isMember = true;
    children.setItem(child);
  }
}

/** Whether a member is there by itself, with nothing in it. */
export function isEmptyOrNull(value: Json): boolean {
  if (value === null) return true;
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}
