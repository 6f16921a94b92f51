// TLS for real: certificates made by openssl, a gateway that shows one, and files that change.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { json } from "node:stream/consumers";
import { connect as tlsConnect } from "node:tls";
import { promisify } from "node:util";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
import { restFixture } from "../testing/rest-fixture.ts";
import { gatewayAuthenticator } from "./identity/gateway.ts";
import { TlsFiles } from "./tls-files.ts";

const isMissing = spawnSync("openssl", ["version"]).error !== undefined;
let folder: string;
const file = (name: string): string => join(folder, name);

/** An authority and a certificate of it: `<name>-ca.pem`, `<name>.pem`, `<name>.key`. */
async function makeCertificate(name: string): Promise<void> {
  const openssl = (...args: string[]): Promise<unknown> => promisify(execFile)("openssl", args);
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch"];
  const ca = ["-subj", `/CN=${name} authority`, "-days", "1"];
  await openssl(
    "req",
    "-x509",
    ...ec,
    "-keyout",
    file(`${name}-ca.key`),
    "-out",
    file(`${name}-ca.pem`),
    ...ca,
  );
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  await openssl(
    "req",
    ...ec,
    "-keyout",
    file(`${name}.key`),
    "-out",
    file(`${name}.csr`),
    ...subject,
  );
  const by = ["-CA", file(`${name}-ca.pem`), "-CAkey", file(`${name}-ca.key`), "-days", "1"];
  await openssl(
    "x509",
    "-req",
    "-in",
    file(`${name}.csr`),
    "-copy_extensions",
    "copy",
    "-out",
    file(`${name}.pem`),
    ...by,
  );
}

suite("TLS", { skip: isMissing && "openssl makes the certificates" }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-tls-"));
    await Promise.all(["server", "gateway", "stranger", "renewed"].map(makeCertificate));
  });
  after(() => rm(folder, { recursive: true }));

  async function whoami(
    url: string,
    {
      client,
      headers = {},
    }: { readonly client?: string; readonly headers?: Record<string, string> },
  ): Promise<unknown> {
    const { port } = new URL(url);
    const shown =
      client === undefined
        ? {}
        : {
            cert: await readFile(file(`${client}.pem`)),
            key: await readFile(file(`${client}.key`)),
          };
    const ca = await readFile(file("server-ca.pem"));
    const sent = request({
      host: "127.0.0.1",
      port,
      path: "/api/v1/whoami",
      ca,
      headers,
      agent: false,
      ...shown,
    });
    sent.end();
    const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
    const { user, code } = (await json(answer)) as { user?: string; code?: string };
    return user ?? code;
  }

  const identity = { "x-user-email": "alice@example.com" };
  const rows = [
    [
      "a certificate of the gateway's authority",
      { client: "gateway", headers: identity },
      "alice@example.com",
    ],
    ["a certificate, and no identity", { client: "gateway" }, "AUTH_REQUIRED"],
    [
      "a certificate of another authority",
      { client: "stranger", headers: identity },
      "UNTRUSTED_GATEWAY",
    ],
    ["no certificate", { headers: identity }, "UNTRUSTED_GATEWAY"],
    ["neither", {}, "AUTH_REQUIRED"],
    [
      "no certificate, but the secret",
      { headers: { ...identity, "x-gateway-secret": "s" } },
      "alice@example.com",
    ],
    [
      "a stranger's certificate, and a wrong secret",
      { client: "stranger", headers: { ...identity, "x-gateway-secret": "t" } },
      "UNTRUSTED_GATEWAY",
    ],
  ] as const;
  for (const [name, how, expected] of rows) {
    test(`the gateway with ${name}: ${expected}`, async () => {
      const tls = await TlsFiles.read({
        certFile: file("server.pem"),
        keyFile: file("server.key"),
        clientCaFile: file("gateway-ca.pem"),
      });
      const authenticator = gatewayAuthenticator({ secret: "s", acceptsCertificates: true });
      await using rest = await restFixture({ tls, authenticator, corsOrigins: ["*"] });
      const url = await rest.listen({ address: "127.0.0.1", port: 0 });
      assert.match(url, /^https:/);
      assert.equal(await whoami(url, how), expected);
    });
  }

  test("a certificate counts for nothing where only the secret was configured", async () => {
    const tls = await TlsFiles.read({
      certFile: file("server.pem"),
      keyFile: file("server.key"),
      clientCaFile: undefined,
    });
    const authenticator = gatewayAuthenticator({ secret: "s", acceptsCertificates: false });
    await using rest = await restFixture({ tls, authenticator, corsOrigins: ["*"] });
    const url = await rest.listen({ address: "127.0.0.1", port: 0 });
    assert.equal(await whoami(url, { client: "gateway", headers: identity }), "UNTRUSTED_GATEWAY");
  });

  test("one that listens everywhere is found by an address that a certificate can be for", async () => {
    const tls = await TlsFiles.read({
      certFile: file("server.pem"),
      keyFile: file("server.key"),
      clientCaFile: undefined,
    });
    await using rest = await restFixture({ tls });
    assert.match(await rest.listen({ address: "0.0.0.0", port: 0 }), /^https:\/\/127\.0\.0\.1:/);
  });

  test("TLS below 1.2 is refused", async () => {
    const tls = await TlsFiles.read({
      certFile: file("server.pem"),
      keyFile: file("server.key"),
      clientCaFile: undefined,
    });
    await using rest = await restFixture({ tls });
    const { port } = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    const old = { maxVersion: "TLSv1.1", minVersion: "TLSv1", rejectUnauthorized: false } as const;
    const socket = tlsConnect({ host: "127.0.0.1", port: Number(port), ...old });
    const [error] = (await once(socket, "error")) as [Error];
    assert.match(String(error), /version|protocol|alert/i);
  });

  test("a renewed certificate is used within 5 seconds, and a wrong one changes nothing", async () => {
    for (const kind of ["pem", "key"]) await copyFile(file(`server.${kind}`), file(`live.${kind}`));
    const clock = new ManualClock();
    const log = new RecordingLog();
    const paths = {
      certFile: file("live.pem"),
      keyFile: file("live.key"),
      clientCaFile: undefined,
    };
    const tls = await TlsFiles.read(paths);
    await using rest = await restFixture({ tls, clock, log });
    const url = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    const stop = new AbortController();
    const following = rest.keepFresh(stop.signal);

    const subject = async (): Promise<string | undefined> => {
      const socket = tlsConnect({
        host: "127.0.0.1",
        port: Number(url.port),
        rejectUnauthorized: false,
      });
      await once(socket, "secureConnect");
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return [subject.CN].flat()[0];
    };
    const look = async (count: number): Promise<void> => {
      while (log.entries.length < count) {
        await clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    assert.equal(await subject(), "server");
    await writeFile(file("live.pem"), "nonsense");
    await look(1);
    assert.equal(await subject(), "server");
    for (const kind of ["key", "pem"])
      await copyFile(file(`renewed.${kind}`), file(`live.${kind}`));
    await look(2);
    while (log.entries.at(-1)?.message !== "certificate read again")
      await look(log.entries.length + 1);
    assert.equal(await subject(), "renewed");
    assert.equal(log.entries[0]?.message, "certificate is wrong, the last good one counts");
    stop.abort();
    await following;
  });

  test("files that cannot be used are named", async () => {
    const keyFile = file("server.key");
    await assert.rejects(
      TlsFiles.read({ certFile: file("no.pem"), keyFile, clientCaFile: undefined }),
      {
        code: "TLS_FILES",
        message: `${file("no.pem")} cannot be read (ENOENT)`,
      },
    );
    await assert.rejects(
      TlsFiles.read({ certFile: file("stranger.pem"), keyFile, clientCaFile: undefined }),
      { code: "TLS_FILES", message: /stranger\.pem and .*server\.key cannot be used for TLS/ },
    );
  });
});
