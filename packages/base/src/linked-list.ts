// First in, first out, and anybody in the middle may leave: what a queue of waiters needs.
//
// For what comes and goes thousands of times a second it is better than a Set, too. A Set that has seen enough
// additions and deletions moves into a new table; the old one, once it has grown old in memory, keeps whatever was in
// the Set at that moment from being collected until the next full collection. A place that was left holds nothing.

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
    const place: Place<T> = { value, previous: undefined, next: undefined };
    this.#append(place);
    return place;
  }

  /** Takes a place to the end. It must be in this list. */
  moveToEnd(place: Place<T>): void {
    if (place === this.#last) return;
    this.remove(place);
    this.#append(place);
  }

  /** Takes the oldest place out, if there is one. */
  shift(): Place<T> | undefined {
    const place = this.#first;
    if (place !== undefined) this.remove(place);
    return place;
  }

  /** The values in order. Whoever is being looked at may leave. */
  *[Symbol.iterator](): Generator<T> {
    for (let place = this.#first; place !== undefined;) {
      const { value, next } = place;
      yield value;
      place = next;
    }
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

  #append(place: Place<T>): void {
    place.previous = this.#last;
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size++;
  }
}
