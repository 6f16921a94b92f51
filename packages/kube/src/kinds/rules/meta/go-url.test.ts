import assert from "node:assert/strict";
import { test } from "node:test";

import { parseGoUrl } from "./go-url.ts";

const right: readonly (readonly [text: string, parts: readonly string[]])[] = [
  ["https://host/path", ["https", "host", "/path", "", ""]],
  ["HTTPS://host:443", ["https", "host:443", "", "", ""]],
  ["https://[::1]:80/a%20b?c=d#e", ["https", "[::1]:80", "/a b", "c=d", "e"]],
  ["/only/path", ["", "", "/only/path", "", ""]],
  ["mailto:somebody", ["mailto", "", "", "", ""]],
  ["ftp://a:b:80/", ["ftp", "a:b:80", "/", "", ""]],
  ["https://x%25y#a%20b", ["https", "x%25y", "", "", "a b"]],
  ["https://[::1%25a%20b]/", ["https", "[::1%25a%20b]", "/", "", ""]],
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
  const users = [
    ["user:word", "user:word"],
    ["a@b:c:d", "a%40b:c%3Ad"],
    ["a!b'c:d*e(f)", "a%21b%27c:d%2Ae%28f%29"],
    ["a%41%ff%2f", "aA%FF%2F"],
    [":", ":"],
    ["", ""],
  ] as const;
  for (const [user, shown] of users) {
    assert.equal(parseGoUrl(`https://${user}@host`).url?.user, shown, user);
  }
});

const wrong: readonly (readonly [text: string, error: string])[] = [
  ["://host", 'parse "://host": missing protocol scheme'],
  ["a b:c", 'parse "a b:c": first path segment in URL cannot contain colon'],
  ["https://ho st", 'parse "https://ho st": invalid character " " in host name'],
  ["https://host:port", 'parse "https://host:port": invalid port ":port" after host'],
  ["https://host/%zz", 'parse "https://host/%zz": invalid URL escape "%zz"'],
  ["https://a:b:80", 'parse "https://a:b:80": invalid port ":b:80" after host'],
  ["https://x y%zz", 'parse "https://x y%zz": invalid character " " in host name'],
  ["https://a%4:1@x", 'parse "https://a%4:1@x": invalid URL escape "%4"'],
  ["https://[::%31]", 'parse "https://[::%31]": invalid URL escape "%31"'],
  ["https://a[::1]", 'parse "https://a[::1]": invalid IP-literal'],
  ["https://[1.2.3.4]", 'parse "https://[1.2.3.4]": invalid IP-literal'],
  ["https://[x]", 'parse "https://[x]": invalid host: ParseAddr("x"): unable to parse IP'],
  [
    "https://[::1%25]",
    'parse "https://[::1%25]": invalid host: ParseAddr("::1%"): zone must be a non-empty string',
  ],
  ["mailto:somebody#%z", 'parse "mailto:somebody#%z": invalid URL escape "%z"'],
  ["https://[::1", "parse \"https://[::1\": missing ']' in host"],
  ["https://host\n", 'parse "https://host\\n": net/url: invalid control character in URL'],
];

test("what is no URL is told in Go's words", () => {
  for (const [text, error] of wrong) assert.deepEqual(parseGoUrl(text), { error });
});
