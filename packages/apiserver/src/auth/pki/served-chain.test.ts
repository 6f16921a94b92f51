import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { suite, test } from "node:test";

import { systemRandom } from "@keelson/base";

import { createAuthority, createKey, issueCertificate, type KeyPair } from "./certificate.ts";
import { authorityOf, serverNameFor } from "./served-chain.ts";
import { loadX509 } from "./x509.ts";

const now = Date.UTC(2026, 0, 1);
const validity = { notBefore: new Date(now), notAfter: new Date(now + 86_400_000) };
const making = { validity, random: systemRandom };
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

async function root(name: string): Promise<KeyPair> {
  const key = createKey();
  return { key, certificate: await createAuthority({ name, key }, making) };
}

/** An authority below another. */
async function below(issuer: KeyPair, name: string): Promise<KeyPair> {
  const x509 = await loadX509();
  const key = createKey();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: Buffer.from(systemRandom.bytes(8)).toString("hex"),
    subject: `CN=${name}`,
    issuer: new x509.X509Certificate(issuer.certificate).subject,
    publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ["verify"]),
    signingKey: createPrivateKey(issuer.key).toCryptoKey(algorithm, true, ["sign"]),
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  return { key, certificate: certificate.toString("pem") };
}

/** Whom a client of that chain is told to trust. */
function trusted(...chain: readonly KeyPair[]): string {
  const { authority, isRoot } = authorityOf(chain.map((one) => one.certificate).join("\n"));
  return `${new X509Certificate(authority).subject}${isRoot ? "" : ", no root"}`;
}

suite("a chain that is served", () => {
  test("is believed by its last issuer, in whatever order the others come", async () => {
    const top = await root("top");
    const middle = await below(top, "middle");
    const low = await below(middle, "low");
    const leaf = await issueCertificate(low, { name: "leaf", hosts: ["a"] }, making);
    const stranger = await root("stranger");
    const namesake = await root("low");
    assert.deepEqual(
      [
        trusted(leaf, low, middle, top),
        trusted(leaf, top, stranger, middle, low),
        trusted(leaf, low, middle),
        trusted(leaf, low),
        trusted(leaf, namesake, top),
        trusted(leaf),
        trusted(top),
      ],
      [
        "CN=top",
        "CN=top",
        "CN=middle, no root",
        "CN=low, no root",
        "CN=leaf, no root",
        "CN=leaf, no root",
        "CN=top",
      ],
    );
  });

  test("names what clients must expect where it is not for their address", async () => {
    const top = await root("top");
    const expected = async (hosts: readonly string[], url: string): Promise<string | undefined> => {
      const leaf = await issueCertificate(top, { name: "leaf", hosts }, making);
      return serverNameFor(leaf.certificate, url);
    };
    assert.deepEqual(
      [
        await expected(["api.example.com", "127.0.0.1"], "https://127.0.0.1:6443"),
        await expected(["::1"], "https://[::1]:6443"),
        await expected(["127.0.0.1", "api.example.com"], "https://[::1]:6443"),
        await expected(["*.example.com"], "https://127.0.0.1:6443"),
        await expected(["192.0.2.1"], "https://127.0.0.1:6443"),
        serverNameFor(top.certificate, "https://127.0.0.1:6443"),
      ],
      [undefined, undefined, "api.example.com", "kubernetes.example.com", "192.0.2.1", undefined],
    );
  });
});
