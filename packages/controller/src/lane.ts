// The ready keys of one priority: those of a group in the order of their coming, the groups in turn.

import { LinkedList, type Place } from "@keelson/base";

/** A place in a lane. */
export interface Ticket<T> {
  readonly group: Group<T>;
  readonly place: Place<T>;
}

interface Group<T> {
  readonly name: string;
  readonly items: LinkedList<T>;
}

export class Lane<T> {
  readonly #groups = new Map<string, Group<T>>();
  /** Groups that may have something; one that was emptied from the middle is passed over in its turn. */
  readonly #turns = new LinkedList<Group<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T, groupName: string): Ticket<T> {
    const group = this.#groups.get(groupName) ?? this.#open(groupName);
    this.#size += 1;
    return { group, place: group.items.push(item) };
  }

  /** Takes an item out of the middle. */
  remove({ group, place }: Ticket<T>): void {
    group.items.remove(place);
    this.#size -= 1;
  }

  /** The oldest item of the group whose turn it is; the group then waits for the others. */
  shift(): T | undefined {
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      const group = turn.value;
      const oldest = group.items.shift();
      if (group.items.size > 0) this.#turns.push(group);
      else this.#groups.delete(group.name);
      if (oldest === undefined) continue;
      this.#size -= 1;
      return oldest.value;
    }
    return undefined;
  }

  #open(name: string): Group<T> {
    const group: Group<T> = { name, items: new LinkedList() };
    this.#groups.set(name, group);
    this.#turns.push(group);
    return group;
  }
}
