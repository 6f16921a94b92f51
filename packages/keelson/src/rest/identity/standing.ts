// Answers that last: a stream must not outlive the credential that it was opened with.

import { isCancellation, isSameIdentity, RestError, type Clock, type Log } from "@keelson/base";
import type { FastifyRequest } from "fastify";
import type { Authenticator } from "./authenticator.ts";

export interface StandingOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often callers of streams are looked at again: with the look at the file of tokens it stays within 5 seconds. */
const lookIntervalMs = 2_000;

/** The requests that are answered by streams. */
export class Standing {
  readonly #options: StandingOptions;
  readonly #open = new Map<FastifyRequest, AbortController>();

  constructor(options: StandingOptions) {
    this.#options = options;
  }

  /**
   * Aborts once the caller's credential counts no more, or allows something else than when the request came: whoever
   * still may comes back and is judged anew.
   */
  of(request: FastifyRequest): AbortSignal {
    const ended = new AbortController();
    const { keelsonResponse: response } = request;
    const isOver = response === undefined || response.closed;
    if (!this.#options.authenticator.isAuthenticated || isOver) return ended.signal;
    this.#open.set(request, ended);
    response.once("close", () => this.#open.delete(request));
    return ended.signal;
  }

  /** Looks at them from time to time, one after the other, until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    if (!this.#options.authenticator.isAuthenticated) return;
    try {
      for (;;) {
        await this.#options.clock.sleep(lookIntervalMs, signal);
        for (const [request, ended] of this.#open) {
          if (await this.#isAsBefore(request)) continue;
          this.#open.delete(request);
          this.#options.log.info({ request_id: request.id }, "a stream has lost its credential");
          ended.abort(new DOMException("the credential counts no more", "AbortError"));
        }
      }
    } catch (error) {
      if (!isCancellation(error, signal)) throw error;
    }
  }

  async #isAsBefore(request: FastifyRequest): Promise<boolean> {
    const { keelsonIdentity: before } = request;
    try {
      const now = await this.#options.authenticator.authenticate(request.raw);
      return before !== undefined && isSameIdentity(before, now);
    } catch (error) {
      // Only a refusal counts: an identity provider that cannot be asked has said nothing.
      return !(error instanceof RestError && error.status === 401);
    }
  }
}
