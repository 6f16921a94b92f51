// Things of which there is one each, such as an address or a port: whoever creates the row has it.

import { Body, AlreadyExists, NotFound, type Store } from "@keelson/store";
import type { JsonObject } from "@keelson/base";

import { findRow } from "../find-row.ts";

/** Takes and gives back. The store decides between replicas: a name can be created once. */
export class Reservations {
  readonly #store: Store;
  readonly #kind: string;

  constructor(store: Store, kind: string) {
    this.#store = store;
    this.#kind = kind;
  }

  /** Whether it was free, and is ours now. */
  async take(name: string, object: JsonObject, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#store.create(this.#key(name), Body.of(object), signal);
      return true;
    } catch (error) {
      if (error instanceof AlreadyExists) return false;
      throw error;
    }
  }

  async isTaken(name: string, signal: AbortSignal): Promise<boolean> {
    return (await findRow(this.#store, this.#key(name), signal)) !== undefined;
  }

  async giveBack(name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#store.delete(this.#key(name), {}, signal);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  #key(name: string) {
    return { kind: this.#kind, namespace: "", name };
  }
}
