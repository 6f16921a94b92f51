// The other parts of this process as callers: each has a name of its own, and a token that never leaves the process.

import type { Random } from "@keelson/base";

import type { Authenticated } from "./authenticator.ts";
import type { TokenAuthenticator } from "./token-authenticator.ts";
import { tokenHash } from "./token-hash.ts";
import { mastersGroup } from "./user.ts";

export class OwnTokens implements TokenAuthenticator {
  readonly #random: Random;
  readonly #callers = new Map<string, Authenticated>();
  readonly #audiences: readonly string[];

  constructor({
    audiences,
    random,
  }: {
    readonly audiences: readonly string[];
    readonly random: Random;
  }) {
    this.#audiences = audiences;
    this.#random = random;
  }

  /** A new token for a part, which may do everything as `system:keelson:<name>`. */
  issue(name: string): string {
    const token = Buffer.from(this.#random.bytes(32)).toString("base64url");
    const user = { name: `system:keelson:${name}`, uid: "", groups: [mastersGroup], extra: {} };
    this.#callers.set(tokenHash(token), { user, audiences: this.#audiences });
    return token;
  }

  authenticateToken(token: string, wanted: readonly string[]): Authenticated | undefined {
    const isMeant = this.#audiences.some((audience) => wanted.includes(audience));
    return isMeant ? this.#callers.get(tokenHash(token)) : undefined;
  }
}
