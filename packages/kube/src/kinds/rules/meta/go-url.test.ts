import assert from "node:assert/strict";
import { test } from "node:test";

import { parseGoUrl } from "./go-url.ts";

const right: readonly (readonly [text: string, parts: readonly string[]])[] = [
  ["https://host/path", ["https", "host", "/path", "", ""]],
  ["HTTPS://host:443", ["https", "host:443", "", "", ""]],
  ["https://[::1]:80/a%20b?c=d#e", ["https", "[::1]:80", "/a b", "c=d", "e"]],
  ["/only/path", ["", "", "/only/path", "", ""]],
  ["mailto:somebody", ["mailto", "", "", "", ""]],
  ["", ["", "", "", "", ""]],
];

test("a URL is taken apart as Go does", () => {
  for (const [text, parts] of right) {
    const { url } = parseGoUrl(text);
    assert.ok(url !== undefined, text);
    assert.deepEqual([url.scheme, url.host, url.path, url.query, url.fragment], parts, text);
  }
});

test("user information is kept apart", () => {
  assert.equal(parseGoUrl("https://user:word@host").url?.user, "user:word");
});

const wrong: readonly (readonly [text: string, error: string])[] = [
  ["://host", 'parse "://host": missing protocol scheme'],
  ["a b:c", 'parse "a b:c": first path segment in URL cannot contain colon'],
  ["https://ho st", 'parse "https://ho st": invalid character " " in host name'],
  ["https://host:port", 'parse "https://host:port": invalid port ":port" after host'],
  ["https://host/%zz", 'parse "https://host/%zz": invalid URL escape "%zz"'],
  ["https://[::1", "parse \"https://[::1\": missing ']' in host"],
  ["https://host\n", 'parse "https://host\\n": net/url: invalid control character in URL'],
];

test("what is no URL is told in Go's words", () => {
  for (const [text, error] of wrong) assert.deepEqual(parseGoUrl(text), { error });
});
