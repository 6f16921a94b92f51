import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { suite, test } from "node:test";

import { issueCertificate, type KeyPair } from "./certificate.ts";
import { authorityOf, serverNameFor } from "./served-chain.ts";
import { below, making, root } from "../../testing/authorities.ts";

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
