// What clients of a run want next: few objects, so that they collide, and every body unlike any other.

import type { Random } from "@keelson/base";
import {
  type Answer,
  type Call,
  type KeyFact,
  keyText,
  type LabelFact,
  type RowFact,
  type ScopeFact,
  type WriteCall,
} from "./history.ts";

const kinds = ["Thing.example.dev", "ConfigMap"] as const;
const namespaces = ["blue", "green"] as const;
/** UTF-8 and UTF-16 disagree about the order of the last two. */
const names = ["a", "a-b", "b", "\u{ffee}", "\u{1f6a2}"] as const;
const labels = ["x", "y"] as const;

/** Every collection that a run can touch, for counting at its end. */
export const scopes: readonly ScopeFact[] = kinds.flatMap((kind) =>
  ["", ...namespaces].map((namespace) => ({ kind, namespace })),
);

/** Draws calls; remembers what their answers told. */
export class Workload {
  readonly #random: Random;
  /** Makes ids of this workload unlike those of others. */
  readonly #name: string;
  readonly #seen = new Map<string, RowFact>();
  #count = 0;

  constructor(random: Random, name: string) {
    this.#random = random;
    this.#name = name;
  }

  id(): string {
    this.#count += 1;
    return `${this.#name}${this.#count}`;
  }

  /** A write, with what it expects taken from memory, which may be old. */
  nextWrite(id: string): WriteCall {
    const random = this.#random;
    const key = this.#key();
    const seen = this.#seen.get(keyText(key));
    const dice = random.float();
    if (seen === undefined || dice < 0.15) {
      // Sometimes a write to an object that nobody has seen.
      if (dice > 0.95) return { op: "delete", key, expect: {} };
      return { op: "create", key, body: this.#body(id, `uid-${id}`) };
    }
    const { revision, uid } = seen;
    const expect = random.float() < 0.3 ? { revision, uid } : { revision };
    if (dice < 0.3) {
      const final = random.float() < 0.3 ? { final: this.#body(id, uid) } : {};
      return { op: "delete", key, expect: random.float() < 0.4 ? {} : expect, ...final };
    }
    const body = dice < 0.45 ? rearranged(seen.body) : this.#body(id, uid);
    return { op: "update", key, body, expect };
  }

  nextGet(): Call {
    return { op: "get", key: this.#key() };
  }

  scope(): ScopeFact {
    return {
      kind: this.#random.pick(kinds),
      namespace: this.#random.pick(["", "", ...namespaces]),
    };
  }

  selector(): { readonly selector?: LabelFact } {
    const { float, pick } = this.#random;
    return float() < 0.5 ? {} : { selector: { label: "app", value: pick(labels) } };
  }

  /** Takes in what an answer says of an object. */
  learn(call: Call, answer: Answer): void {
    if (answer.type === "page") {
      for (const row of answer.items) this.#seen.set(keyText(row.key), row);
    }
    if (!("key" in call)) return;
    const text = keyText(call.key);
    const isGone = answer.type === "error" && answer.code === "NotFound";
    if (isGone || (call.op === "delete" && answer.type === "row")) this.#seen.delete(text);
    else if (answer.type === "row") this.#seen.set(text, answer.row);
  }

  #key(): KeyFact {
    const { pick } = this.#random;
    return { kind: pick(kinds), namespace: pick(namespaces), name: pick(names) };
  }

  #body(id: string, uid: string): string {
    const app = this.#random.pick([...labels, undefined]);
    const metadata = app === undefined ? { uid } : { labels: { app }, uid };
    return JSON.stringify({ apiVersion: "v1", metadata, spec: { write: id } });
  }
}

/** The same object with its members in another order. */
function rearranged(body: string): string {
  const value = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify(Object.fromEntries(Object.entries(value).reverse()));
}
