// Every mode × every credential × where the request comes from.

import assert from "node:assert/strict";
import crypto, { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { silentLog, systemClock, type RestErrorCode } from "@keelson/base";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
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
    {
      credential: "good, but the address is none",
      headers: async () => bearer(await provider.sign({ email: "carol" })),
      outcome: "INVALID_EMAIL",
    },
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

suite("identity, mode token, the file", () => {
  const digest = "a".repeat(64);
  for (const [content, pattern] of [
    ["{", /is wrong: expected/],
    ["{}", /tokens is required/],
    [
      `{"tokens":[{"name":"a","sha256":"x","role":"boss"}]}`,
      /tokens\[0\]\.sha256 must match.*tokens\[0\]\.role must be one of reader, editor, admin/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin","email":"x"}]}`,
      /tokens\[0\]\.email is no e-mail/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin","token":"x"}]}`,
      /tokens\[0\]\.token is not a known field/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin"},{"name":"a","sha256":"${digest}","role":"admin"}]}`,
      /tokens\[1\]\.name a stands twice; tokens\[1\]\.sha256 stands twice/,
    ],
  ] as const) {
    test(`${content.slice(0, 40)} is refused at the start`, async () => {
      const tokensFile = join(folder, "wrong.json");
      await writeFile(tokensFile, content);
      await assert.rejects(tokenAuthenticator({ tokensFile, clock: systemClock, log: silentLog }), {
        code: "TOKENS_FILE",
        message: pattern,
      });
    });
  }

  test("is followed: a token that is added or removed counts within 5 seconds", async () => {
    const tokensFile = join(folder, "followed.json");
    const write = (...names: string[]): Promise<void> =>
      writeFile(
        tokensFile,
        JSON.stringify({
          tokens: names.map((name) => ({ name, sha256: hash("sha256", name), role: "admin" })),
        }),
      );
    await write("old");
    const clock = new ManualClock();
    const log = new RecordingLog();
    await using rest = await restFixture({
      authenticator: await tokenAuthenticator({ tokensFile, clock, log }),
    });
    const stop = new AbortController();
    const following = rest.keepFresh(stop.signal);
    const status = async (token: string): Promise<number> =>
      (await rest.app.inject({ url: "/api/v1/whoami", headers: bearer(token) })).statusCode;
    const read = async (message: string): Promise<void> => {
      while (log.entries.at(-1)?.message !== message) {
        await clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    assert.deepEqual([await status("old"), await status("new")], [200, 401]);
    await write("new");
    await read("tokens file read again");
    assert.deepEqual([await status("old"), await status("new")], [401, 200]);
    await rm(tokensFile);
    await read("tokens file is wrong, the last good one counts");
    assert.deepEqual([await status("old"), await status("new")], [401, 200]);
    stop.abort();
    await following;
  });

  test("a stream ends with its token, or when that allows something else, and others go on", async (t) => {
    const tokensFile = join(folder, "streams.json");
    const write = (tokens: Readonly<Record<string, readonly string[]>>): Promise<void> => {
      const entries = Object.entries(tokens).map(([name, clusters]) => {
        return { name, sha256: hash("sha256", name), role: "reader", clusters };
      });
      return writeFile(tokensFile, JSON.stringify({ tokens: entries }));
    };
    await write({ removed: ["a"], narrowed: ["a", "b"], kept: ["a", "b"] });
    const clock = new ManualClock();
    const log = new RecordingLog();
    await using rest = await restFixture({
      authenticator: await tokenAuthenticator({ tokensFile, clock, log }),
      clock,
      log,
    });
    const url = await rest.listen({ address: "127.0.0.1", port: 0 });
    const stop = new AbortController();
    const following = rest.keepFresh(stop.signal);
    const open = async (token: string) => {
      const answer = await fetch(`${url}/api/v1/stream`, {
        headers: bearer(token),
        signal: t.signal,
      });
      const stream = { isOver: false };
      const ended = answer.text().finally(() => (stream.isOver = true));
      ended.catch(() => undefined); // Of those that are still open when the test ends.
      return { stream, ended };
    };
    const [removed, narrowed, kept] = [
      await open("removed"),
      await open("narrowed"),
      await open("kept"),
    ];
    await write({ narrowed: ["b"], kept: ["b", "a"] });
    while (!removed.stream.isOver || !narrowed.stream.isOver) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await removed.ended, "begun\nstopped\n");
    // By the same look as the others it was judged, and found as before.
    assert.equal(kept.stream.isOver, false);
    assert.equal(
      log.messages("info").filter((text) => text === "a stream has lost its credential").length,
      2,
    );
    stop.abort();
    await following;
  });

  test("a token costs one fast digest, however often it comes", async (t) => {
    const tokensFile = join(folder, "fast.json");
    const entry = { name: "often", sha256: hash("sha256", "often"), role: "admin" };
    await writeFile(tokensFile, JSON.stringify({ tokens: [entry] }));
    const slow = [
      t.mock.method(crypto, "scrypt"),
      t.mock.method(crypto, "scryptSync"),
      t.mock.method(crypto, "pbkdf2"),
      t.mock.method(crypto, "pbkdf2Sync"),
    ];
    const fast = t.mock.method(crypto, "hash");
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const authenticator = await tokenAuthenticator({
      tokensFile,
      clock: systemClock,
      log: silentLog,
    });
    await using rest = await restFixture({ authenticator });
    fast.mock.resetCalls();
    const ask = async (token: string): Promise<number> =>
      (await rest.app.inject({ url: "/api/v1/whoami", headers: bearer(token) })).statusCode;
    for (let request = 0; request < 1_000; request++) assert.equal(await ask("often"), 200);
    assert.equal(fast.mock.callCount(), 1);
    assert.equal(await ask("wrong"), 401);
    assert.equal(fast.mock.callCount(), 2);
    for (const { mock } of slow) assert.equal(mock.callCount(), 0);
  });

  test("a missing one is refused at the start", async () => {
    const tokensFile = join(folder, "missing.json");
    await assert.rejects(tokenAuthenticator({ tokensFile, clock: systemClock, log: silentLog }), {
      message: `the tokens file ${tokensFile} cannot be read (ENOENT)`,
    });
  });
});

suite("identity, mode oidc, the provider", () => {
  const authenticator = (issuer: string): Authenticator =>
    oidcAuthenticator({
      issuer,
      audience: "keelson",
      emailClaim: "email",
      rolesClaim: "roles",
      organizationClaim: undefined,
      clock: systemClock,
    });

  test("keys are fetched once", async () => {
    await using own = await startOpenidProvider(() => systemClock.now());
    await using rest = await restFixture({ authenticator: authenticator(own.issuer) });
    const get = async (): Promise<number> => {
      const token = await own.sign({ email: "carol@example.com", roles: "a b,fleet:reader" });
      const reply = await rest.app.inject({ url: "/api/v1/whoami", headers: bearer(token) });
      return reply.statusCode;
    };
    for (let i = 0; i < 5; i++) assert.equal(await get(), 200);
    assert.deepEqual(own.asked, { discovery: 1, keys: 1 });
  });

  test("one that cannot be asked is no fault of the token, and is asked again", async () => {
    await using own = await startOpenidProvider(() => systemClock.now());
    await using rest = await restFixture({ authenticator: authenticator(own.issuer) });
    const headers = bearer(await own.sign({ email: "carol@example.com" }));
    own.isUp = false;
    const down = await rest.app.inject({ url: "/api/v1/whoami", headers });
    assert.deepEqual(
      [down.statusCode, down.json<{ code: string }>().code],
      [500, "INTERNAL_ERROR"],
    );
    assert.equal(down.headers["retry-after"], "5");
    own.isUp = true;
    assert.equal((await rest.app.inject({ url: "/api/v1/whoami", headers })).statusCode, 200);
  });

  test("one that calls itself by another name is not believed", async () => {
    await using own = await startOpenidProvider(() => systemClock.now());
    const other = own.issuer.replace("127.0.0.1", "localhost");
    await using rest = await restFixture({ authenticator: authenticator(other) });
    const headers = bearer(await own.sign({ email: "carol@example.com" }, { issuer: other }));
    assert.equal((await rest.app.inject({ url: "/api/v1/whoami", headers })).statusCode, 500);
  });
});

/** A token that says `alg: none`. */
function unsigned(claims: object): string {
  const part = (value: object): string => base64url.encode(JSON.stringify(value));
  return `${part({ alg: "none" })}.${part({ ...claims, aud: "keelson", exp: 9_999_999_999 })}.`;
}
