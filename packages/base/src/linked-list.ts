// First in, first out, and anybody in the middle may leave: what a queue of waiters needs.

/** A place in a list. Only its list changes its links. */
export interface Place<T> {
  readonly value: T;
  previous: Place<T> | undefined;
  next: Place<T> | undefined;
}

/** A doubly linked list. Every operation takes constant time. */
export class LinkedList<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends a value and returns its place, with which `remove` takes it out again. */
  push(value: T): Place<T> {
    const place: Place<T> = { value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** Takes the oldest place out, if there is one. */
  shift(): Place<T> | undefined {
    const place = this.#first;
    if (place !== undefined) this.remove(place);
    return place;
  }

  /** Takes a place out. It must be in this list. */
  remove(place: Place<T>): void {
    if (place.previous === undefined) this.#first = place.next;
    else place.previous.next = place.next;
    if (place.next === undefined) this.#last = place.previous;
    else place.next.previous = place.previous;
    place.previous = undefined;
    place.next = undefined;
    this.#size--;
  }
}
