// A kubeconfig's user of an OpenID Connect provider: a real provider, no cluster.

import assert from "node:assert/strict";
import { chmodSync, mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";
import { loadKubeconfig, type Credentials } from "@keelson/client";

import { startHttpProxy } from "./proxies.ts";
import { OidcIssuer, type OidcIssuerOptions } from "./oidc-issuer.ts";

const hourMs = 3_600_000;
const never = new AbortController().signal;

suite("users of a provider", () => {
  const clients: readonly (readonly [what: string, client: Partial<OidcIssuerOptions>])[] = [
    ["a client without a secret", {}],
    ["a secret in the head", { clientSecret: "a:b/c+d e-f" }],
    ["a secret in the body", { clientSecret: "a:b/c+d e-f", way: "client_secret_post" }],
  ];
  for (const [what, client] of clients) {
    test(`a token that runs out is replaced in time: ${what}`, async () => {
      await using world = await start(client);
      const { issuer, clock, token } = world;
      assert.equal(await token(), issuer.idTokens[0]);
      await clock.advance(hourMs - 11_000);
      assert.equal(await token(), issuer.idTokens[0]);
      await clock.advance(1_500);
      assert.equal(await token(), issuer.idTokens[1]);
      assert.deepEqual([issuer.idTokens.length, issuer.refusals], [2, 0]);
    });
  }

  test("refresh tokens are good for one use, and go back into the file and nothing else does", async () => {
    await using world = await start({ clientSecret: "secret" });
    const { issuer, clock, token, file, credentials } = world;
    const before = readFileSync(file, "utf8");
    chmodSync(file, 0o600);
    await token();
    for (let round = 1; round <= 3; round++) {
      await clock.advance(1_001);
      credentials.renew();
      assert.equal(await token(), issuer.idTokens[round]);
    }
    const after = readFileSync(file, "utf8");
    const lines = after.split("\n").filter((line, i) => line !== before.split("\n")[i]);
    assert.deepEqual(
      lines.map((line) => line.split(":")[0]?.trim()),
      ["id-token", "refresh-token"],
    );
    assert.ok(after.includes(issuer.idTokens[3] ?? "no token"));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const again = await loadKubeconfig({ files: [file] }, { clock });
    assert.equal(
      (await again.credentials.current(never)).headers["authorization"],
      `Bearer ${issuer.idTokens[3]}`,
    );
    assert.equal(issuer.refusals, 0);
  });

  test("a file that is locked stays as it is, and the tokens are kept in memory", async () => {
    await using world = await start({});
    const { issuer, clock, token, file, credentials } = world;
    const before = readFileSync(file, "utf8");
    writeFileSync(`${file}.lock`, "");
    await token();
    for (let round = 1; round <= 2; round++) {
      await clock.advance(1_001);
      credentials.renew();
      assert.equal(await token(), issuer.idTokens[round]);
    }
    assert.deepEqual([readFileSync(file, "utf8"), issuer.refusals], [before, 0]);
  });

  test("another login in the file counts over what we have", async () => {
    await using world = await start({});
    const { issuer, clock, token, file, credentials, write } = world;
    assert.equal(await token(), issuer.idTokens[0]);
    const { idToken, refreshToken } = issuer.issue();
    write(file, { idToken, refreshToken });
    await clock.advance(1_001);
    credentials.renew();
    assert.equal(await token(), idToken);
  });

  test("a provider that is away is asked again, and what we have is used while it is good", async () => {
    await using world = await start({});
    const { issuer, clock, token } = world;
    issuer.isFailing = true;
    await clock.advance(hourMs - 5_000);
    assert.equal(await token(), issuer.idTokens[0]);
    await clock.advance(6_000);
    await assert.rejects(token(), { code: "BAD_KUBECONFIG", message: /cannot be refreshed/ });
    issuer.isFailing = false;
    assert.equal(await token(), issuer.idTokens[1]);
  });

  test("without a refresh token it is over when the token is", async () => {
    await using world = await start({}, { isLoginKept: false });
    const { clock, token } = world;
    await clock.advance(hourMs - 5_000);
    await token();
    await clock.advance(6_000);
    await assert.rejects(token(), { code: "BAD_KUBECONFIG", message: /has expired/ });
  });

  test("the provider is reached by the environment's proxy", async () => {
    await using proxy = await startHttpProxy();
    await using world = await start({ host: "issuer.test" }, { proxy: proxy.url });
    const { issuer, clock, token } = world;
    await clock.advance(hourMs);
    assert.equal(await token(), issuer.idTokens[1]);
    assert.deepEqual(new Set(proxy.asked), new Set([`CONNECT ${new URL(issuer.url).host}`]));
  });
});

interface World extends AsyncDisposable {
  readonly issuer: OidcIssuer;
  readonly clock: ManualClock;
  readonly file: string;
  readonly credentials: Credentials;
  readonly token: () => Promise<string>;
  readonly write: (file: string, tokens: Tokens) => void;
}

interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string;
}

async function start(
  client: Partial<OidcIssuerOptions>,
  { isLoginKept = true, proxy }: { isLoginKept?: boolean; proxy?: string } = {},
): Promise<World> {
  const issuer = await OidcIssuer.start({
    clientId: "keelson",
    groups: [],
    lifeSeconds: hourMs / 1_000,
    ...client,
  });
  const folder = mkdtempDisposableSync(join(tmpdir(), "keelson-oidc-"));
  const file = join(folder.path, "kubeconfig");
  writeFileSync(join(folder.path, "issuer.crt"), issuer.ca);
  const write = (file: string, { idToken, refreshToken }: Tokens): void =>
    writeFileSync(
      file,
      `# Made by hand.
apiVersion: v1
kind: Config
current-context: here   # the only one
contexts: [{ name: here, context: { cluster: c, user: u } }]
clusters: [{ name: c, cluster: { server: "https://c" } }]
users:
  - name: u
    user:
      auth-provider:
        name: oidc
        config:
          idp-issuer-url: ${issuer.url}
          idp-certificate-authority: issuer.crt
          client-id: keelson
          client-secret: "${client.clientSecret ?? ""}"
          id-token: ${idToken}
          refresh-token: "${isLoginKept ? refreshToken : ""}"
`,
    );
  const first = issuer.issue();
  write(file, first);
  // From its issue on: how long this took does not matter.
  const [, claims = ""] = first.idToken.split(".");
  const { iat } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { iat: number };
  const clock = new ManualClock({ now: iat * 1_000 });
  const proxies = proxy === undefined ? {} : { httpsProxy: proxy };
  const { credentials } = await loadKubeconfig({ files: [file] }, { clock, proxies });
  return {
    issuer,
    clock,
    file,
    credentials,
    write,
    token: async () => {
      const { headers } = await credentials.current(never);
      return String(headers["authorization"]).replace("Bearer ", "");
    },
    [Symbol.asyncDispose]: async () => {
      await issuer[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
