// Every mode × every credential × where the request comes from.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { silentLog, systemClock, type RestErrorCode } from "@keelson/base";
import { base64url, generateKeyPair, SignJWT } from "jose";
import { startOpenidProvider, type OpenidProvider } from "../../testing/openid-provider.ts";
import { restFixture } from "../../testing/rest-fixture.ts";
import type { RestServer } from "../server.ts";
import type { Authenticator } from "./authenticator.ts";
import { gatewayAuthenticator } from "./gateway.ts";
import { believingAuthenticator } from "./none.ts";
import { oidcAuthenticator } from "./oidc.ts";
import { tokenAuthenticator } from "./token.ts";

type Mode = "none" | "token" | "gateway" | "oidc";
type Headers = Record<string, string>;

/** What a request should come to: an identity in part, or a refusal. */
type Outcome = { readonly as: Record<string, unknown> } | RestErrorCode;

interface Row {
  readonly credential: string;
  readonly headers: () => Headers | Promise<Headers>;
  readonly outcome: Outcome;
}

const nobody = (): Headers => ({});
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const alice = { "x-user-email": "alice@example.com", "x-user-roles": "dev, fleet:editor" };
const secret = { "x-gateway-secret": "open sesame" };
let provider: OpenidProvider;
let folder: string;

const rows: Record<Mode, readonly Row[]> = {
  none: [
    {
      credential: "missing",
      headers: nobody,
      outcome: {
        as: {
          user: "controller@system.local",
          domain: "system.local",
          roles: ["controller"],
          fleetRole: "admin",
          clusters: "all",
          readOnly: false,
        },
      },
    },
    {
      credential: "good: an e-mail address, roles and an organization",
      headers: () => ({ ...alice, "x-organization-id": "o-1" }),
      outcome: {
        as: {
          user: "alice@example.com",
          domain: "example.com",
          roles: ["dev", "fleet:editor"],
          fleetRole: "admin",
          clusters: "all",
          organizationId: "o-1",
        },
      },
    },
    {
      credential: "roles without an e-mail address",
      headers: () => ({ "x-user-roles": "dev" }),
      outcome: { as: { user: "controller@system.local", roles: ["controller", "dev"] } },
    },
    {
      credential: "an empty e-mail address",
      headers: () => ({ "x-user-email": "" }),
      outcome: { as: { user: "controller@system.local" } },
    },
    {
      credential: "forged: no address",
      headers: () => ({ "x-user-email": "x" }),
      outcome: "INVALID_EMAIL",
    },
    {
      credential: "a token, which nobody asked for",
      headers: () => bearer("anything"),
      outcome: { as: { user: "controller@system.local" } },
    },
  ],
  token: [
    { credential: "missing", headers: nobody, outcome: "AUTH_REQUIRED" },
    { credential: "missing, with an identity", headers: () => alice, outcome: "AUTH_REQUIRED" },
    {
      credential: "of another scheme",
      headers: () => ({ authorization: "Basic YTpi" }),
      outcome: "AUTH_REQUIRED",
    },
    {
      credential: "empty",
      headers: () => ({ authorization: "Bearer " }),
      outcome: "AUTH_REQUIRED",
    },
    { credential: "forged", headers: () => bearer("admin-token2"), outcome: "INVALID_TOKEN" },
    {
      credential: "forged: the digest itself",
      headers: () => bearer(hash("sha256", "admin-token")),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "good: admin, headers ignored",
      headers: () => ({ ...bearer("admin-token"), ...alice }),
      outcome: {
        as: {
          user: "ops@token.local",
          domain: "token.local",
          roles: [],
          fleetRole: "admin",
          clusters: "all",
          readOnly: false,
        },
      },
    },
    {
      credential: "good: a reader of two clusters with an address",
      headers: () => ({ authorization: "bearer reader-token" }),
      outcome: {
        as: {
          user: "bob@example.com",
          domain: "example.com",
          roles: ["controller"],
          fleetRole: "reader",
          clusters: ["a", "b"],
          readOnly: true,
        },
      },
    },
  ],
  gateway: [
    { credential: "missing", headers: nobody, outcome: "AUTH_REQUIRED" },
    { credential: "secret without an identity", headers: () => secret, outcome: "AUTH_REQUIRED" },
    { credential: "identity without a secret", headers: () => alice, outcome: "UNTRUSTED_GATEWAY" },
    {
      credential: "forged",
      headers: () => ({ ...alice, "x-gateway-secret": "open sesamf" }),
      outcome: "UNTRUSTED_GATEWAY",
    },
    {
      credential: "forged: a controller",
      headers: () => ({ "x-user-email": "controller@system.local", "x-gateway-secret": "" }),
      outcome: "UNTRUSTED_GATEWAY",
    },
    {
      credential: "a token instead",
      headers: () => bearer("open sesame"),
      outcome: "AUTH_REQUIRED",
    },
    {
      credential: "good",
      headers: () => ({ ...alice, ...secret }),
      outcome: {
        as: {
          user: "alice@example.com",
          roles: ["dev", "fleet:editor"],
          fleetRole: "editor",
          clusters: "all",
          readOnly: false,
        },
      },
    },
    {
      credential: "good, without a role in fleet",
      headers: () => ({ ...secret, "x-user-email": "evil@system.local" }),
      outcome: { as: { user: "evil@system.local", roles: [] } },
    },
    ...["not-an-email", "a@b", "@example.com", "a@", "a@b@example.com", "a b@example.com"].map(
      (email) => ({
        credential: `good, but ${email} is no address`,
        headers: () => ({ ...secret, "x-user-email": email }),
        outcome: "INVALID_EMAIL" as const,
      }),
    ),
  ],
  oidc: [
    { credential: "missing", headers: nobody, outcome: "AUTH_REQUIRED" },
    {
      credential: "missing, with an identity",
      headers: () => ({ ...alice, ...secret }),
      outcome: "AUTH_REQUIRED",
    },
    { credential: "no JWT", headers: () => bearer("not-a-jwt-at-all"), outcome: "INVALID_TOKEN" },
    {
      credential: "good",
      headers: async () =>
        bearer(
          await provider.sign({
            email: "carol@example.com",
            email_verified: true,
            realm_access: { roles: ["fleet:reader", "fleet:admin", 7] },
            org: "o-2",
          }),
        ),
      outcome: {
        as: {
          user: "carol@example.com",
          roles: ["fleet:reader", "fleet:admin"],
          fleetRole: "admin",
          organizationId: "o-2",
          clusters: "all",
          readOnly: false,
        },
      },
    },
    {
      credential: "good, headers ignored, no role in fleet",
      headers: async () => ({
        ...bearer(await provider.sign({ email: "dave@example.com" })),
        ...alice,
      }),
      outcome: { as: { user: "dave@example.com", roles: [] } },
    },
    {
      credential: "expired",
      headers: async () =>
        bearer(await provider.sign({ email: "carol@example.com" }, { expiresInSeconds: -60 })),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "without an expiry",
      headers: async () =>
        bearer(
          await provider.sign({ email: "carol@example.com" }, { expiresInSeconds: undefined }),
        ),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "of another issuer",
      headers: async () =>
        bearer(
          await provider.sign(
            { email: "carol@example.com" },
            { issuer: "https://evil.example.com" },
          ),
        ),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "for another audience",
      headers: async () =>
        bearer(await provider.sign({ email: "carol@example.com" }, { audience: "other" })),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "forged: signed by somebody else",
      headers: async () => {
        const { privateKey: key } = await generateKeyPair("ES256");
        return bearer(await provider.sign({ email: "carol@example.com" }, { key }));
      },
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "forged: by a key that nobody knows",
      headers: async () => {
        const { privateKey: key } = await generateKeyPair("ES256");
        return bearer(await provider.sign({ email: "carol@example.com" }, { key, keyId: "mine" }));
      },
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "forged: without a signature",
      headers: () => bearer(unsigned({ email: "carol@example.com", iss: provider.issuer })),
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "forged: signed with a shared secret",
      headers: async () => {
        const token = new SignJWT({ email: "carol@example.com" })
          .setProtectedHeader({ alg: "HS256", kid: "key-1" })
          .setIssuer(provider.issuer)
          .setAudience("keelson")
          .setExpirationTime("1m");
        return bearer(await token.sign(new TextEncoder().encode("public key as a secret")));
      },
      outcome: "INVALID_TOKEN",
    },
    {
      credential: "good, but without an address",
      headers: async () => bearer(await provider.sign({ sub: "carol" })),
      outcome: "INVALID_TOKEN",
    },
    ...["carol", "ca\0rol@example.com", "carol@exam\ud800ple.com"].map((email) => ({
      credential: `good, but the address is ${JSON.stringify(email)}`,
      headers: async () => bearer(await provider.sign({ email })),
      outcome: "INVALID_EMAIL" as const,
    })),
    {
      credential: "good, but the address is not verified",
      headers: async () =>
        bearer(await provider.sign({ email: "carol@example.com", email_verified: false })),
      outcome: "INVALID_EMAIL",
    },
  ],
};

const hosts = [
  "localhost:8080",
  "127.0.0.1",
  "[::1]:8080",
  "keelson.localhost",
  "evil.example.com:8080",
  "127.0.0.1.evil.com",
  "10.0.0.1",
];
const origins = [
  undefined,
  "http://localhost:3000",
  "http://127.0.0.1",
  "https://evil.example.com",
  "http://localhost.evil.com",
  "null",
];
const isForeignHost = (host: string): boolean => hosts.indexOf(host) > 3;
const isForeignOrigin = (origin: string | undefined): boolean => origins.indexOf(origin) > 2;

async function authenticatorOf(mode: Mode): Promise<Authenticator> {
  switch (mode) {
    case "none":
      return believingAuthenticator();
    case "gateway":
      return gatewayAuthenticator({ secret: "open sesame", acceptsCertificates: false });
    case "token": {
      const tokensFile = join(folder, "tokens.json");
      const tokens = [
        { name: "ops", sha256: hash("sha256", "admin-token"), role: "admin" },
        {
          name: "bob",
          sha256: hash("sha256", "reader-token").toUpperCase(),
          role: "reader",
          clusters: ["a", "b"],
          email: "bob@example.com",
          roles: ["controller"],
        },
      ];
      await writeFile(tokensFile, JSON.stringify({ tokens }));
      return tokenAuthenticator({ tokensFile, clock: systemClock, log: silentLog });
    }
    case "oidc":
      return oidcAuthenticator({
        issuer: provider.issuer,
        audience: "keelson",
        emailClaim: "email",
        rolesClaim: "realm_access.roles",
        organizationClaim: "org",
        clock: systemClock,
      });
  }
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-identity-"));
  provider = await startOpenidProvider(() => systemClock.now());
});
after(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

for (const mode of Object.keys(rows) as Mode[]) {
  suite(`identity, mode ${mode}`, () => {
    let rest: RestServer;
    before(async () => {
      const corsOrigins = mode === "none" ? undefined : ["*"];
      rest = await restFixture({ authenticator: await authenticatorOf(mode), corsOrigins });
    });
    after(() => rest[Symbol.asyncDispose]());

    for (const { credential, headers, outcome } of rows[mode]) {
      test(`credential ${credential}`, async () => {
        const sent = await headers();
        for (const host of hosts) {
          for (const origin of origins) {
            const reply = await rest.app.inject({
              url: "/api/v1/whoami",
              headers: { host, ...(origin === undefined ? {} : { origin }), ...sent },
            });
            const place = `host ${host}, origin ${origin}`;
            const isForeign = mode === "none" && (isForeignHost(host) || isForeignOrigin(origin));
            const expected = isForeign ? "FORBIDDEN" : outcome;
            const body = reply.json<Record<string, unknown>>();
            if (typeof expected === "string") {
              assert.equal(body["code"], expected, place);
              assert.equal(reply.statusCode, expected === "FORBIDDEN" ? 403 : 401, place);
              assert.deepEqual(Object.keys(body), ["error", "code", "details"]);
            } else {
              assert.equal(reply.statusCode, 200, place);
              const seen = Object.fromEntries(
                Object.keys(expected.as).map((key) => [key, body[key]]),
              );
              assert.deepEqual(seen, expected.as, place);
            }
            const allowed = reply.headers["access-control-allow-origin"];
            if (mode !== "none") assert.equal(allowed, origin === undefined ? undefined : "*");
            else assert.equal(allowed, isForeignOrigin(origin) ? undefined : origin, place);
          }
        }
      });
    }

    test("no answer repeats a credential", async () => {
      for (const { headers } of rows[mode]) {
        const sent = await headers();
        const reply = await rest.app.inject({
          url: "/api/v1/whoami",
          headers: { host: "localhost", ...sent },
        });
        for (const name of ["authorization", "x-gateway-secret"]) {
          const value = sent[name]?.replace(/^Bearer /, "");
          if (value)
            assert.ok(
              !reply.body.includes(value) && !JSON.stringify(reply.headers).includes(value),
            );
        }
      }
    });
  });
}

suite("identity, mode none, further rules of origin and host", () => {
  for (const [corsOrigins, origin, status, allowed] of [
    [["*"], "https://evil.example.com", 200, "*"],
    [["https://dash.example.com"], "https://dash.example.com", 200, "https://dash.example.com"],
    [["https://dash.example.com"], "https://evil.example.com", 403, undefined],
    [["https://dash.example.com"], "http://localhost:5173", 200, "http://localhost:5173"],
  ] as const) {
    test(`with ${corsOrigins.join()} ${origin} gets ${status}`, async () => {
      await using rest = await restFixture({ corsOrigins });
      const reply = await rest.app.inject({
        url: "/api/v1/whoami",
        headers: { host: "localhost", origin },
      });
      assert.deepEqual(
        [reply.statusCode, reply.headers["access-control-allow-origin"]],
        [status, allowed],
      );
      const rebound = await rest.app.inject({
        url: "/api/v1/whoami",
        headers: { host: "evil.com", origin },
      });
      assert.equal(rebound.statusCode, 403);
    });
  }
});

/** A token that says `alg: none`. */
function unsigned(claims: object): string {
  const part = (value: object): string => base64url.encode(JSON.stringify(value));
  return `${part({ alg: "none" })}.${part({ ...claims, aud: "keelson", exp: 9_999_999_999 })}.`;
}
