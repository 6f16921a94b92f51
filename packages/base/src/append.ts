/**
 * Appends items to a list, however many: `push(...items)` passes each as an argument, and fails where the stack has no
 * room for them.
 */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}
