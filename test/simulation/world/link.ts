// A replica's way to the database: calls take their time, fail before or after they took effect, wake-ups get lost.

import type { Backend } from "@keelson/store";
import type { StoreModule } from "../client.ts";
import type { Recorder } from "../history.ts";
import type { Weather } from "./weather.ts";

export interface LinkOptions {
  readonly replica: string;
  readonly database: () => Backend;
  readonly weather: Weather;
  readonly recorder: Recorder;
  readonly module: StoreModule;
  /** Told of every commit over this link: all replicas may hear of it. */
  readonly onCommit: (head: number) => void;
  /** Called just before the log is cut: the last chance to look at what goes. */
  readonly beforeCut: () => Promise<void>;
}

type WakeListener = Parameters<Backend["onWake"]>[0];

/**
 * A backend that several stores in one process can share, as replicas share a PostgreSQL.
 * The database itself stays open when a store closes its link.
 */
export class Link implements Backend {
  readonly name = "postgresql";
  readonly #options: LinkOptions;
  readonly #listeners = new Set<WakeListener>();
  #cuts = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Wakes whoever listens on this side. */
  wake(committed: number | undefined): void {
    for (const listener of this.#listeners) listener(committed);
  }

  async commit(batch: Parameters<Backend["commit"]>[0]) {
    return this.#call("commit", async () => {
      const result = await this.#database.commit(batch);
      this.#options.onCommit(result.head);
      return result;
    });
  }

  /** Recorded here, where compaction ends whoever asked for it. */
  async cut(upTo: number, limits: Parameters<Backend["cut"]>[1], signal: AbortSignal) {
    const { recorder, replica } = this.#options;
    this.#cuts += 1;
    const id = `${replica}-cut${this.#cuts}`;
    return this.#call("cut", async () => {
      await this.#options.beforeCut();
      recorder.record({ type: "call", id, replica, call: { op: "cut", upTo } });
      const result = await this.#database.cut(upTo, limits, signal);
      const { head, floor } = result;
      recorder.record({ type: "answer", id, answer: { type: "cut", head, floor } });
      return result;
    });
  }

  read(...[key, signal]: Parameters<Backend["read"]>) {
    return this.#call("read", () => this.#database.read(key, signal));
  }

  head(signal: AbortSignal) {
    return this.#call("head", () => this.#database.head(signal));
  }

  bounds(signal: AbortSignal) {
    return this.#call("bounds", () => this.#database.bounds(signal));
  }

  scan(...[request, signal]: Parameters<Backend["scan"]>) {
    return this.#call("scan", () => this.#database.scan(request, signal));
  }

  count(...[scope, at, signal]: Parameters<Backend["count"]>) {
    return this.#call("count", () => this.#database.count(scope, at, signal));
  }

  countByKind(signal: AbortSignal) {
    return this.#call("countByKind", () => this.#database.countByKind(signal));
  }

  log(...[after, limits, signal]: Parameters<Backend["log"]>) {
    return this.#call("log", () => this.#database.log(after, limits, signal));
  }

  history(...[key, page, signal]: Parameters<Backend["history"]>) {
    return this.#call("history", () => this.#database.history(key, page, signal));
  }

  leap(signal: AbortSignal) {
    return this.#call("leap", () => this.#database.leap(signal));
  }

  claim(...[name, request, signal]: Parameters<Backend["claim"]>) {
    return this.#call("claim", () => this.#database.claim(name, request, signal));
  }

  release(...[name, holder, signal]: Parameters<Backend["release"]>) {
    return this.#call("release", () => this.#database.release(name, holder, signal));
  }

  ping(signal: AbortSignal) {
    return this.#call("ping", () => this.#database.ping(signal));
  }

  size(signal: AbortSignal) {
    return this.#call("size", () => this.#database.size(signal));
  }

  onWake(listener: WakeListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
  }

  get #database(): Backend {
    return this.#options.database();
  }

  async #call<T>(name: string, run: () => Promise<T>): Promise<T> {
    const { weather } = this.#options;
    await weather.pass();
    if (weather.loses("request")) throw this.#lost(`the request ${name} was lost`);
    const result = await run();
    if (weather.loses("reply")) throw this.#lost(`the reply to ${name} was lost`);
    await weather.pass();
    return result;
  }

  #lost(what: string): Error {
    const { recorder, replica, module } = this.#options;
    recorder.record({ type: "trouble", replica, state: "struck", what });
    return new module.Unavailable(what);
  }
}
