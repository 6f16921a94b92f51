// Keycloak's admin API: calls under a name, each in time, and with whatever token holds now.

import type KeycloakAdminClient from "@keycloak/keycloak-admin-client";
import { onAbort, type Clock } from "@keelson/base";
import type { OnCall } from "../steps/call-point.ts";
import { StepError } from "../steps/step-error.ts";
import { isUnauthorized, nameKeycloakError } from "./keycloak-errors.ts";

/** Where Keycloak is, and who its administrator is. */
export interface KeycloakAccess {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface KeycloakOptions {
  /** As it is now. Asked for at first use, and after Keycloak refused the last one. */
  readonly access: () => Promise<KeycloakAccess>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onCall?: OnCall | undefined;
}

interface Token {
  readonly text: string;
  /** By the monotonic clock. */
  readonly endsAtMs: number;
}

/** Some of a token's life is left to the call that takes it along. */
const tokenShare = 0.8;

export class Keycloak {
  readonly #options: KeycloakOptions;
  #access: KeycloakAccess | undefined;
  #token: Token | undefined;

  constructor(options: KeycloakOptions) {
    this.#options = options;
  }

  /** Calls within a realm, telling `secrets` among others. The administrators' own is refused, whoever asks. */
  async call<T>(
    {
      name,
      realm,
      secrets = [],
    }: { readonly name: string; readonly realm: string; readonly secrets?: readonly string[] },
    work: (api: KeycloakAdminClient) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (realm.toLowerCase() === "master") {
      throw new StepError("Refused", "realm master is Keycloak's own: it is left alone");
    }
    const token = this.#heldToken() ?? (await this.#authenticate(signal));
    try {
      return await this.#callWith(token, { name, secrets, work }, signal);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      // Keycloak knows the token no more, and has done nothing: it was started anew, or ended our session.
      if (this.#token === token) this.#token = undefined;
      const next = this.#heldToken() ?? (await this.#authenticate(signal));
      return await this.#callWith(next, { name, secrets, work }, signal);
    }
  }

  async #callWith<T>(
    token: Token,
    {
      name,
      secrets,
      work,
    }: {
      readonly name: string;
      readonly secrets: readonly string[];
      readonly work: (api: KeycloakAdminClient) => Promise<T>;
    },
    signal: AbortSignal,
  ): Promise<T> {
    const { url } = await this.#accessNow();
    return await this.#send(
      { name, secrets: [token.text, ...secrets] },
      async (requestOptions) => {
        // The library is large: whoever has no logins does without.
        const { default: Api } = await import("@keycloak/keycloak-admin-client");
        const api = new Api({ baseUrl: baseOf(url), requestOptions });
        api.setAccessToken(token.text);
        return await work(api);
      },
      signal,
    );
  }

  #heldToken(): Token | undefined {
    const token = this.#token;
    const isHeld = token !== undefined && token.endsAtMs > this.#options.clock.monotonic();
    return isHeld ? token : undefined;
  }

  /** A password that was changed meanwhile is asked for once more. */
  async #authenticate(signal: AbortSignal): Promise<Token> {
    const known = await this.#accessNow();
    try {
      return await this.#logIn(known, signal);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      const { user, password, url } = (this.#access = await this.#options.access());
      if (user === known.user && password === known.password && url === known.url) throw error;
      return await this.#logIn(this.#access, signal);
    }
  }

  async #logIn({ url, user, password }: KeycloakAccess, signal: AbortSignal): Promise<Token> {
    const { clock } = this.#options;
    const startedMs = clock.monotonic();
    const { accessToken, expiresIn } = await this.#send(
      { name: "logIn", secrets: [password] },
      async (requestOptions) => {
        const { getToken } = await import("@keycloak/keycloak-admin-client/lib/utils/auth.js");
        return await getToken({
          baseUrl: baseOf(url),
          realmName: "master",
          credentials: {
            grantType: "password",
            clientId: "admin-cli",
            username: user,
            password,
          },
          requestOptions,
        });
      },
      signal,
    );
    if (typeof accessToken !== "string") {
      const { host } = new URL(url);
      throw new StepError("Unreachable", `Keycloak at ${host}: logIn was answered without a token`);
    }
    const lifeMs = Number(expiresIn) * 1000 * tokenShare;
    this.#token = { text: accessToken, endsAtMs: startedMs + lifeMs };
    return this.#token;
  }

  async #send<T>(
    { name, secrets }: { readonly name: string; readonly secrets: readonly string[] },
    work: (requestOptions: RequestInit) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { onCall } = this.#options;
    const server = `Keycloak at ${new URL((await this.#accessNow()).url).host}`;
    try {
      await onCall?.({ service: "keycloak", name, when: "before" });
      signal.throwIfAborted();
      const answer = await this.#inTime({ name, server, work }, signal);
      await onCall?.({ service: "keycloak", name, when: "after" });
      return answer;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw nameKeycloakError(error, { name, server, secrets });
    }
  }

  async #inTime<T>(
    {
      name,
      server,
      work,
    }: {
      readonly name: string;
      readonly server: string;
      readonly work: (requestOptions: RequestInit) => Promise<T>;
    },
    signal: AbortSignal,
  ): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    const abandoned = new AbortController();
    using _timer = clock.after(timeoutMs, () => {
      const message = `${server}: ${name} was not answered within ${timeoutMs / 1000} s`;
      abandoned.abort(new StepError("Unreachable", message));
    });
    using _abort = onAbort(signal, () => abandoned.abort(signal.reason));
    try {
      // A redirected POST would arrive as a GET: better to say that the address is wrong.
      return await work({ signal: abandoned.signal, redirect: "error" });
    } catch (error) {
      if (abandoned.signal.aborted) throw abandoned.signal.reason;
      throw error;
    }
  }

  async #accessNow(): Promise<KeycloakAccess> {
    return (this.#access ??= await this.#options.access());
  }
}

function baseOf(url: string): string {
  return url.replace(/\/+$/, "");
}
