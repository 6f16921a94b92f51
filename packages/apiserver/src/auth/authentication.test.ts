import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connect, createServer, type TLSSocket } from "node:tls";
import { suite, test } from "node:test";

import { silentLog, systemRandom, type JsonObject } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { StatusError } from "@keelson/kube";

import type { Credentials } from "./authenticator.ts";
import { certificateAuthenticator, clientCertificates } from "./client-certificates.ts";
import { distinctHeaders } from "./headers.ts";
import { createAuthority, createKey, issueCertificate, type KeyPair } from "./pki/certificate.ts";
import { CertificatePool } from "./pki/certificate-pool.ts";
import { requestHeaderAuthenticator, usualRequestHeaders } from "./request-header.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";
import { bearerAuthenticator, unionTokens } from "./token-authenticator.ts";
import { tokenFileAuthenticator } from "./token-file.ts";
import { unionAuthenticator } from "./union.ts";
import type { BoundKey } from "./bound-objects.ts";

const nothing: Credentials = { certificates: [], authorization: undefined, headers: {} };
const clock = new ManualClock();
const dayMs = 86_400_000;
const issuer = "https://kubernetes.default.svc.cluster.local";

async function authority(name: string): Promise<KeyPair> {
  const key = createKey();
  const now = clock.now();
  const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + 100 * dayMs) };
  const certificate = await createAuthority({ name, key }, { validity, random: systemRandom });
  return { certificate, key };
}

async function client(issuedBy: KeyPair, name: string, ...groups: string[]): Promise<KeyPair> {
  const now = clock.now();
  const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + 10 * dayMs) };
  return await issueCertificate(issuedBy, { name, groups }, { validity, random: systemRandom });
}

function poolOf(...authorities: KeyPair[]): CertificatePool {
  return new CertificatePool(
    authorities.map(({ certificate }) => new X509Certificate(certificate)),
  );
}

/** A server with everything on; its objects may be changed. */
async function prepare() {
  const clients = await authority("clients");
  const proxies = await authority("proxies");
  const objects = new Map<string, JsonObject>();
  const place = ({ kind, namespace, name }: BoundKey): string => `${kind}/${namespace}/${name}`;
  const put = (
    kind: BoundKey["kind"],
    namespace: string,
    name: string,
    more: JsonObject = {},
  ): void => {
    const object = { metadata: { name, namespace, uid: `uid-${name}`, ...more } };
    objects.set(place({ kind, namespace, name }), object);
  };
  const tokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    key: createKey(),
    clock,
    objects: { find: (key) => objects.get(place(key)) },
  });
  let pool = poolOf(clients);
  const proxiesPool = poolOf(proxies);
  const file = tokenFileAuthenticator('secret,bob,7,"a,b"\r\n"quo""te",carl,8\n', {
    audiences: [issuer],
    log: silentLog,
  });
  const authenticator = unionAuthenticator({
    authenticators: [
      requestHeaderAuthenticator({
        clock,
        authorities: () => proxiesPool,
        names: () => ({ ...usualRequestHeaders, allowedNames: ["front-proxy"] }),
      }),
      certificateAuthenticator({ clock, authorities: () => pool }),
      bearerAuthenticator(unionTokens([file, tokens]), [issuer]),
    ],
    allowsAnonymous: true,
    log: silentLog,
  });
  const ask = async (credentials: Partial<Credentials>): Promise<unknown> => {
    try {
      const signal = new AbortController().signal;
      return (await authenticator.authenticate({ ...nothing, ...credentials }, signal))?.user;
    } catch (error) {
      if (error instanceof StatusError) return `${error.status.code} ${error.message}`;
      throw error;
    }
  };
  const trust = (next: CertificatePool): void => {
    pool = next;
  };
  return { clients, proxies, tokens, put, objects, ask, trust };
}

suite("authentication", () => {
  test("nothing shown is anonymous, anything wrong is 401", async () => {
    const { ask } = await prepare();
    assert.deepEqual(await ask({}), {
      name: "system:anonymous",
      uid: "",
      groups: ["system:unauthenticated"],
      extra: {},
    });
    assert.equal(await ask({ authorization: "Bearer wrong" }), "401 Unauthorized");
    assert.equal(await ask({ authorization: "Bearer a.b.c" }), "401 Unauthorized");
    assert.deepEqual(await ask({ authorization: "Basic Ym9iOnNlY3JldA==" }), await ask({}));
  });

  test("a client certificate is its common name in its organisations", async () => {
    const { ask, clients } = await prepare();
    const { certificate } = await client(clients, "ann", "team", "with, comma");
    const read = new X509Certificate(certificate);
    const fingerprint = read.fingerprint256.replaceAll(":", "").toLowerCase();
    const expected = {
      name: "ann",
      uid: "",
      groups: ["team", "with, comma", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
    };
    assert.deepEqual(await ask({ certificates: [read] }), expected);
    assert.deepEqual(await ask({ certificates: [read] }), expected);
  });

  test("a certificate of somebody else is 401, unless a token is right", async () => {
    const { ask, proxies } = await prepare();
    const certificates = [new X509Certificate((await client(proxies, "ann")).certificate)];
    assert.equal(await ask({ certificates }), "401 Unauthorized");
    const bob = { name: "bob", uid: "7", groups: ["a", "b", "system:authenticated"], extra: {} };
    assert.deepEqual(await ask({ certificates, authorization: "Bearer secret" }), bob);
  });

  test("new authorities count at once, also for certificates that were good before", async () => {
    const { ask, clients, proxies, trust } = await prepare();
    const certificates = [new X509Certificate((await client(clients, "ann")).certificate)];
    assert.notEqual(await ask({ certificates }), "401 Unauthorized");
    trust(poolOf(proxies));
    assert.equal(await ask({ certificates }), "401 Unauthorized");
  });

  test("the chain of a connection is verified over what the client sends along", async (t) => {
    const { ask, clients } = await prepare();
    const now = clock.now();
    const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + dayMs) };
    const { certificate, key } = await client(clients, "eve");
    const server = createServer({
      cert: certificate,
      key,
      requestCert: true,
      rejectUnauthorized: false,
    });
    t.after(() => server.close());
    const accepted = Promise.withResolvers<TLSSocket>();
    server.on("secureConnection", accepted.resolve);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    // Eve's own certificate is no authority: what she signs with it is worth nothing.
    const forged = await issueCertificate(
      { certificate, key },
      { name: "root", groups: ["system:masters"] },
      { validity, random: systemRandom },
    );
    const socket = connect({
      port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      cert: `${forged.certificate}${certificate}`,
      key: forged.key,
    });
    t.after(() => socket.destroy());
    const chain = clientCertificates(await accepted.promise);
    assert.deepEqual(
      chain.map(({ subject }) => subject),
      ["O=system:masters\nCN=root", "CN=eve"],
    );
    assert.equal(clientCertificates(await accepted.promise), chain);
    assert.equal(await ask({ certificates: chain }), "401 Unauthorized");
  });

  test("a front proxy is believed if its name is allowed, and nobody else", async () => {
    const { ask, clients, proxies } = await prepare();
    const headers = distinctHeaders(
      [
        ["X-Remote-User", "ann"],
        ["X-Remote-Uid", "5"],
        ["X-Remote-Group", "a, b"],
        ["X-Remote-Group", "c"],
        ["X-Remote-Extra-Some%2fKey", "v"],
        ["X-Remote-Extra-Some%2Fkey", "w"],
      ].flat(),
    );
    const proxy = new X509Certificate((await client(proxies, "front-proxy")).certificate);
    assert.deepEqual(await ask({ certificates: [proxy], headers }), {
      name: "ann",
      uid: "5",
      groups: ["a, b", "c", "system:authenticated"],
      extra: { "some/key": ["v", "w"] },
    });
    const other = new X509Certificate((await client(proxies, "other")).certificate);
    assert.equal(await ask({ certificates: [other], headers }), "401 Unauthorized");
    assert.equal(await ask({ certificates: [proxy] }), "401 Unauthorized");
    const direct = new X509Certificate((await client(clients, "direct")).certificate);
    const seen = (await ask({ certificates: [direct], headers })) as { name: string };
    assert.equal(seen.name, "direct");
    assert.deepEqual(await ask({ headers }), await ask({}));
  });

  test("tokens of a file", async () => {
    const { ask } = await prepare();
    const carl = { name: "carl", uid: "8", groups: ["system:authenticated"], extra: {} };
    assert.deepEqual(await ask({ authorization: 'bearer quo"te' }), carl);
    const wrong = (text: string) => () =>
      tokenFileAuthenticator(text, { audiences: [], log: silentLog });
    assert.throws(wrong("token,user"), { code: "TOKEN_FILE" });
    assert.throws(wrong('"token,user,1'), { code: "TOKEN_FILE" });
  });

  test("a ServiceAccount token holds as long as what it is bound to", async () => {
    const { ask, tokens, put, objects } = await prepare();
    const seconds = clock.now() / 1000;
    const claims = (bound: JsonObject, more: JsonObject = {}): string => {
      const account = { namespace: "shop", serviceaccount: { name: "bot", uid: "uid-bot" } };
      const times = { iat: seconds, nbf: seconds, exp: seconds + 3600 };
      const sub = "system:serviceaccount:shop:bot";
      const token = { aud: [issuer], sub, jti: "id", "kubernetes.io": { ...account, ...bound } };
      return `Bearer ${tokens.sign({ ...times, ...token, ...more })}`;
    };
    const name = "system:serviceaccount:shop:bot";
    const groups = [
      "system:serviceaccounts",
      "system:serviceaccounts:shop",
      "system:authenticated",
    ];
    const credential = { "authentication.kubernetes.io/credential-id": ["JTI=id"] };
    const pod = claims({ pod: { name: "p", uid: "uid-p" }, node: { name: "n", uid: "uid-n" } });

    put("ServiceAccount", "shop", "bot");
    assert.deepEqual(await ask({ authorization: claims({}) }), {
      name,
      uid: "uid-bot",
      groups,
      extra: credential,
    });
    assert.equal(await ask({ authorization: pod }), "401 Unauthorized");
    put("Pod", "shop", "p");
    assert.deepEqual(await ask({ authorization: pod }), {
      name,
      uid: "uid-bot",
      groups,
      extra: {
        ...credential,
        "authentication.kubernetes.io/pod-name": ["p"],
        "authentication.kubernetes.io/pod-uid": ["uid-p"],
        "authentication.kubernetes.io/node-name": ["n"],
        "authentication.kubernetes.io/node-uid": ["uid-n"],
      },
    });
    put("Pod", "shop", "p", { uid: "another" });
    assert.equal(await ask({ authorization: pod }), "401 Unauthorized");
    put("Pod", "shop", "p", { deletionTimestamp: "2025-12-31T00:00:00Z" });
    assert.equal(await ask({ authorization: pod }), "401 Unauthorized");

    const secret = claims({ secret: { name: "s", uid: "uid-s" } });
    const node = claims({ node: { name: "n", uid: "uid-n" } });
    assert.equal(await ask({ authorization: secret }), "401 Unauthorized");
    assert.equal(await ask({ authorization: node }), "401 Unauthorized");
    put("Secret", "shop", "s");
    put("Node", "", "n");
    assert.notEqual(await ask({ authorization: secret }), "401 Unauthorized");
    assert.notEqual(await ask({ authorization: node }), "401 Unauthorized");

    for (const more of [
      { aud: ["elsewhere"] },
      { exp: seconds - 61 },
      { nbf: seconds + 61 },
      { iat: seconds + 61 },
    ]) {
      assert.equal(await ask({ authorization: claims({}, more) }), "401 Unauthorized");
    }
    const [head = "", body = "", signature = ""] = claims({}).split(".");
    const forged = Buffer.from(
      Buffer.from(body, "base64url").toString().replace("bot", "god"),
    ).toString("base64url");
    assert.equal(
      await ask({ authorization: `${head}.${forged}.${signature}` }),
      "401 Unauthorized",
    );
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    assert.equal(
      await ask({ authorization: `Bearer ${none}.${body}.${signature}` }),
      "401 Unauthorized",
    );

    objects.clear();
    assert.equal(await ask({ authorization: secret }), "401 Unauthorized");
  });
});
