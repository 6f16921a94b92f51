import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { suite, test } from "node:test";

import { createAuthority, createKey, issueCertificate, type KeyPair } from "./certificate.ts";
import { CertificatePool } from "./certificate-pool.ts";
import { below, making, now, root, withExtensions } from "../../testing/authorities.ts";
import { loadX509 } from "./x509.ts";

async function judge(pool: CertificatePool, ...chain: KeyPair[]): Promise<string> {
  try {
    await pool.verifyClient(chain.map(read), now);
    return "trusted";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

function read({ certificate }: KeyPair): X509Certificate {
  return new X509Certificate(certificate);
}

suite("a chain of certificates", () => {
  test("may lead over authorities that the client sends, in any order, if all are there", async () => {
    const top = await root("top");
    const pool = new CertificatePool([read(top)]);
    const middle = await below(top, "middle");
    const low = await below(middle, "low");
    const leaf = await issueCertificate(low, { name: "ann" }, making);
    const stranger = await root("stranger");
    assert.deepEqual(
      [
        await judge(pool, leaf, stranger, middle, low),
        await judge(pool, leaf, low),
        await judge(pool, leaf),
      ],
      [
        "trusted",
        "x509: certificate signed by unknown authority",
        "x509: certificate signed by unknown authority",
      ],
    );
  });

  test("leads over nobody who is no authority, or not so deep", async () => {
    const top = await root("top");
    const pool = new CertificatePool([read(top)]);
    const shallow = await below(top, "shallow", 0);
    const low = await below(shallow, "low");
    const eve = await issueCertificate(top, { name: "eve" }, making);
    assert.deepEqual(
      [
        await judge(pool, await issueCertificate(shallow, { name: "ann" }, making), shallow),
        await judge(pool, await issueCertificate(low, { name: "ann" }, making), low, shallow),
        await judge(pool, await issueCertificate(eve, { name: "ann" }, making), eve),
      ],
      [
        "trusted",
        "x509: too many intermediates for path length constraint",
        "x509: certificate signed by unknown authority",
      ],
    );
  });

  test("may say nothing of its use, but nothing that must be heeded and is not", async () => {
    const x509 = await loadX509();
    const top = await root("top");
    const pool = new CertificatePool([read(top)]);
    const strange = new x509.Extension("1.2.3.4", true, new Uint8Array([5, 0]));
    const harmless = new x509.Extension("1.2.3.4", false, new Uint8Array([5, 0]));
    const anything = new x509.ExtendedKeyUsageExtension(["2.5.29.37.0"]);
    const servers = new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]);
    const onlyServers = await withExtensions(top, "only-servers", [
      new x509.BasicConstraintsExtension(true, undefined, true),
      servers,
    ]);
    assert.deepEqual(
      [
        await judge(pool, await withExtensions(top, "plain", [])),
        await judge(pool, await withExtensions(top, "harmless", [harmless])),
        await judge(pool, await withExtensions(top, "anything", [anything])),
        await judge(pool, await withExtensions(top, "strange", [strange])),
        await judge(pool, await withExtensions(top, "server", [servers])),
        await judge(
          pool,
          await issueCertificate(onlyServers, { name: "ann" }, making),
          onlyServers,
        ),
      ],
      [
        "trusted",
        "trusted",
        "trusted",
        "x509: unhandled critical extension 1.2.3.4",
        "x509: certificate specifies an incompatible key usage",
        "x509: certificate specifies an incompatible key usage",
      ],
    );
  });

  test("authorities that have all signed each other cost no more than a few signatures", async () => {
    const pool = new CertificatePool([read(await root("top"))]);
    // One name and one key: each is the issuer of all.
    const key = createKey();
    const ring: KeyPair[] = [];
    for (let i = 0; i < 30; i++) {
      ring.push({ key, certificate: await createAuthority({ name: "ring", key }, making) });
    }
    const [issuer = await root("none")] = ring;
    const leaf = await issueCertificate(issuer, { name: "ann" }, making);
    assert.equal(await judge(pool, leaf, ...ring), "x509: certificate signed by unknown authority");
  });
});
