// How bad things are: latency, lost messages and failing statements, all from the seed.

import type { Random } from "@keelson/base";
import type { Recorder } from "../history.ts";

export interface Climate {
  /** Turns of the event loop that a message takes at the most. */
  readonly turnsMax: number;
  /** How likely a request or a reply is lost. */
  readonly loss: number;
  /** How likely a wake-up is lost. */
  readonly wakeLoss: number;
}

/** What statements of SQLite fail with: input/output error, disk full. */
const sqliteFailures = [
  { errcode: 10, message: "disk I/O error" },
  { errcode: 13, message: "database or disk is full" },
] as const;

/** Decides, call by call, what goes wrong. */
export class Weather {
  readonly #random: Random;
  readonly #recorder: Recorder;
  readonly #climate: Climate;
  #isCalm = false;
  /** Statements until one fails; undefined: none does. */
  #fuse: number | undefined;

  constructor(random: Random, recorder: Recorder, climate: Climate) {
    this.#random = random;
    this.#recorder = recorder;
    this.#climate = climate;
  }

  /** From here on every call succeeds. Messages still take their time, and wake-ups still get lost. */
  calm(): void {
    this.#isCalm = true;
    this.#fuse = undefined;
  }

  /** A message's way through the network. */
  async pass(): Promise<void> {
    const { turnsMax } = this.#climate;
    // Now and then one takes very long: much can happen between a snapshot and its arrival.
    const isLate = turnsMax > 0 && this.#random.float() < 0.1;
    await turns(this.#random.integer((isLate ? 10 * turnsMax : turnsMax) + 1));
  }

  loses(what: "request" | "reply" | "wake-up"): boolean {
    const { loss, wakeLoss } = this.#climate;
    if (what === "wake-up") return this.#random.float() < wakeLoss;
    return !this.#isCalm && this.#random.float() < loss;
  }

  /** Makes one of the next statements fail. */
  lightFuse(statementsMax: number): void {
    if (!this.#isCalm) this.#fuse = this.#random.integer(statementsMax);
  }

  /** For `onStatement`. */
  readonly onStatement = (name: string): void => {
    if (this.#fuse === undefined) return;
    if (this.#fuse > 0) {
      this.#fuse -= 1;
      return;
    }
    this.#fuse = undefined;
    const { errcode, message } = this.#random.pick(sqliteFailures);
    this.#recorder.record({
      type: "trouble",
      replica: "*",
      state: "struck",
      what: `${name}: ${message}`,
    });
    throw Object.assign(new Error(message), { errcode });
  };

  /** Runs without letting statements fail: for looks into the database that are no part of the run. */
  async sheltered<T>(run: () => Promise<T>): Promise<T> {
    const fuse = this.#fuse;
    this.#fuse = undefined;
    try {
      return await run();
    } finally {
      this.#fuse ??= fuse;
    }
  }
}

/** Lets the event loop go round. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
