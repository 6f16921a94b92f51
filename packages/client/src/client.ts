import {
  Backoff,
  noMetrics,
  systemClock,
  systemRandom,
  type Clock,
  type Json,
  type Metrics,
  type Random,
} from "@keelson/base";
import { StatusError } from "@keelson/kube";

import type { Answer, Call, Caller, StreamCall } from "./caller.ts";
import type { Access } from "./credentials.ts";
import { withDeadline } from "./deadline.ts";
import { DeadlineExceeded, isNotFound, UnexpectedAnswer } from "./errors.ts";
import { readAnswer } from "./json-parts.ts";
import { Kinds } from "./kinds.ts";
import { clientMetrics, type ClientMetrics } from "./metrics.ts";
import type { DynamicObject, KubeObject, ObjectKind } from "./object.ts";
import { RateLimiter, usualRateLimit, type Priority, type RateLimit } from "./rate-limiter.ts";
import { ResourceClient } from "./resource-client.ts";
import { retryOf } from "./retry.ts";
import { statusErrorOf } from "./status-answer.ts";
import {
  Transport,
  type HttpRequest,
  type HttpResponse,
  type LineStream,
  type TransportLimits,
} from "./transport.ts";

/** A request as it is about to be sent, or as it was answered. */
export interface RequestPoint extends Pick<HttpRequest, "method"> {
  /** Without its query. */
  readonly path: string;
  readonly when: "before" | "after";
}

export interface ClientOptions {
  readonly access: Access;
  /** Who we say we are, up to the slash: it names the manager of fields that are written without another name. */
  readonly userAgent?: string;
  /** `none` for whoever bounds their requests themselves. */
  readonly rateLimit?: Partial<RateLimit> | "none";
  readonly limits?: Partial<TransportLimits>;
  /** How long a request may take in all, unless it says otherwise. */
  readonly timeoutMs?: number;
  /**
   * Called at every try of every request, watches included; of those only before. What it throws before keeps the
   * request from being sent, and after it counts as the request's failure: whoever may write no more is stopped here.
   */
  readonly onRequest?: (point: RequestPoint) => void | Promise<void>;
  /**
   * Called when a request is about to leave, on a connection that is there: since `onRequest` credentials may have been
   * asked for, and a connection made. What it throws keeps the request from being sent.
   */
  readonly onWrite?: (request: Pick<RequestPoint, "method" | "path">) => void;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly metrics?: Metrics;
}

/**
 * One identity's requests to one cluster.
 *
 * - A refusal rejects with a `StatusError` that has the server's own Status; no answer with `ConnectionFailed` or
 *   `DeadlineExceeded`; an abort with `signal.reason`.
 * - Reads are repeated until their time is up; a write only where the server said that it did nothing.
 * - At most `rateLimit` requests are sent; those of a higher priority first. With `none` nobody waits.
 */
export class Client implements Caller, AsyncDisposable {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ClientMetrics;
  /** Which kinds the cluster serves. */
  readonly kinds: Kinds;
  /** The namespace of the kubeconfig's context, `default` without one. */
  readonly namespace: string;
  /** As `Access` says. */
  readonly isInProcess: boolean;
  readonly #limiter: RateLimiter | undefined;
  readonly #timeoutMs: number;
  readonly #onRequest: ClientOptions["onRequest"];

  constructor(options: ClientOptions) {
    const { access, clock = systemClock, random = systemRandom, metrics = noMetrics } = options;
    const { userAgent = "keelson", timeoutMs = 30_000, onWrite } = options;
    this.clock = clock;
    this.random = random;
    this.metrics = clientMetrics(metrics);
    this.namespace = access.namespace ?? "default";
    this.isInProcess = access.isInProcess ?? false;
    this.transport = new Transport({
      access,
      clock,
      metrics: this.metrics,
      userAgent,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(onWrite === undefined
        ? {}
        : { onWrite: ({ method, path }) => onWrite({ method, path: pathWithoutQuery(path) }) }),
    });
    const { rateLimit = {} } = options;
    this.#limiter =
      rateLimit === "none"
        ? undefined
        : new RateLimiter({ clock, limit: { ...usualRateLimit, ...rateLimit } });
    this.#timeoutMs = timeoutMs;
    this.#onRequest = options.onRequest;
    this.kinds = new Kinds(this);
  }

  /** The objects of a kind. Rejects with `UnknownKind` when the cluster does not serve it. */
  async resource<T extends KubeObject = DynamicObject>(
    kind: ObjectKind,
    signal: AbortSignal,
  ): Promise<ResourceClient<T>> {
    return new ResourceClient<T>(this, await this.kinds.resolve(kind, signal));
  }

  /** Sends a request and rejects with the error that its answer stands for. */
  async call(request: Call, signal: AbortSignal): Promise<Answer> {
    const {
      timeoutMs = this.#timeoutMs,
      priority = "normal",
      isDiscovery = false,
      ...http
    } = request;
    const startedMs = this.clock.monotonic();
    const what = `${http.method} ${pathWithoutQuery(http.path)}`;
    let outcome = "error";
    try {
      const answer = await withDeadline(
        { clock: this.clock, timeoutMs, what },
        (signal) => this.#callUntilAnswered(http, priority, signal),
        signal,
      );
      outcome = "success";
      return answer;
    } catch (error) {
      // Nothing came for so long: perhaps the connection is half open.
      if (error instanceof DeadlineExceeded) this.transport.renewConnections("deadline");
      if (signal.aborted) outcome = "cancelled";
      // Not an object but its kind is missing: what we know of kinds is old.
      if (!isDiscovery && isNotFound(error) && nameOf(error) === undefined) this.kinds.invalidate();
      throw error;
    } finally {
      const { method } = http;
      this.metrics.requests.add({ method, outcome });
      const seconds = (this.clock.monotonic() - startedMs) / 1000;
      this.metrics.requestSeconds.observe({ method }, seconds);
    }
  }

  /**
   * Opens a stream of lines; `openTimeoutMs` is for its headers. No retries: whoever watches knows where to go on.
   * A refusal rejects with a `StatusError`.
   */
  async open(request: StreamCall, signal: AbortSignal): Promise<LineStream> {
    const { openTimeoutMs, priority = "normal", ...http } = request;
    await this.#turn(priority, signal);
    await this.#passed(http, "before");
    const stop = new AbortController();
    const timer = this.clock.after(openTimeoutMs, () =>
      stop.abort(new DeadlineExceeded("opening a watch", openTimeoutMs)),
    );
    try {
      const stream = await this.transport.open(http, AbortSignal.any([signal, stop.signal]));
      if (stream.status === 200) return stream;
      const text = await stream.text();
      throw statusErrorOf({ status: stream.status, headers: stream.headers, text });
    } finally {
      timer[Symbol.dispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport[Symbol.asyncDispose]();
  }

  async #callUntilAnswered(
    request: HttpRequest,
    priority: Priority,
    signal: AbortSignal,
  ): Promise<Answer> {
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000, random: this.random });
    for (;;) {
      let lastError: unknown;
      try {
        await this.#turn(priority, signal);
        await this.#passed(request, "before");
        const response = await this.transport.send(request, signal);
        await this.#passed(request, "after");
        if (response.status < 400) return answerOf(response);
        throw statusErrorOf(response);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const retry = retryOf(error, request.method);
        if (retry === undefined) throw error;
        lastError = error;
        this.metrics.retries.add({ reason: retry.reason });
        // Never sooner than the server said, and not all of us at once.
        const waitMs = (retry.afterMs ?? 0) + backoff.next();
        await this.#waitOrTell(waitMs, lastError, signal);
      }
    }
  }

  /** Waits before another try. When the time is up meanwhile, the error says why there was another try at all. */
  async #waitOrTell(waitMs: number, lastError: unknown, signal: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(waitMs, signal);
    } catch (error) {
      throw error instanceof DeadlineExceeded ? lastError : error;
    }
  }

  async #passed({ method, path }: HttpRequest, when: RequestPoint["when"]): Promise<void> {
    await this.#onRequest?.({ method, path: pathWithoutQuery(path), when });
  }

  async #turn(priority: Priority, signal: AbortSignal): Promise<void> {
    if (this.#limiter === undefined) return;
    // Added up: the clients of a process, each with a limit of its own, share the gauge.
    this.metrics.waiting.add(1);
    try {
      await this.#limiter.acquire(priority, signal);
    } finally {
      this.metrics.waiting.add(-1);
    }
  }
}

function pathWithoutQuery(path: string): string {
  return path.split("?", 1)[0] ?? "";
}

function nameOf(error: unknown): string | undefined {
  return error instanceof StatusError ? error.status.details?.name : undefined;
}

function answerOf({ status, headers, text }: HttpResponse): Answer {
  return { status, headers, text, warnings: warningsOf(headers), body: bodyOf(headers, text) };
}

function bodyOf(headers: HttpResponse["headers"], text: string): Json | undefined {
  const type = headers["content-type"];
  if (typeof type !== "string" || !/^application\/([\w.-]+\+)?json\b/.test(type)) return undefined;
  if (text === "") return undefined;
  try {
    return readAnswer(text);
  } catch (cause) {
    throw new UnexpectedAnswer("an answer is not the JSON it says it is", { cause });
  }
}

/** `299 - "text"` in UTF-8, with quotes and backslashes escaped. Node makes a character of each byte of a header. */
function warningsOf(headers: HttpResponse["headers"]): string[] {
  const bytes = [headers["warning"] ?? []].flat().join(", ");
  const all = Buffer.from(bytes, "latin1").toString();
  return [...all.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll(/\\(.)/g, "$1"),
  );
}
