// ID tokens of an OpenID Connect provider, refreshed before they run out: the `oidc` auth provider of a kubeconfig.
//
// Not client-node's own: it never sends the client's secret, takes the seconds until a token expires for the time at
// which it does, and forgets a refresh token that the answer does not repeat.

import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";

import { isJsonObject, readJson, type Clock } from "@keelson/base";
import { memberOf } from "@keelson/kube";
import type { ClientAuth } from "openid-client";
import { Agent, fetch as send, ProxyAgent, type RequestInit } from "undici";

import { BadKubeconfig } from "./kubeconfig-document.ts";
import { environmentProxy, type EnvironmentProxies } from "./proxy.ts";

/** What a kubeconfig says of a provider and of us there. */
export interface OidcSettings {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly idToken?: string;
  readonly refreshToken?: string;
  /** Whose certificates the provider may show: a file, or PEM; left out: those the machine trusts. */
  readonly caFile?: string;
  readonly ca?: string;
}

/** Tokens as the provider last gave them. */
export interface OidcTokenPair {
  readonly idToken: string;
  readonly refreshToken: string;
}

export interface OidcTokensOptions {
  readonly clock: Clock;
  readonly proxies: EnvironmentProxies;
  /** Called after each refresh, before the new token is used: a refresh token may be good for one use only. */
  readonly onRefreshed?: (after: OidcTokenPair, before: Partial<OidcTokenPair>) => Promise<void>;
}

/** So long before it expires a token is not used any more, or for the last quarter of its life if that is less. */
const marginMsMax = 10_000;
const requestSecondsMax = 10;

/** One user's tokens at one provider. Not to be asked by two at once. */
export class OidcTokens {
  readonly #options: OidcTokensOptions;
  readonly #settings: OidcSettings;
  #held: Partial<OidcTokenPair>;
  #isRefused = false;

  constructor(settings: OidcSettings, options: OidcTokensOptions) {
    this.#settings = settings;
    this.#options = options;
    const { idToken, refreshToken } = settings;
    this.#held = {
      ...(idToken === undefined ? {} : { idToken }),
      ...(refreshToken === undefined ? {} : { refreshToken }),
    };
  }

  /** A token that is good for some seconds more. Rejects with `BadKubeconfig` when there is none to be had. */
  async current(): Promise<string> {
    const { idToken, refreshToken } = this.#held;
    const { expiresMs, lifeMs } = lifeOf(idToken);
    const leftMs = expiresMs - this.#options.clock.now();
    const isFresh = leftMs > Math.min(marginMsMax, lifeMs / 4);
    if (idToken !== undefined && isFresh && !this.#isRefused) return idToken;
    if (refreshToken === undefined || refreshToken === "") {
      if (idToken !== undefined && leftMs > 0) return idToken;
      throw new BadKubeconfig("the ID token has expired, and there is no refresh token");
    }
    try {
      const after = await this.#refresh(refreshToken);
      await this.#options.onRefreshed?.(after, this.#held);
      this.#held = after;
      this.#isRefused = false;
      return after.idToken;
    } catch (cause) {
      // The provider may be away for a moment; what we have is still good for one.
      if (idToken !== undefined && leftMs > 0 && !this.#isRefused) return idToken;
      throw new BadKubeconfig("the ID token cannot be refreshed", { cause });
    }
  }

  /** Whether a kubeconfig that says this says nothing new: what we began with, or what we have since. */
  knows(settings: OidcSettings): boolean {
    return [this.#settings, { ...this.#settings, ...this.#held }].some((own) =>
      isDeepStrictEqual(own, settings),
    );
  }

  /** The cluster has refused the present token, whatever its expiry says. */
  renew(): void {
    this.#isRefused = true;
  }

  async #refresh(refreshToken: string): Promise<OidcTokenPair> {
    const { issuerUrl, clientId, clientSecret = "" } = this.#settings;
    const oidc = await import("openid-client"); // As lazily as the reader of kubeconfigs: few have such a user.
    const connections = await this.#connections();
    await using _closing = { [Symbol.asyncDispose]: () => connections.close() };
    // In the body where the provider takes it so: the other way has escapes that not all undo. But without a word
    // from it the other way is the standard's.
    const authenticate: ClientAuth = (provider, ...request) => {
      const ways = provider.token_endpoint_auth_methods_supported ?? [];
      const isPosted = ways.includes("client_secret_post");
      const way = isPosted ? oidc.ClientSecretPost : oidc.ClientSecretBasic;
      way(clientSecret)(provider, ...request);
    };
    const provider = await oidc.discovery(
      new URL(issuerUrl),
      clientId,
      undefined,
      clientSecret === "" ? oidc.None() : authenticate,
      {
        timeout: requestSecondsMax,
        [oidc.customFetch]: async (url, options) => {
          const init = { ...options, dispatcher: connections } as RequestInit;
          return await send(url, init);
        },
      },
    );
    const answer = await oidc.refreshTokenGrant(provider, refreshToken);
    if (answer.id_token === undefined) {
      throw new Error("the provider answered without an ID token: was the scope openid asked for?");
    }
    return { idToken: answer.id_token, refreshToken: answer.refresh_token ?? refreshToken };
  }

  async #connections(): Promise<Agent | ProxyAgent> {
    const { issuerUrl, caFile, ca } = this.#settings;
    const trusted = caFile === undefined ? ca : await readFile(caFile, "utf8");
    const tls = trusted === undefined ? {} : { ca: trusted };
    const proxy = environmentProxy(issuerUrl, this.#options.proxies);
    if (proxy !== undefined) return new ProxyAgent({ uri: proxy, requestTls: tls });
    return new Agent({ connect: tls });
  }
}

/** When a token expires, in milliseconds since 1970, and how long after its issue; one that cannot be read has expired. */
function lifeOf(token: string | undefined): {
  readonly expiresMs: number;
  readonly lifeMs: number;
} {
  const [, payload, signature] = token?.split(".") ?? [];
  if (payload === undefined || signature === undefined) return expired;
  try {
    const claims = readJson(Buffer.from(payload, "base64url").toString("utf8"));
    const number = (name: string): number | undefined => {
      const value = isJsonObject(claims) ? memberOf(claims, name) : undefined;
      return typeof value === "number" ? value : undefined;
    };
    const expires = number("exp");
    if (expires === undefined) return expired;
    const issued = number("iat");
    const lifeMs = issued === undefined ? Infinity : (expires - issued) * 1_000;
    return { expiresMs: expires * 1_000, lifeMs };
  } catch {
    return expired;
  }
}

const expired = { expiresMs: 0, lifeMs: 0 };
