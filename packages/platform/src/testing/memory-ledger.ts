import type { Owned, OwnedKind } from "../kinds/status.ts";
import type { Ledger } from "../ownership/ledger.ts";

/** A ledger that outlives its operator as a status does, and tells what was written into it. */
export class MemoryLedger implements Ledger {
  readonly #owned = new Map<string, Owned>();
  /** `Role prod_a_app Creating`, in order; what was forgotten ends in `gone`. */
  readonly written: string[] = [];

  stateOf(kind: OwnedKind, name: string): Owned["state"] | undefined {
    return this.#owned.get(`${kind} ${name}`)?.state;
  }

  all(kind: OwnedKind): readonly Owned[] {
    return [...this.#owned.values()].filter((one) => one.kind === kind);
  }

  record(owned: Owned): Promise<void> {
    this.#owned.set(`${owned.kind} ${owned.name}`, owned);
    this.written.push(`${owned.kind} ${owned.name} ${owned.state}`);
    return Promise.resolve();
  }

  forget(kind: OwnedKind, name: string): Promise<void> {
    this.#owned.delete(`${kind} ${name}`);
    this.written.push(`${kind} ${name} gone`);
    return Promise.resolve();
  }

  /** Everything in it, as text. */
  get contents(): string[] {
    return [...this.#owned.values()].map(({ kind, name, state }) => `${kind} ${name} ${state}`);
  }
}
