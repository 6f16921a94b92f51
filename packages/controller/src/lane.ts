// The ready keys of one priority: those of a group in the order of their coming, the groups in turn.

import { Fifo } from "./fifo.ts";

/** A place in a lane. */
export interface Ticket<T> {
  readonly item: T;
  readonly group: Group<T>;
  isVoid: boolean;
}

interface Group<T> {
  readonly name: string;
  readonly tickets: Fifo<Ticket<T>>;
  /** Tickets that are not void. */
  waiting: number;
}

export class Lane<T> {
  readonly #groups = new Map<string, Group<T>>();
  readonly #turns = new Fifo<Group<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T, groupName: string): Ticket<T> {
    const group = this.#groups.get(groupName) ?? this.#open(groupName);
    const ticket = { item, group, isVoid: false };
    group.tickets.push(ticket);
    group.waiting += 1;
    this.#size += 1;
    return ticket;
  }

  /** Takes an item out of the middle. */
  remove(ticket: Ticket<T>): void {
    ticket.isVoid = true;
    ticket.group.waiting -= 1;
    this.#size -= 1;
  }

  /** The oldest item of the group whose turn it is; the group then waits for the others. */
  shift(): T | undefined {
    for (let group = this.#turns.shift(); group !== undefined; group = this.#turns.shift()) {
      const ticket = firstOf(group);
      if (ticket !== undefined) {
        group.waiting -= 1;
        this.#size -= 1;
      }
      if (group.waiting > 0) this.#turns.push(group);
      else this.#groups.delete(group.name);
      if (ticket !== undefined) return ticket.item;
    }
    return undefined;
  }

  #open(name: string): Group<T> {
    const group: Group<T> = { name, tickets: new Fifo(), waiting: 0 };
    this.#groups.set(name, group);
    this.#turns.push(group);
    return group;
  }
}

function firstOf<T>({ tickets }: Group<T>): Ticket<T> | undefined {
  for (let ticket = tickets.shift(); ticket !== undefined; ticket = tickets.shift()) {
    if (!ticket.isVoid) return ticket;
  }
  return undefined;
}
