// A simulated API server with a Lease and a ledger, for candidates whose processes are stopped, cut off and killed.

import type { Clock, Random } from "@keelson/base";
import type { ManualClock } from "@keelson/base/testing";
import {
  ConnectionFailed,
  DeadlineExceeded,
  type CallOptions,
  type KubeObject,
  type ObjectRef,
  type WatchEvent,
  type WatchRequest,
} from "@keelson/client";
import { failures } from "@keelson/kube";

interface Logged {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/** Objects by name, with versions, and what became of them. */
export class LeaseServer {
  readonly #objects = new Map<string, KubeObject>();
  readonly #log: Logged[] = [];
  #changed = Promise.withResolvers<void>();
  #version = 100;

  put(object: KubeObject): KubeObject {
    this.#version += 1;
    const { name = "" } = object.metadata;
    const uid = object.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { ...object.metadata, uid, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata };
    this.#note(this.#objects.has(name) ? "MODIFIED" : "ADDED", stored);
    this.#objects.set(name, stored);
    return stored;
  }

  get(name: string): KubeObject {
    const object = this.#objects.get(name);
    if (object === undefined) throw failures.notFound({ group: "", resource: "things" }, name);
    return object;
  }

  create(object: KubeObject): KubeObject {
    const { name = "" } = object.metadata;
    if (this.#objects.has(name)) {
      throw failures.alreadyExists({ group: "", resource: "things" }, name);
    }
    return this.put(object);
  }

  update(object: KubeObject): KubeObject {
    const { name = "", resourceVersion } = object.metadata;
    if (this.get(name).metadata.resourceVersion !== resourceVersion) {
      throw failures.conflict({ group: "", resource: "things" }, name, "moved on");
    }
    return this.put(object);
  }

  /** Somebody deletes it: tokens must rise nevertheless. */
  delete(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    this.#version += 1;
    this.#objects.delete(name);
    this.#note("DELETED", object);
  }

  /** The next change of an object after a version; waits for it. */
  async next(name: string, after: number): Promise<Logged> {
    for (;;) {
      const found = this.#log.find(
        ({ version, object }) => version > after && object.metadata.name === name,
      );
      if (found !== undefined) return found;
      await this.#changed.promise;
    }
  }

  #note(type: Logged["type"], object: KubeObject): void {
    this.#log.push({ version: this.#version, type, object });
    if (this.#log.length > logMax) this.#log.shift();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** More than happens while an event is on its way. */
const logMax = 1_000;

/** The time of a process that may be stopped: nothing of it runs meanwhile, and then everything is late. */
export class ProcessClock implements Clock {
  readonly #master: ManualClock;
  readonly #late: (() => void)[] = [];
  #isStopped = false;
  #wallShiftMs = 0;

  constructor(master: ManualClock) {
    this.#master = master;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
    for (const callback of this.#late.splice(0)) callback();
  }

  shiftWall(ms: number): void {
    this.#wallShiftMs += ms;
  }

  now(): number {
    return this.#master.now() + this.#wallShiftMs;
  }

  monotonic(): number {
    return this.#master.monotonic();
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    this.after(ms, () => controller.abort(new DOMException("the time is up", "TimeoutError")));
    return controller.signal;
  }

  after(ms: number, callback: () => void): Disposable {
    let isOver = false;
    const run = (): void => {
      if (isOver) return;
      if (this.#isStopped) this.#late.push(run);
      else callback();
    };
    const timer = this.#master.after(ms, run);
    return {
      [Symbol.dispose]: () => {
        isOver = true;
        timer[Symbol.dispose]();
      },
    };
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = (): void => {
        timer[Symbol.dispose]();
        reject(signal.reason as Error);
      };
      const timer = this.after(ms, () => {
        signal.removeEventListener("abort", abort);
        resolve();
      });
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}

/** What befalls a write: the server refuses it, its answer is lost, or nothing is answered in its time. */
export type WriteFault = "refused" | "unheard" | "unanswered";

/** A process's way to the server: requests and answers take time, and may be lost. */
export class LeaseWire {
  readonly #server: LeaseServer;
  readonly #clock: ProcessClock;
  readonly #random: Random;
  isCut = false;
  lossShare = 0;
  /** Whether watches are refused. */
  hasNoWatches = false;
  /** Whether what happens is not told to those who watch, nor that it is not. */
  isStalled = false;
  /** How often the object was asked for. */
  looks = 0;
  /** What befalls the next updates, one after the other. */
  readonly faults: WriteFault[] = [];

  constructor(server: LeaseServer, clock: ProcessClock, random: Random) {
    this.#server = server;
    this.#clock = clock;
    this.#random = random;
  }

  /** As `Client.resource` for one kind. */
  resource<T extends KubeObject>() {
    return Promise.resolve({
      get: (ref: ObjectRef, signal: AbortSignal) =>
        this.#send(() => this.#server.get(ref.name) as T, signal),
      find: async (ref: ObjectRef, signal: AbortSignal) => {
        this.looks += 1;
        return await this.#send(() => {
          try {
            return this.#server.get(ref.name) as T;
          } catch {
            return undefined;
          }
        }, signal);
      },
      watch: async (
        { fieldSelector = "", resourceVersion = "" }: WatchRequest,
        signal: AbortSignal,
      ) => {
        const name = fieldSelector.replace("metadata.name=", "");
        return await this.#send(() => {
          if (this.hasNoWatches)
            throw failures.forbidden({ group: "", resource: "things" }, name, "no");
          return this.#events<T>({ name, after: Number(resourceVersion) }, signal);
        }, signal);
      },
      create: (object: T, _: object, signal: AbortSignal) =>
        this.#send(() => this.#server.create(object) as T, signal),
      update: async (object: T, { timeoutMs = 10_000 }: CallOptions, signal: AbortSignal) => {
        const fault = this.faults.shift();
        if (fault === "unanswered") {
          await this.#clock.sleep(timeoutMs, signal);
          throw new DeadlineExceeded("an update", timeoutMs);
        }
        const updated = await this.#send(() => {
          if (fault === "refused") throw failures.internalError("no");
          return this.#server.update(object) as T;
        }, signal);
        if (fault === "unheard") throw lost();
        return updated;
      },
    });
  }

  /** In order, each some time after it happened. A wire that loses one carries no further ones, and does not say so. */
  async *#events<T extends KubeObject>(
    { name, after }: { readonly name: string; readonly after: number },
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    aborted.catch(() => undefined);
    for (let version = after; ;) {
      const next = await Promise.race([this.#server.next(name, version), aborted]);
      await this.#clock.sleep(this.#random.integer(100), signal);
      const isLost = this.isCut || this.isStalled || this.#random.float() < this.lossShare;
      if (isLost) await aborted;
      version = next.version;
      yield { type: next.type, object: next.object as T };
    }
  }

  async #send<R>(act: () => R, signal: AbortSignal): Promise<R> {
    await this.#clock.sleep(this.#random.integer(100), signal);
    if (this.isCut || this.#random.float() < this.lossShare) throw lost();
    const result = act();
    await this.#clock.sleep(this.#random.integer(100), signal);
    // It has happened, and nobody hears of it.
    if (this.isCut || this.#random.float() < this.lossShare) throw lost();
    return result;
  }
}

function lost(): ConnectionFailed {
  return new ConnectionFailed("no answer: lost", { maybeSent: true, cause: undefined });
}
