import { onAbort, type Clock } from "@keelson/base";
import { DatabaseBusy, DatabaseTimeout, DatabaseUnavailable } from "./errors.ts";
import type { Session } from "./sql/session.ts";

export interface PoolOptions {
  readonly connectionsMax: number;
  /** How many calls may wait for a connection; the next one is refused with `DatabaseBusy`. */
  readonly waitersMax: number;
  /** A connection that nobody needed for so long is closed. */
  readonly idleMs: number;
  /** A connection as old as this is closed when its user gives it back. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly open: (onClose: () => void) => Session;
  readonly onChange: (counts: PoolCounts) => void;
}

export interface PoolCounts {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

interface Waiter {
  readonly accept: (session: Session) => void;
  readonly refuse: (error: Error) => void;
}

/** Lends connections, first come first served, the most recently used first. Bounded in both directions. */
export class Pool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #idle: { readonly session: Session; readonly expiry: Disposable }[] = [];
  readonly #busy = new Set<Session>();
  readonly #waiters = new Set<Waiter>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#changed();
  }

  /**
   * Lends a connection until `give`. Rejects with `DatabaseTimeout` after `deadlineMs`, with `DatabaseBusy` at
   * once when too many wait, and with the reason of `signal`.
   */
  async take(deadlineMs: number, signal: AbortSignal): Promise<Session> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new DatabaseUnavailable("the pool of connections is closed");
    const free = this.#takeIdle() ?? this.#openAnother();
    if (free !== undefined) return this.#lend(free);
    if (this.#waiters.size >= this.#options.waitersMax) {
      throw new DatabaseBusy(`${this.#waiters.size} calls wait for a connection already`);
    }
    return this.#wait(deadlineMs, signal);
  }

  /** Takes a connection back. One that is dead, old or not safe is closed, and another takes its place on demand. */
  give(session: Session): void {
    this.#busy.delete(session);
    const { clock, lifetimeMs } = this.#options;
    const isOld = clock.monotonic() - session.openedMs >= lifetimeMs;
    const isOver = session.isDead || session.isCancelling || isOld;
    if (isOver || this.#isClosed) this.#close(session);
    else this.#serveOrKeep(session);
    if (this.#waiters.size > 0) {
      const another = this.#openAnother();
      if (another !== undefined) this.#serveOrKeep(another);
    }
    if (this.#busy.size === 0) this.#drained?.();
    this.#changed();
  }

  /** Refuses whoever waits, waits for connections that are lent, and closes all. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiters) {
      waiter.refuse(new DatabaseUnavailable("the pool of connections is closing"));
    }
    while (this.#idle.length > 0) {
      const session = this.#takeIdle();
      if (session !== undefined) this.#close(session);
    }
    if (this.#busy.size > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await Promise.all(this.#closing);
    this.#changed();
  }

  #takeIdle(): Session | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (last === undefined) return undefined;
      last.expiry[Symbol.dispose]();
      if (!last.session.isDead) return last.session;
      this.#close(last.session);
    }
  }

  #openAnother(): Session | undefined {
    const { connectionsMax, open } = this.#options;
    if (this.#isClosed || this.#busy.size + this.#idle.length >= connectionsMax) return undefined;
    const session: Session = open(() => this.#forget(session));
    return session;
  }

  #lend(session: Session): Session {
    this.#busy.add(session);
    this.#changed();
    return session;
  }

  #serveOrKeep(session: Session): void {
    const [waiter] = this.#waiters;
    if (waiter !== undefined) {
      waiter.accept(this.#lend(session));
      return;
    }
    const expiry = this.#options.clock.after(this.#options.idleMs, () => this.#forget(session));
    this.#idle.push({ session, expiry });
  }

  /** An idle connection was closed by the other side, or has been idle for too long. */
  #forget(session: Session): void {
    const index = this.#idle.findIndex((kept) => kept.session === session);
    if (index === -1) return; // It is lent: whoever has it will notice, and give it back.
    const [kept] = this.#idle.splice(index, 1);
    kept?.expiry[Symbol.dispose]();
    this.#close(session);
    this.#changed();
  }

  #close(session: Session): void {
    const closing = session.close({ immediately: true }).finally(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }

  #wait(deadlineMs: number, signal: AbortSignal): Promise<Session> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        timer[Symbol.dispose]();
        abort[Symbol.dispose]();
        this.#changed();
      };
      const waiter: Waiter = {
        accept: (session) => {
          leave();
          resolve(session);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = onAbort(signal, () => waiter.refuse(signal.reason as Error));
      const timer = this.#options.clock.after(deadlineMs, () => {
        waiter.refuse(new DatabaseTimeout("no connection became free in time"));
      });
      this.#waiters.add(waiter);
      this.#changed();
    });
  }

  #changed(): void {
    this.#options.onChange({
      busy: this.#busy.size,
      idle: this.#idle.length,
      waiting: this.#waiters.size,
    });
  }
}
