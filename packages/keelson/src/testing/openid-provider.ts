// A small OpenID provider on this machine: discovery, a key, and tokens signed by them.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";

export interface OpenidProvider extends AsyncDisposable {
  readonly issuer: string;
  /** How often discovery and keys were asked for. */
  readonly asked: { discovery: number; keys: number };
  /** While false every answer is 503. */
  isUp: boolean;
  /** A token with these claims, by the present key; `issuer`, `audience` and `expiresInSeconds` unless told. */
  sign(claims: JWTPayload, how?: SignOptions): Promise<string>;
}

export interface SignOptions {
  readonly issuer?: string;
  readonly audience?: string;
  /** Counted from `nowMs`. Undefined: no expiry at all. */
  readonly expiresInSeconds?: number | undefined;
  /** A key of somebody else. */
  readonly key?: CryptoKey;
  readonly keyId?: string;
}

export async function startOpenidProvider(nowMs: () => number): Promise<OpenidProvider> {
  const keys = await generateKeyPair("ES256");
  const keyId = "key-1";
  const asked = { discovery: 0, keys: 0 };
  const server = createServer((request, response) => {
    void (async () => {
      if (!provider.isUp) return response.writeHead(503).end();
      response.setHeader("content-type", "application/json");
      if (request.url?.endsWith("/.well-known/openid-configuration")) {
        asked.discovery++;
        return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
      }
      asked.keys++;
      const jwk = { ...(await exportJWK(keys.publicKey)), kid: keyId, alg: "ES256", use: "sig" };
      return response.end(JSON.stringify({ keys: [jwk] }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/test`;

  const provider: OpenidProvider = {
    issuer,
    asked,
    isUp: true,
    sign: (claims, how = {}) => {
      const seconds = "expiresInSeconds" in how ? how.expiresInSeconds : 60;
      const token = new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: how.keyId ?? keyId })
        .setIssuer(how.issuer ?? issuer)
        .setAudience(how.audience ?? "keelson");
      if (seconds !== undefined) token.setExpirationTime(Math.floor(nowMs() / 1_000) + seconds);
      return token.sign(how.key ?? keys.privateKey);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return provider;
}
