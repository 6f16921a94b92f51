// Identity providers, from the platform's Secrets: a real one is a second realm of the same Keycloak.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterSuite } from "../tools/test-cluster.ts";
import {
  addUser,
  changed,
  loginUrl,
  noting,
  prepareAuth,
  tenant,
  type AuthBed,
  type Tenant,
} from "./auth-bed.ts";
import { Browser } from "./browser.ts";
import { withoutKeycloak, type KeycloakServer } from "./keycloak-server.ts";

const skip = withoutKeycloak;

interface Provider {
  readonly alias: string;
  readonly enabled: boolean;
  readonly displayName?: string;
  readonly config: Readonly<Record<string, string>>;
}

clusterSuite("identity providers", () => {
  test(
    "P13: come from the platform's Secrets, else it is said; and are kept so",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      const shop = tenant({}, { auth: { enabled: true, providers: ["google", "github"] } });
      const first = await bed.reconcile(shop);
      assert.deepEqual(first.finding, {
        status: "True",
        reason: "ProviderNotConfigured",
        message:
          "not every provider is configured: google: there is no Secret default/plattr-idp-google; github: there is no Secret default/plattr-idp-github",
      });
      assert.deepEqual(await providersOf(bed, shop), []);

      await bed.secret("google", { clientId: "g-1", clientSecret: "google-secret\n" });
      await bed.secret("github", { clientId: "h-1" });
      const second = await bed.reconcile(shop);
      assert.deepEqual(second.changes, ["createProvider google"]);
      assert.match(second.finding?.message ?? "", /: github: Secret \S+ has no clientSecret$/);
      const [google] = await providersOf(bed, shop);
      assert.deepEqual(
        [
          google?.alias,
          google?.enabled,
          google?.config["clientId"],
          google?.config["clientSecret"],
        ],
        ["google", true, "g-1", "**********"],
      );

      // The secret cannot be read back; it is not written again for that.
      const calls: string[] = [];
      const again = await bed.reconcile(shop, { admin: bed.admin({ onCall: noting(calls) }) });
      assert.deepEqual([again.changes, calls.at(-1)], [[], "findProviders"]);
      await bed.secret("google", { clientId: "g-1", clientSecret: "another" });
      await bed.secret("github", { clientId: "h-1", clientSecret: "github-secret" });
      const third = await bed.reconcile(shop);
      assert.deepEqual(
        [third.changes, third.finding],
        [["updateProvider google", "createProvider github"], undefined],
      );

      // One of their own, and a word of their own at ours.
      const { ask } = bed.keycloak;
      const path = `/${shop.app.names.realm}/identity-provider/instances`;
      await ask("POST", path, {
        alias: "corp",
        providerId: "github",
        enabled: true,
        config: { clientId: "x", clientSecret: "y" },
      });
      const live = (await ask<Provider>("GET", `${path}/google`)) ?? assert.fail();
      const config = { ...live.config, clientId: "stolen", hostedDomain: "example.com" };
      await ask("PUT", `${path}/google`, { ...live, enabled: false, displayName: "G", config });
      assert.deepEqual((await bed.reconcile(shop)).changes, ["updateProvider google"]);
      const repaired = (await ask<Provider>("GET", `${path}/google`)) ?? assert.fail();
      const { clientId, hostedDomain } = repaired.config;
      assert.deepEqual(
        [repaired.enabled, clientId, hostedDomain, repaired.displayName],
        [true, "g-1", "example.com", "G"],
      );

      // What nobody asks for any more is switched off, or goes; what is not ours stays.
      const fewer = changed(shop, { auth: { enabled: true, providers: ["github"] } });
      const careful = changed(fewer, { deletionPolicy: "Retain" });
      assert.deepEqual((await bed.reconcile(careful)).changes, ["disableProvider google"]);
      assert.deepEqual((await bed.reconcile(careful)).changes, []);
      assert.deepEqual((await bed.reconcile(shop)).changes, ["updateProvider google"]);
      assert.deepEqual((await bed.reconcile(fewer)).changes, ["deleteProvider google"]);
      const left = (await providersOf(bed, shop)).map(({ alias }) => alias);
      assert.deepEqual(left.toSorted(), ["corp", "github"]);
    },
  );

  test(
    "people come in through another OIDC server, whose secret may change",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      const { keycloak } = bed;
      const corp = await corporation(bed);
      const issuerUrl = `${keycloak.url}/realms/${corp.realm}`;
      await bed.secret("oidc", {
        clientId: "platform",
        clientSecret: "first",
        issuerUrl: `${issuerUrl}/`,
      });
      const shop = tenant({}, { auth: { enabled: true, providers: ["oidc"] } });
      assert.deepEqual((await bed.reconcile(shop)).changes, [
        "createRealm",
        "createClient",
        "createProvider oidc",
      ]);
      assert.deepEqual((await bed.reconcile(shop)).changes, []);
      const [oidc] = await providersOf(bed, shop);
      assert.equal(oidc?.config["tokenUrl"], `${issuerUrl}/protocol/openid-connect/token`);
      assert.equal(await comesIn(bed, shop), true);

      await corp.setSecret("second");
      assert.equal(await comesIn(bed, shop), false);
      await bed.secret("oidc", { clientId: "platform", clientSecret: "second", issuerUrl });
      assert.deepEqual((await bed.reconcile(shop)).changes, ["updateProvider oidc"]);
      assert.equal(await comesIn(bed, shop), true);

      // Put right from what was read at first: the other server is not asked, and need not be there.
      const path = `/${shop.app.names.realm}/identity-provider/instances/oidc`;
      const live = (await keycloak.ask<Provider>("GET", path)) ?? assert.fail();
      await keycloak.ask("PUT", path, {
        ...live,
        config: { ...live.config, tokenUrl: "http://127.0.0.1:1/" },
      });
      const calls: string[] = [];
      await bed.reconcile(shop, { admin: bed.admin({ onCall: noting(calls) }) });
      assert.deepEqual(calls.slice(-2), ["findProviders", "updateProvider"]);
      assert.equal(await comesIn(bed, shop), true);
    },
  );

  test("a SAML provider is known by its metadata, once it tells them", { skip }, async (t) => {
    await using bed = await prepareAuth(t.signal);
    const { url } = bed.keycloak;
    const corp = await corporation(bed);
    const address = `${url}/realms/${corp.realm}/protocol/saml`;
    await bed.secret("saml", { clientId: "urn:platform", metadataUrl: `${address}/descriptor` });
    const shop = tenant({}, { auth: { enabled: true, providers: ["saml"] } });
    await bed.reconcile(shop);
    assert.deepEqual((await bed.reconcile(shop)).changes, []);
    const [saml] = await providersOf(bed, shop);
    assert.deepEqual(
      [saml?.config["singleSignOnServiceUrl"], saml?.config["entityId"]],
      [address, "urn:platform"],
    );

    for (const provider of ["google", "github"]) {
      await bed.secret(provider, { clientId: "c-1", clientSecret: "a secret" });
    }
    const withGoogle = changed(shop, { auth: { enabled: true, providers: ["saml", "google"] } });
    await bed.reconcile(withGoogle);
    await bed.secret("saml", { metadataUrl: "http://127.0.0.1:1/descriptor" });
    await assert.rejects(bed.reconcile(withGoogle), /discoverProvider/);
    // One that does not tell keeps no other from being made, nor from going.
    const withGithub = changed(shop, { auth: { enabled: true, providers: ["saml", "github"] } });
    await assert.rejects(bed.reconcile(withGithub), /discoverProvider/);
    const there = (await providersOf(bed, shop)).map(({ alias }) => alias);
    assert.deepEqual(there.toSorted(), ["github", "saml"]);
    await bed.secret("saml", { metadataUrl: `${address}/descriptor` });
    assert.deepEqual((await bed.reconcile(withGithub)).changes, ["updateProvider saml"]);
  });
});

async function providersOf({ keycloak }: AuthBed, { app }: Tenant): Promise<readonly Provider[]> {
  const path = `/${app.names.realm}/identity-provider/instances?briefRepresentation=false`;
  return (await keycloak.ask<Provider[]>("GET", path)) ?? [];
}

let shared: ReturnType<typeof addCorporation> | undefined;

/** A company with an OIDC server of its own, where the platform is known. */
function corporation({ keycloak }: AuthBed): ReturnType<typeof addCorporation> {
  return (shared ??= addCorporation(keycloak));
}

async function addCorporation(keycloak: KeycloakServer) {
  const { ask } = keycloak;
  const realm = `corp-${tenant().app.names.name}`;
  await ask("POST", "", { realm, enabled: true });
  const client = {
    clientId: "platform",
    publicClient: false,
    secret: "first",
    redirectUris: ["*"],
  };
  await ask("POST", `/${realm}/clients`, client);
  await addUser(keycloak, { realm, username: "bob", password: "bob's" });
  const [{ id } = { id: "" }] =
    (await ask<{ id: string }[]>("GET", `/${realm}/clients?clientId=platform`)) ?? [];
  return {
    realm,
    setSecret: (secret: string) => ask("PUT", `/${realm}/clients/${id}`, { ...client, secret }),
  };
}

/** Whether somebody of the company gets to the app. */
async function comesIn({ keycloak }: AuthBed, { app }: Tenant): Promise<boolean> {
  const { realm, client: clientId, domain } = app.names;
  const redirectUri = `https://${domain}/callback`;
  const issuer = `${keycloak.url}/realms/${realm}`;
  const { url } = loginUrl(issuer, { clientId, redirectUri, kc_idp_hint: "oidc" });
  const browser = new Browser(keycloak.url);
  const theirs = await browser.open(url);
  assert.match(theirs.url.pathname, /^\/realms\/corp-/);
  const sent = await browser.submit(theirs, {
    username: "bob",
    password: "bob's",
    credentialId: "",
  });
  return sent.status === undefined && sent.url.searchParams.has("code");
}
