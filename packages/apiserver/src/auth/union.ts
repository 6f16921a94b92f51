// All ways to find out who calls, in order.

import type { Log } from "@keelson/base";
import { failures } from "@keelson/kube";

import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { anonymous, authenticatedGroup, unauthenticatedGroup, type User } from "./user.ts";

export interface UnionOptions {
  /** Asked one after the other: front proxies, certificates, bearer tokens. */
  readonly authenticators: readonly Authenticator[];
  /** Whether callers without credentials are let in, as `system:anonymous`. */
  readonly allowsAnonymous: boolean;
  readonly log: Log;
}

/**
 * The first that knows the caller decides. Credentials that are wrong for one may be right for another; if nobody
 * knows them the answer is 401, never anonymous.
 */
export function unionAuthenticator(options: UnionOptions): Authenticator {
  const union = new Union(options);
  return { authenticate: (credentials, signal) => union.authenticate(credentials, signal) };
}

class Union {
  readonly #options: UnionOptions;
  /** The users as they are passed on; the same for the same, so that what knows them by identity may remember. */
  readonly #completed = new WeakMap<User, Authenticated>();

  constructor(options: UnionOptions) {
    this.#options = options;
  }

  authenticate(
    credentials: Credentials,
    signal: AbortSignal,
  ): Authenticated | Promise<Authenticated> {
    let refusal: BadCredentials | undefined;
    const { authenticators } = this.#options;
    for (let index = 0; index < authenticators.length; index++) {
      try {
        const found = authenticators[index]?.authenticate(credentials, signal);
        if (found instanceof Promise) {
          return this.#await(found, { next: index + 1, refusal, credentials }, signal);
        }
        if (found !== undefined) return this.#complete(found);
      } catch (error) {
        if (!(error instanceof BadCredentials)) throw error;
        refusal = error;
      }
    }
    return this.#conclude(refusal);
  }

  /** The same from where somebody had to wait. */
  async #await(
    pending: Promise<Authenticated | undefined>,
    rest: {
      readonly next: number;
      readonly refusal: BadCredentials | undefined;
      readonly credentials: Credentials;
    },
    signal: AbortSignal,
  ): Promise<Authenticated> {
    let { refusal } = rest;
    const later = this.#options.authenticators.slice(rest.next);
    for (const ask of [
      () => pending,
      ...later.map((one) => () => one.authenticate(rest.credentials, signal)),
    ]) {
      try {
        const found = await ask();
        if (found !== undefined) return this.#complete(found);
      } catch (error) {
        if (!(error instanceof BadCredentials)) throw error;
        refusal = error;
      }
    }
    return this.#conclude(refusal);
  }

  #conclude(refusal: BadCredentials | undefined): Authenticated {
    const { allowsAnonymous, log } = this.#options;
    if (refusal === undefined && allowsAnonymous) return nobody;
    log.debug({ error: refusal }, "the credentials were refused");
    throw failures.unauthorized();
  }

  #complete(found: Authenticated): Authenticated {
    const known = this.#completed.get(found.user);
    if (known !== undefined) return known;
    const completed = { ...found, user: withAuthenticatedGroup(found.user) };
    this.#completed.set(found.user, completed);
    return completed;
  }
}

const nobody: Authenticated = { user: anonymous };

/** Everybody who is known is in `system:authenticated`, unless something is said about it already. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  if (name === anonymous.name) return user;
  if (groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...groups, authenticatedGroup] };
}
