// The life of a request: who asks, whether it may, and which verb answers.

import type { Clock, Log } from "@keelson/base";
import { failures } from "@keelson/kube";

import type { Authenticator, Credentials } from "./auth/authenticator.ts";
import type { Attributes, Authorizer } from "./auth/authorizer.ts";
import { anonymous, type User } from "./auth/user.ts";
import { isOurFault, toStatusError, type Subject } from "./errors.ts";
import type { Answer, Streaming } from "./http/answer.ts";
import { Warnings, type Exchange, type Incoming } from "./http/exchange.ts";
import { requestInfo, type RequestInfo } from "./http/request-info.ts";
import type { ResourceDispatch } from "./resource-dispatch.ts";

/** Answers what is no resource: discovery, documents, health. Undefined: not its path. */
export type PathHandler = (exchange: Exchange) => Answer | undefined | Promise<Answer | undefined>;

export interface ApiHandlerOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Who is really meant, if somebody acts for another. */
  readonly impersonate: (user: User, incoming: Incoming) => User | Promise<User>;
  /** Waits for a turn, or throws `TooManyRequests`. */
  readonly admit: (
    user: User,
    info: RequestInfo,
    signal: AbortSignal,
  ) => Disposable | Promise<Disposable>;
  readonly paths: readonly PathHandler[];
  readonly dispatch: ResourceDispatch;
  readonly clock: Clock;
  readonly log: Log;
}

/** What became of a request. */
export interface Handled {
  readonly answer: Answer | Streaming;
  readonly info: RequestInfo;
  readonly user: User;
  /** Who asked, where that is somebody else than the user it acts as. */
  readonly asker: User;
  readonly warnings: readonly string[];
  /** Gives the turn back; for a stream, once it has ended. */
  readonly done: () => void;
}

/** Paths that answer before anybody can be known: whoever watches over us must always see them. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/;

/** Handles requests. Never rejects: every failure is an answer. */
export class ApiHandler {
  readonly #options: ApiHandlerOptions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  async handle(incoming: Incoming, credentials: Credentials): Promise<Handled> {
    const info = requestInfo(incoming.method, incoming.path, incoming.query);
    const warnings = new Warnings();
    let asker = anonymous;
    let user = anonymous;
    let turn: Disposable | undefined;
    const done = (): void => turn?.[Symbol.dispose]();
    try {
      asker = await this.#authenticate(credentials, incoming.signal);
      user = await this.#options.impersonate(asker, incoming);
      turn = await this.#options.admit(user, info, incoming.signal);
      if (!openPaths.test(info.path)) await this.#authorize(user, info, incoming.signal);
      const exchange: Exchange = {
        ...incoming,
        info,
        user,
        warn: warnings.warn,
        warnings: [],
      };
      const answer = await this.#answer(exchange);
      return { answer, info, user, asker, warnings: warnings.texts, done };
    } catch (error) {
      const answer = this.#failure(error, info, incoming);
      return { answer, info, user, asker, warnings: warnings.texts, done };
    }
  }

  async #authenticate(credentials: Credentials, signal: AbortSignal): Promise<User> {
    const outcome = this.#options.authenticator.authenticate(credentials, signal);
    const authenticated = outcome instanceof Promise ? await outcome : outcome;
    return authenticated?.user ?? anonymous;
  }

  async #authorize(user: User, info: RequestInfo, signal: AbortSignal): Promise<void> {
    const outcome = this.#options.authorizer.authorize(user, attributesOf(info), signal);
    const { isAllowed, reason } = outcome instanceof Promise ? await outcome : outcome;
    if (!isAllowed) throw refusal(user, info, reason);
  }

  async #answer(exchange: Exchange): Promise<Answer | Streaming> {
    const { info } = exchange;
    if (info.isResource) return this.#options.dispatch.answer({ ...exchange, info });
    for (const path of this.#options.paths) {
      const outcome = path(exchange);
      const answer = outcome instanceof Promise ? await outcome : outcome;
      if (answer !== undefined) return answer;
    }
    return pageNotFound;
  }

  #failure(error: unknown, info: RequestInfo, { signal, auditId }: Incoming): Answer {
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (isOurFault(reason) && !signal.aborted) {
      this.#options.log.error({ error: reason, path: info.path, auditId }, "a request failed");
    }
    return statusAnswer(toStatusError(reason, subjectOf(info)));
  }
}

const pageNotFound: Answer = {
  code: 404,
  contentType: "text/plain; charset=utf-8",
  body: "404 page not found\n",
  headers: { "x-content-type-options": "nosniff" },
};

/** A failure as its answer. */
export function statusAnswer(error: ReturnType<typeof toStatusError>): Answer {
  const { status } = error;
  const retry = status.details?.retryAfterSeconds;
  return {
    code: status.code,
    contentType: "application/json",
    body: `${JSON.stringify(status)}\n`,
    ...(retry === undefined || retry === 0 ? {} : { headers: { "retry-after": String(retry) } }),
  };
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

/** Who may not do what (KB 53). */
function refusal(user: User, info: RequestInfo, reason: string): Error {
  const because = (why: string): string => (reason === "" ? why : `${why}: ${reason}`);
  if (!info.isResource) {
    return failures.forbidden(
      undefined,
      "",
      because(failures.cannotPath(user.name, info.verb, info.path)),
    );
  }
  const { group, namespace, name, verb, subresource } = info;
  const resource = subresource === "" ? info.resource : `${info.resource}/${subresource}`;
  const about = { group, resource };
  const where = namespace === "" ? undefined : namespace;
  const why = failures.cannot(user.name, verb, about, where);
  return failures.forbidden({ group, resource: info.resource }, name, because(why));
}
