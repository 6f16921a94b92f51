// A set of fields of an object: what a manager owns, what a change touched.

import { compareBytes } from "../go-text/byte-order.ts";
import { compareItemElements, printItemElement, type ItemElement } from "./item-element.ts";
import type { MergeType } from "./merge-type.ts";
import { memberType } from "./merge-type.ts";

/** One step of a path: a field by its name, or an item. */
export type PathStep = string | ItemElement;

/** What a set says about one field or item: whether it is in the set, and what of its inside is. */
export interface SetNode {
  isMember: boolean;
  children: FieldSet | undefined;
}

/** An item, with what names it. */
interface ItemNode extends SetNode {
  readonly element: ItemElement;
}

const noFields: ReadonlyMap<string, SetNode> = new Map();
const noItems: ReadonlyMap<string, ItemNode> = new Map();

/**
 * A set of paths, as a tree. A path in it says nothing about those above or below it.
 *
 * It may be added to while it is being made; from then on it is shared freely and never changes. Every operation
 * returns a set of its own or one of its arguments.
 */
export class FieldSet {
  /** Not to be changed: `setField` and `setItem` do. */
  fields: ReadonlyMap<string, SetNode> = noFields;
  /** By the text of the element. */
  items: ReadonlyMap<string, ItemNode> = noItems;

  /** A set of these paths. */
  static of(...paths: readonly (readonly PathStep[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** The paths of any of the sets. Two by two: one after the other, the large one would be copied for each small one. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    let left = sets;
    while (left.length > 1) {
      const pairs: FieldSet[] = [];
      for (let i = 0; i < left.length; i += 2) {
        const [one = new FieldSet(), other] = [left[i], left[i + 1]];
        pairs.push(other === undefined ? one : one.union(other));
      }
      left = pairs;
    }
    return left[0] ?? new FieldSet();
  }

  /** Adds a path. The empty one, the whole object, belongs to nobody. */
  insert(path: readonly PathStep[]): void {
    const [step, ...rest] = path;
    if (step === undefined) return;
    const node = this.node(step);
    if (rest.length === 0) node.isMember = true;
    else (node.children ??= new FieldSet()).insert(rest);
  }

  /** What the set says about a step, made if it says nothing yet. */
  node(step: PathStep): SetNode {
    if (typeof step === "string") {
      const known = this.fields.get(step);
      if (known !== undefined) return known;
      const node: SetNode = { isMember: false, children: undefined };
      this.setField(step, node);
      return node;
    }
    const known = this.items.get(step.text);
    if (known !== undefined) return known;
    const node: ItemNode = { element: step, isMember: false, children: undefined };
    this.setItem(node);
    return node;
  }

  /** Says something about a field, in place of what was said. */
  setField(name: string, node: SetNode): void {
    // Most sets have only fields or only items, and a map costs.
    if (this.fields === noFields) this.fields = new Map();
    (this.fields as Map<string, SetNode>).set(name, node);
  }

  /** Says something about an item, in place of what was said. */
  setItem(node: ItemNode): void {
    if (this.items === noItems) this.items = new Map();
    (this.items as Map<string, ItemNode>).set(node.element.text, node);
  }

  /** What the set says about a step, if anything. */
  find(step: PathStep): SetNode | undefined {
    return typeof step === "string" ? this.fields.get(step) : this.items.get(step.text);
  }

  has(path: readonly PathStep[]): boolean {
    const [step, ...rest] = path;
    const node = step === undefined ? undefined : this.find(step);
    if (node === undefined) return false;
    return rest.length === 0 ? node.isMember : (node.children?.has(rest) ?? false);
  }

  get isEmpty(): boolean {
    for (const node of this.fields.values()) if (!isEmptyNode(node)) return false;
    for (const node of this.items.values()) if (!isEmptyNode(node)) return false;
    return true;
  }

  /** How many paths there are. */
  get size(): number {
    let size = 0;
    for (const node of this.fields.values()) size += sizeOf(node);
    for (const node of this.items.values()) size += sizeOf(node);
    return size;
  }

  /** The paths in both or in either. */
  union(other: FieldSet): FieldSet {
    if (other === this || isBare(other)) return this;
    if (isBare(this)) return other;
    return FieldSet.#from(unite(this.fields, other.fields), unite(this.items, other.items));
  }

  /** The paths in both. */
  intersection(other: FieldSet): FieldSet {
    if (other === this) return this;
    return FieldSet.#from(intersect(this.fields, other.fields), intersect(this.items, other.items));
  }

  /** The paths of this set that are not in the other. A path in the other takes away itself, not what is below it. */
  difference(other: FieldSet): FieldSet {
    if (isBare(other)) return this;
    const fields = subtract(this.fields, other.fields, subtractNode);
    const items = subtract(this.items, other.items, subtractNode);
    return fields === this.fields && items === this.items ? this : FieldSet.#from(fields, items);
  }

  /** As `difference`, but a path in the other takes away all that is below it too. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (isBare(other)) return this;
    const fields = subtract(this.fields, other.fields, subtractSubtree);
    const items = subtract(this.items, other.items, subtractSubtree);
    return fields === this.fields && items === this.items ? this : FieldSet.#from(fields, items);
  }

  /** The set, with each declared field that has something below it. */
  withNamedFields(type: MergeType | undefined): FieldSet {
    const result = new FieldSet();
    const map = type?.map;
    for (const [name, node] of this.fields) {
      const isNamed = node.children !== undefined && map?.fields.has(name) === true;
      const inner = map === undefined ? undefined : memberType(map, name);
      result.setField(name, {
        isMember: node.isMember || isNamed,
        children: node.children?.withNamedFields(inner),
      });
    }
    for (const node of this.items.values()) {
      const inner = node.element.kind === "key" ? type?.list?.item : undefined;
      result.setItem({
        element: node.element,
        isMember: node.isMember,
        children: node.children?.withNamedFields(inner),
      });
    }
    return result;
  }

  /** The paths in order: those that end at a level before those that go on. */
  *paths(prefix: readonly PathStep[] = []): Generator<readonly PathStep[]> {
    const sorted = this.sortedNodes();
    for (const [step, node] of sorted) if (node.isMember) yield [...prefix, step];
    for (const [step, node] of sorted) {
      if (node.children !== undefined) yield* node.children.paths([...prefix, step]);
    }
  }

  /** What the set says, in order: fields by name, then items. */
  sortedNodes(): (readonly [PathStep, SetNode])[] {
    const result: (readonly [PathStep, SetNode])[] = [];
    const names = [...this.fields.keys()];
    if (names.length > 1) names.sort(compareBytes);
    for (const name of names) {
      const node = this.fields.get(name);
      if (node !== undefined) result.push([name, node]);
    }
    if (this.items.size > 0) {
      const items = [...this.items.values()];
      if (items.length > 1) items.sort((a, b) => compareItemElements(a.element, b.element));
      for (const node of items) result.push([node.element, node]);
    }
    return result;
  }

  static #from(
    fields: ReadonlyMap<string, SetNode>,
    items: ReadonlyMap<string, ItemNode>,
  ): FieldSet {
    const set = new FieldSet();
    if (fields.size > 0) set.fields = fields;
    if (items.size > 0) set.items = items;
    return set;
  }
}

/** `.spec.containers[name="web"].image`. */
export function printPath(path: readonly PathStep[]): string {
  return path
    .map((step) => (typeof step === "string" ? `.${step}` : printItemElement(step)))
    .join("");
}

function isEmptyNode(node: SetNode): boolean {
  return !node.isMember && (node.children === undefined || node.children.isEmpty);
}

function sizeOf({ isMember, children }: SetNode): number {
  return (isMember ? 1 : 0) + (children?.size ?? 0);
}

/** Whether a set has no nodes at all: cheaper than `isEmpty`, and it need not be exact. */
function isBare(set: FieldSet): boolean {
  return set.fields.size === 0 && set.items.size === 0;
}

function unite<Node extends SetNode>(
  left: ReadonlyMap<string, Node>,
  right: ReadonlyMap<string, Node>,
): ReadonlyMap<string, Node> {
  if (right.size === 0) return left;
  if (left.size === 0) return right;
  const result = new Map<string, Node>();
  for (const [key, node] of left) {
    const other = right.get(key);
    result.set(key, other === undefined || other === node ? node : uniteNodes(node, other));
  }
  for (const [key, node] of right) if (!left.has(key)) result.set(key, node);
  return result;
}

function uniteNodes<Node extends SetNode>(a: Node, b: Node): Node {
  const children =
    a.children === undefined || b.children === undefined
      ? (a.children ?? b.children)
      : a.children.union(b.children);
  return { ...a, isMember: a.isMember || b.isMember, children };
}

function intersect<Node extends SetNode>(
  left: ReadonlyMap<string, Node>,
  right: ReadonlyMap<string, Node>,
): ReadonlyMap<string, Node> {
  const result = new Map<string, Node>();
  for (const [key, node] of left) {
    const other = right.get(key);
    if (other === undefined) continue;
    const both =
      node.children === undefined || other.children === undefined
        ? undefined
        : node.children.intersection(other.children);
    const children = both === undefined || isBare(both) ? undefined : both;
    const isMember = node.isMember && other.isMember;
    if (isMember || children !== undefined) result.set(key, { ...node, isMember, children });
  }
  return result;
}

/** What is left of a node: itself if nothing was taken, undefined if nothing is left. */
type Subtract = (node: SetNode, other: SetNode) => SetNode | undefined;

function subtract<Node extends SetNode>(
  left: ReadonlyMap<string, Node>,
  right: ReadonlyMap<string, Node>,
  rule: Subtract,
): ReadonlyMap<string, Node> {
  let result: Map<string, Node> | undefined;
  // Many small sets may be taken from by one large change: each is walked by its own keys.
  for (const key of (left.size < right.size ? left : right).keys()) {
    const node = left.get(key);
    const other = right.get(key);
    if (node === undefined || other === undefined) continue;
    const rest = rule(node, other);
    if (rest === node) continue;
    result ??= new Map(left);
    if (rest === undefined) result.delete(key);
    else result.set(key, { ...node, ...rest });
  }
  return result ?? left;
}

function subtractNode(node: SetNode, other: SetNode): SetNode | undefined {
  const isMember = node.isMember && !other.isMember;
  let children = node.children;
  if (children !== undefined && other.children !== undefined) {
    const rest = children.difference(other.children);
    children = rest.isEmpty ? undefined : rest;
  }
  if (isMember === node.isMember && children === node.children) return node;
  return isMember || children !== undefined ? { isMember, children } : undefined;
}

function subtractSubtree(node: SetNode, other: SetNode): SetNode | undefined {
  if (other.isMember) return undefined;
  let children = node.children;
  if (children !== undefined && other.children !== undefined) {
    const rest = children.recursiveDifference(other.children);
    children = rest.isEmpty ? undefined : rest;
  }
  if (children === node.children) return node;
  return node.isMember || children !== undefined
    ? { isMember: node.isMember, children }
    : undefined;
}
