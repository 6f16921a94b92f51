// The provider whose tokens are believed: asked once, asked again when it was away, and taken at its own name.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { startOpenidProvider } from "../../testing/openid-provider.ts";
import { restFixture } from "../../testing/rest-fixture.ts";
import type { Authenticator } from "./authenticator.ts";
import { oidcAuthenticator } from "./oidc.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

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
      [503, "IDENTITY_PROVIDER_UNAVAILABLE"],
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
    assert.equal((await rest.app.inject({ url: "/api/v1/whoami", headers })).statusCode, 503);
  });
});
