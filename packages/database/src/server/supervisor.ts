// One server from its first start to its stop, whatever becomes of its processes in between.

import { Backoff, type Clock, type Log, type Random } from "@keelson/base";

import { PostgresServerError } from "./errors.ts";
import { freePort } from "./free-port.ts";
import type { PostgresProcess } from "./postgres-process.ts";

/**
 * How long the last processes of a server whose owner was killed may take to go, and how often it is tried without them: its
 * watchdog kills them after 20 s.
 */
const leftoverGraceMs = 30_000;
const leftoverLookMs = 100;
/** How long an orderly stop may take. */
const stopGraceMs = 20_000;

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly spawn: (port: number) => { process: PostgresProcess; ready: Promise<void> };
}

/** Keeps one server running from `start` to `stop`. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  #server: PostgresProcess | undefined;
  #supervising: Promise<void> | undefined;
  #port = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** Any free port, `preferred` first, may be taken before the server listens on it: then another is tried. */
  async start(port: number, preferred: number | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.monotonic() + leftoverGraceMs;
    let isPreferred = preferred !== undefined;
    for (let attempt = 1; ;) {
      signal.throwIfAborted();
      this.#port = port !== 0 ? port : isPreferred ? (preferred ?? 0) : await freePort();
      try {
        await this.#spawn();
        break;
      } catch (error) {
        const code = error instanceof PostgresServerError ? error.code : undefined;
        if (code === "data-dir-in-use" && clock.monotonic() < untilMs) {
          // The folder is ours: what runs there is the rest of a server whose owner is gone, and it is ending.
          await clock.sleep(leftoverLookMs, signal);
          continue;
        }
        if (code !== "port-taken" || port !== 0 || attempt === 5) throw error;
        isPreferred = false;
        attempt++;
      }
    }
    this.#supervising = this.#supervise();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const server = this.#server;
    if (server !== undefined) {
      using _hurry = this.#options.clock.after(stopGraceMs, () => void server.stop("immediate"));
      await server.stop("fast");
    }
    await this.#supervising;
  }

  async #spawn(): Promise<void> {
    const { process, ready } = this.#options.spawn(this.#port);
    this.#server = process;
    await ready;
  }

  async #supervise(): Promise<void> {
    const { clock, random, log } = this.#options;
    const backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random });
    for (;;) {
      await this.#server?.exited;
      if (this.#stopping.signal.aborted) return;
      log.error({ port: this.#port }, "PostgreSQL ended by itself, starting it again");
      try {
        await clock.sleep(backoff.next(), this.#stopping.signal);
        if (this.#stopping.signal.aborted) return; // In the moment between: `stop` knows only the old one.
        await this.#spawn();
        backoff.reset();
      } catch (error) {
        if (this.#stopping.signal.aborted) continue; // Its end is awaited above.
        log.error({ port: this.#port, error }, "PostgreSQL did not start again");
      }
    }
  }
}
