// The life of a request: who asks, whether it may, and which verb answers.

import type { Clock, Log } from "@keelson/base";
import { failures, StatusError, WarningList } from "@keelson/kube";

import type { Authenticator, Credentials } from "./auth/authenticator.ts";
import type { Attributes, Authorizer } from "./auth/authorizer.ts";
import { forbidden } from "./auth/forbidden.ts";
import { isImpersonationHeader, type Impersonation } from "./auth/impersonation.ts";
import { anonymous, type User } from "./auth/user.ts";
import type { EncodeFailure } from "./encoding/failure-answer.ts";
import { isOurFault, toStatusError, type Subject } from "./errors.ts";
import type { Answer, Streaming } from "./http/answer.ts";
import type { Exchange, Incoming } from "./http/exchange.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { FairQueue } from "./limits/fair-queue.ts";
import type { LongRunning } from "./limits/long-running.ts";
import type { ApiMetrics } from "./metrics.ts";
import { UnknownPath, type ResourceDispatch } from "./resource-dispatch.ts";

/** Answers what is no resource: discovery, documents, health. Undefined: not its path. */
export type PathHandler = (exchange: Exchange) => Answer | undefined | Promise<Answer | undefined>;

export interface ApiHandlerOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly impersonation: Impersonation;
  /** Who may run now: requests take turns, watches are only counted. */
  readonly requests: FairQueue;
  readonly watches: LongRunning;
  readonly paths: readonly PathHandler[];
  readonly dispatch: ResourceDispatch;
  readonly encodeFailure: EncodeFailure;
  readonly metrics: ApiMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** What became of a request. */
export interface Handled {
  readonly answer: Answer | Streaming;
  readonly info: RequestInfo;
  readonly user: User;
  /** Who asked: the user, or somebody who acts as the user. Undefined if nobody could be known. */
  readonly asker: User | undefined;
  /** The verb that allowed it to act as another; empty for the plain `impersonate`. */
  readonly constraint: string;
  readonly warnings: readonly string[];
  /** Gives the turn back; for a stream, once it has ended. */
  readonly done: () => void;
}

/** Paths that answer before anybody can be known: whoever watches over us must always see them. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/;

/** Whether a request may go on, from what its head says. */
export interface Admitted extends Pick<Handled, "user" | "asker" | "constraint" | "done"> {
  /** What it is told if it may not. */
  readonly refusal: Answer | undefined;
}

/** Handles requests in two steps: who may go on is known before its body is read. Never rejects: every failure is an answer. */
export class ApiHandler {
  readonly #options: ApiHandlerOptions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  /** Who asks, and whether it is its turn and it may. The body of `incoming` is not looked at. */
  async admit(incoming: Incoming, credentials: Credentials): Promise<Admitted> {
    const { info, signal } = incoming;
    let asker: User | undefined;
    let user = anonymous;
    let constraint = "";
    let turn: Disposable | undefined;
    const done = (): void => {
      if (turn === undefined) return;
      turn[Symbol.dispose]();
      this.#tellRunning();
    };
    try {
      const { authenticator, authorizer } = this.#options;
      // A promise only where somebody waits: each costs every request.
      const found = authenticator.authenticate(credentials, signal);
      asker = (found instanceof Promise ? await found : found)?.user ?? anonymous;
      user = asker;
      if (isImpersonating(incoming.headers)) {
        const request = { user: asker, headers: incoming.headers, attributes: attributesOf(info) };
        const acting = await this.#impersonate(request, signal);
        if (acting instanceof StatusError) {
          const refusal = withNoSniff(this.#options.encodeFailure(acting, incoming));
          return { user, asker, constraint, refusal, done };
        }
        user = acting?.user ?? asker;
        constraint = acting?.constraint ?? "";
      }
      const turned = this.#turnOf(user, info, signal);
      turn = turned instanceof Promise ? await turned : turned;
      this.#tellRunning();
      if (!openPaths.test(info.path)) {
        const attributes = attributesOf(info);
        const outcome = authorizer.authorize(user, attributes, signal);
        const { isAllowed, reason } = outcome instanceof Promise ? await outcome : outcome;
        if (!isAllowed) {
          const status = forbidden(user, attributes, reason);
          const refusal = withNoSniff(this.#options.encodeFailure(status, incoming));
          return { user, asker, constraint, refusal, done };
        }
      }
      return { user, asker, constraint, refusal: undefined, done };
    } catch (error) {
      const refusal = this.#failure(error, info, incoming);
      return { user, asker, constraint, refusal, done };
    }
  }

  /** Answers a request that may go on. */
  async handle(incoming: Incoming, { user, asker, constraint, done }: Admitted): Promise<Handled> {
    const { info } = incoming;
    const warnings = new WarningList();
    const warn = (text: string): void => warnings.add(text);
    let answer: Answer | Streaming;
    try {
      const exchange = { ...incoming, user, warn, warnings: [] };
      answer = info.isResource
        ? await this.#options.dispatch.answer({ ...exchange, info })
        : await this.#answerPath(exchange);
    } catch (error) {
      answer = this.#failure(error, info, incoming);
    }
    return { answer, info, user, asker, constraint, warnings: warnings.told, done };
  }

  /** A place among those who run. Health is answered whatever happens. */
  #turnOf(user: User, info: RequestInfo, signal: AbortSignal): Disposable | Promise<Disposable> {
    const { requests, watches, metrics } = this.#options;
    if (openPaths.test(info.path)) return free;
    if (info.isResource && info.verb === "watch") {
      const { group, version, resource } = info;
      const permit = watches.enter(user.name);
      const isServed = this.#options.dispatch.isServed(info);
      const labels = isServed
        ? { group, version, resource }
        : { group: "", version: "", resource: "" };
      metrics.longRunning.add(labels);
      return {
        [Symbol.dispose]: () => {
          permit[Symbol.dispose]();
          metrics.longRunning.add(labels, -1);
        },
      };
    }
    return requests.enter(user.name, signal);
  }

  #tellRunning(): void {
    this.#options.metrics.inflight.set(this.#options.requests.running);
  }

  /** As whom to act, or why not. */
  async #impersonate(
    request: Parameters<Impersonation["impersonate"]>[0],
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<Impersonation["impersonate"]>> | StatusError> {
    try {
      return await this.#options.impersonation.impersonate(request, signal);
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
  }

  /** What is no resource. */
  async #answerPath(exchange: Exchange): Promise<Answer> {
    const { info } = exchange;
    for (const path of this.#options.paths) {
      const outcome = path(exchange);
      const answer = outcome instanceof Promise ? await outcome : outcome;
      if (answer !== undefined) return answer;
    }
    // Below a group that there is, a version that there is not.
    const group = /^\/(?:api|apis\/(?<group>[^/]+))\/+[^/]+\/?$/.exec(info.path);
    if (group !== null && this.#options.dispatch.hasGroup(group.groups?.["group"] ?? "")) {
      throw failures.resourceNotFound();
    }
    return pageNotFound;
  }

  #failure(error: unknown, info: RequestInfo, incoming: Incoming): Answer {
    const { signal, auditId } = incoming;
    if (error instanceof UnknownPath) return pageNotFound;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (isOurFault(reason) && !signal.aborted) {
      this.#options.log.error({ error: reason, path: info.path, auditId }, "request failed");
    }
    return this.#options.encodeFailure(toStatusError(reason, subjectOf(info)), incoming);
  }
}

const free: Disposable = { [Symbol.dispose]: () => undefined };

function isImpersonating(headers: Incoming["headers"]): boolean {
  for (const name in headers) if (isImpersonationHeader(name)) return true;
  return false;
}

const pageNotFound: Answer = {
  code: 404,
  contentType: "text/plain; charset=utf-8",
  body: "404 page not found\n",
  headers: { "x-content-type-options": "nosniff" },
};

function withNoSniff(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, "x-content-type-options": "nosniff" } };
}

/** What a request wants to do. */
export function attributesOf(info: RequestInfo): Attributes {
  if (!info.isResource) return { isResource: false, verb: info.verb, path: info.path };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return { isResource: true, verb, group, version, resource, subresource, namespace, name };
}

function subjectOf(info: RequestInfo): Subject | undefined {
  if (!info.isResource) return undefined;
  return { resource: { group: info.group, resource: info.resource }, name: info.name };
}
