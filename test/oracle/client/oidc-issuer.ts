// An OpenID Connect provider: discovery, keys, and a token endpoint that takes refresh tokens, each of them once.

import { generateKeyPairSync, randomUUID, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { CertificateAuthority } from "../../tools/certificates.ts";

export interface OidcIssuerOptions {
  readonly clientId: string;
  /** Left out: a client that cannot keep one. */
  readonly clientSecret?: string;
  /** How the secret is to be sent, if the provider says so. */
  readonly way?: "client_secret_post" | "client_secret_basic";
  readonly groups: readonly string[];
  readonly lifeSeconds: number;
  /** By which name it is known; 127.0.0.1 unless told. */
  readonly host?: string;
}

export class OidcIssuer implements AsyncDisposable {
  readonly url: string;
  /** The certificate of the authority behind its own, PEM. */
  readonly ca: string;
  readonly #server: Server;
  readonly #options: OidcIssuerOptions;
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  /** Those that nobody has used yet. */
  readonly #refreshTokens = new Set<string>();
  readonly #idTokens: string[] = [];
  #refusals = 0;
  /** Whether it answers with an error of its own. */
  isFailing = false;

  private constructor(server: Server, ca: string, options: OidcIssuerOptions) {
    this.#server = server;
    this.ca = ca;
    this.#options = options;
    const { host = "127.0.0.1" } = options;
    this.url = `https://${host}:${(server.address() as AddressInfo).port}/realms/test`;
    server.on("request", (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: OidcIssuerOptions): Promise<OidcIssuer> {
    const authority = await CertificateAuthority.create("issuer-ca");
    const { certificate, key } = await authority.issue({
      name: "issuer",
      hosts: ["127.0.0.1", options.host ?? "localhost"],
    });
    const server = createServer({ cert: certificate, key });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new OidcIssuer(server, authority.certificate, options);
  }

  /** The ID tokens it has given out, in order; the n-th is for the user `user-n`, counted from zero. */
  get idTokens(): readonly string[] {
    return this.#idTokens;
  }

  /** How often somebody came with a refresh token that was used, or without the client's secret. */
  get refusals(): number {
    return this.#refusals;
  }

  /** What a login gives. */
  issue(): { readonly idToken: string; readonly refreshToken: string } {
    const { clientId, groups, lifeSeconds } = this.#options;
    const refreshToken = randomUUID();
    this.#refreshTokens.add(refreshToken);
    const now = Math.floor(Date.now() / 1000);
    const sub = `user-${this.#idTokens.length}`;
    const claims = { iss: this.url, aud: clientId, sub, groups, iat: now, exp: now + lifeSeconds };
    const idToken = jwt(claims, this.#keys.privateKey);
    this.#idTokens.push(idToken);
    return { idToken, refreshToken };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace("/realms/test", "");
    if (path === "/.well-known/openid-configuration") return json(response, 200, this.#metadata());
    if (path === "/keys") return json(response, 200, { keys: [this.#publicKey()] });
    if (path !== "/token" || request.method !== "POST") return json(response, 404, {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (this.isFailing) return json(response, 503, {});
    const isClient = this.#isClient(request.headers.authorization ?? "", form);
    const isGrant = form.get("grant_type") === "refresh_token";
    // Once and never again, as providers that rotate their refresh tokens have it.
    if (!isClient || !isGrant || !this.#refreshTokens.delete(form.get("refresh_token") ?? "")) {
      this.#refusals += 1;
      return json(response, 400, { error: isClient ? "invalid_grant" : "invalid_client" });
    }
    const { idToken, refreshToken } = this.issue();
    json(response, 200, {
      access_token: "opaque",
      token_type: "Bearer",
      expires_in: this.#options.lifeSeconds,
      id_token: idToken,
      refresh_token: refreshToken,
    });
  }

  #isClient(authorization: string, form: URLSearchParams): boolean {
    const { clientId, clientSecret, way = "client_secret_basic" } = this.#options;
    if (clientSecret === undefined)
      return authorization === "" && form.get("client_id") === clientId;
    if (way === "client_secret_post") {
      return form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
    }
    // RFC 6749: name and secret are escaped as in a form, each for itself.
    const [, login = ""] = /^Basic (.*)$/.exec(authorization) ?? [];
    const parts = Buffer.from(login, "base64").toString().split(":");
    const [id, secret] = parts.map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    return id === clientId && secret === clientSecret;
  }

  #metadata(): object {
    const { way } = this.#options;
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      ...(way === undefined ? {} : { token_endpoint_auth_methods_supported: [way] }),
    };
  }

  #publicKey(): object {
    return {
      ...this.#keys.publicKey.export({ format: "jwk" }),
      kid: "one",
      alg: "RS256",
      use: "sig",
    };
  }
}

function jwt(claims: object, key: KeyObject): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", kid: "one", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
