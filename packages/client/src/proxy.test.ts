import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { environmentProxy, proxyUrlOf } from "./proxy.ts";

const proxies = { httpsProxy: "http://secure:3128", httpProxy: "plain:8080" };

/** What NO_PROXY says, which server is asked, and whether the proxy is on the way. */
const cases: readonly (readonly [noProxy: string, server: string, isProxied: boolean])[] = [
  ["", "https://api.example.com", true],
  ["", "https://127.0.0.1:6443", false],
  ["", "https://127.8.9.1", false],
  ["", "https://localhost:6443", false],
  ["", "https://[::1]:6443", false],
  ["*", "https://api.example.com", false],
  ["example.com", "https://example.com", false],
  ["example.com", "https://api.example.com", false],
  ["example.com", "https://notexample.com", true],
  [".example.com", "https://example.com", true],
  [".example.com", "https://api.example.com", false],
  ["*.example.com", "https://api.example.com", false],
  ["*.example.com", "https://example.com", true],
  ["EXAMPLE.com", "https://api.Example.COM", false],
  ["other.com, example.com", "https://example.com", false],
  ["example.com:6443", "https://example.com:6443", false],
  ["example.com:6443", "https://example.com", true],
  ["example.com:443", "https://example.com", false],
  ["10.0.0.0/8", "https://10.96.0.1:443", false],
  ["10.0.0.0/8", "https://11.0.0.1", true],
  ["10.0.0.0/99", "https://10.0.0.1", true],
  ["10.96.0.1", "https://10.96.0.1", false],
  ["10.96.0.1:6443", "https://10.96.0.1", true],
  ["96.0.1", "https://10.96.0.1", true],
  ["fd00::/8", "https://[fd00::1]:6443", false],
  ["fd00::1", "https://[fd00::1]:6443", false],
  ["[fd00::1]:6443", "https://[fd00::1]:6443", false],
  ["[fd00::1]:443", "https://[fd00::1]:6443", true],
  ["10.0.0.0/8", "https://api.example.com", true],
  [",,", "https://api.example.com", true],
];

suite("proxies of the environment", () => {
  for (const [noProxy, server, isProxied] of cases) {
    test(`NO_PROXY=${noProxy} and ${server}: ${isProxied ? "by the proxy" : "directly"}`, () => {
      const found = environmentProxy(server, { ...proxies, noProxy });
      assert.equal(found, isProxied ? "http://secure:3128" : undefined);
    });
  }

  test("each scheme has its own, and none means none", () => {
    assert.equal(environmentProxy("http://api.example.com", proxies), "http://plain:8080");
    assert.equal(environmentProxy("http://api.example.com", { httpsProxy: "x" }), undefined);
    assert.equal(environmentProxy("https://api.example.com", { httpsProxy: "" }), undefined);
  });

  test("what a proxy may be called", () => {
    assert.deepEqual(
      ["proxy:1", "https://u:p@proxy:1/", "socks5://s:2", "socks5h://s:2"].map(proxyUrlOf),
      ["http://proxy:1", "https://u:p@proxy:1", "socks5://s:2", "socks5://s:2"],
    );
    assert.throws(() => proxyUrlOf("ftp://proxy"), /not by ftp:/);
  });
});
