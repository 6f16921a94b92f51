// The operator's connections as the administrator: few, kept for a while, and with whatever password holds now.

import { onAbort } from "@keelson/base";
import { StepError } from "../steps/step-error.ts";
import { parseConnectionUrl, type ConnectionParts } from "./connection-parts.ts";
import { isAuthenticationFailure } from "./driver-errors.ts";
import { Session, type SessionOptions } from "./session.ts";

export interface SessionPoolOptions extends Omit<SessionOptions, "parts"> {
  /** The administrator's URL as it is now: it is asked for again when PostgreSQL does not believe us any more. */
  readonly adminUrl: (signal: AbortSignal) => Promise<string>;
  readonly sessionsMax: number;
  /** A connection that nobody needed for so long is closed. */
  readonly idleMs: number;
}

interface Waiter {
  readonly proceed: () => void;
}

export class SessionPool implements AsyncDisposable {
  readonly #options: SessionPoolOptions;
  readonly #idle: { readonly session: Session; readonly expiry: Disposable }[] = [];
  readonly #waiters = new Set<Waiter>();
  #taken = 0;
  #adminUrl: string | undefined;
  #isClosed = false;

  constructor(options: SessionPoolOptions) {
    this.#options = options;
  }

  /** Lends a connection to `work`; calls wait for one, first come first served, as long as a statement may take. */
  async use<T>(work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    await this.#turn(signal);
    let session: Session | undefined;
    try {
      session = this.#takeIdle() ?? (await this.#connect(signal));
      return await work(session);
    } finally {
      try {
        if (session !== undefined) await this.#giveBack(session);
      } finally {
        // A place that somebody waits for is never free: whoever comes just now would take it, too.
        const [next] = this.#waiters;
        if (next === undefined) this.#taken -= 1;
        else next.proceed();
      }
    }
  }

  /** Where the administrator connects to. */
  async parts(signal: AbortSignal): Promise<ConnectionParts> {
    return parseConnectionUrl(this.#adminUrl ?? (await this.#readAdminUrl(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#dropIdle();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { sessionsMax, clock, timeoutMs } = this.#options;
    if (this.#taken < sessionsMax) {
      this.#taken += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = {
      proceed: () => {
        this.#waiters.delete(waiter);
        resolve();
      },
    };
    const leave = (reason: Error): void => {
      if (this.#waiters.delete(waiter)) reject(reason);
    };
    this.#waiters.add(waiter);
    const message = `none of the ${sessionsMax} connections to PostgreSQL became free within ${timeoutMs / 1000} s`;
    using _timer = clock.after(timeoutMs, () => leave(new StepError("Unreachable", message)));
    using _abort = onAbort(signal, () => leave(signal.reason as Error));
    await promise;
  }

  #takeIdle(): Session | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (last === undefined) return undefined;
      last.expiry[Symbol.dispose]();
      if (!last.session.isDead) return last.session;
    }
  }

  async #giveBack(session: Session): Promise<void> {
    if (this.#isClosed) await session.close();
    // Where one died, the others may have too and not know it: the server was away.
    if (session.isDead) await this.#dropIdle();
    else {
      const expiry = this.#options.clock.after(this.#options.idleMs, () => this.#expire(session));
      this.#idle.push({ session, expiry });
    }
  }

  #expire(session: Session): void {
    const index = this.#idle.findIndex((kept) => kept.session === session);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    void session.close();
  }

  async #dropIdle(): Promise<void> {
    const dropped = this.#idle.splice(0);
    for (const { expiry } of dropped) expiry[Symbol.dispose]();
    await Promise.all(dropped.map(({ session }) => session.close()));
  }

  /** A connection that is really there. A password that was changed meanwhile is asked for once more. */
  async #connect(signal: AbortSignal): Promise<Session> {
    const known = this.#adminUrl ?? (await this.#readAdminUrl(signal));
    try {
      return await this.#open(signal);
    } catch (error) {
      if (!isAuthenticationFailure(error)) throw error;
      if ((await this.#readAdminUrl(signal)) === known) throw error;
      return await this.#open(signal);
    }
  }

  /** One that is no URL is not kept: it is asked for again, and may be mended by then. */
  async #readAdminUrl(signal: AbortSignal): Promise<string> {
    const url = await this.#options.adminUrl(signal);
    parseConnectionUrl(url);
    return (this.#adminUrl = url);
  }

  async #open(signal: AbortSignal): Promise<Session> {
    const session = await Session.open({ ...this.#options, parts: await this.parts(signal) });
    try {
      await session.run({ name: "connect", text: "SELECT 1" }, signal);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }
}
