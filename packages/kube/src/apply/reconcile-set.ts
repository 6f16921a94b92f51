import { FieldSet, type SetNode } from "./field-set.ts";
import { formOf, memberType, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * A stored set, after its schema changed: where a list or map has become atomic, whoever owned a part of it owns
 * the whole. The set itself if nothing of it is concerned.
 */
export function reconcileSet(type: MergeType, set: FieldSet): FieldSet {
  return reconcileInside(type, set) ?? set;
}

/** Undefined if nothing changes. */
function reconcileInside(type: MergeType, set: FieldSet): FieldSet | undefined {
  switch (formOf(type, undefined)) {
    case "map":
      return type.map === undefined ? undefined : reconcileMap(type.map, set);
    case "list":
      return type.list === undefined ? undefined : reconcileList(type.list, set);
    case "scalar":
    case undefined:
      return undefined;
  }
}

function reconcileMap(map: MapType, set: FieldSet): FieldSet | undefined {
  if (map.isDeduced) return undefined;
  let result: FieldSet | undefined;
  for (const [name, node] of set.fields) {
    const type = memberType(map, name);
    const changed = type === undefined ? undefined : reconcileNode(type, node);
    if (changed !== undefined) (result ??= copyOf(set)).setField(name, changed);
  }
  return result;
}

function reconcileList(list: ListType, set: FieldSet): FieldSet | undefined {
  let result: FieldSet | undefined;
  for (const node of set.items.values()) {
    const changed = reconcileNode(list.item, node);
    if (changed !== undefined) {
      (result ??= copyOf(set)).setItem({ element: node.element, ...changed });
    }
  }
  return result;
}

function reconcileNode(type: MergeType, node: SetNode): SetNode | undefined {
  const form = formOf(type, undefined);
  const isWhole = node.isMember && node.children === undefined;
  if (form === "map" && type.map?.isAtomic === true) {
    const hasParts = node.children !== undefined && !node.children.isEmpty;
    return !isWhole && hasParts && !type.map.isDeduced ? whole : undefined;
  }
  if (form === "list" && type.list?.isAtomic === true) return isWhole ? undefined : whole;
  if (node.children === undefined) return undefined;
  const children = reconcileInside(type, node.children);
  return children === undefined ? undefined : { isMember: node.isMember, children };
}

const whole: SetNode = Object.freeze({ isMember: true, children: undefined });

function copyOf(set: FieldSet): FieldSet {
  const copy = new FieldSet();
  for (const [name, node] of set.fields) copy.setField(name, node);
  for (const node of set.items.values()) copy.setItem(node);
  return copy;
}
