import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addressWarnings,
  networkWarnings,
  parseAddress,
  parseNetwork,
  printAddress,
  printNetwork,
} from "./addresses.ts";

test("addresses are printed in their usual form", () => {
  const forms = [
    ["1.2.3.4", "1.2.3.4"],
    ["01.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["2001:DB8::0:1", "2001:db8::1"],
    ["0:0:1:0:0:0:1:1", "0:0:1::1:1"],
    ["::", "::"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
    ["1::", "1::"],
  ] as const;
  for (const [text, usual] of forms) {
    const address = parseAddress(text);
    assert.equal(address && printAddress(address), usual, text);
  }
});

test("what is no address is none", () => {
  for (const text of [
    "",
    "x",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "::1%eth0",
    "1:2:3:4:5:6:7::8:9",
  ]) {
    assert.equal(parseAddress(text), undefined, text);
  }
  for (const text of ["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/x", "/8"]) {
    assert.equal(parseNetwork(text), undefined, text);
  }
});

test("networks are printed without the bits beyond their prefix", () => {
  const networks = [
    ["10.1.2.3/20", "10.1.0.0/20"],
    ["2001:db8::1/32", "2001:db8::/32"],
    // The prefix, too, becomes that of an IPv4 network; unless it is so short that none is left.
    ["::ffff:10.1.2.3/112", "10.1.0.0/16"],
    ["::ffff:10.1.2.3/90", "::ffc0:0:0/90"],
  ] as const;
  for (const [text, usual] of networks) {
    const network = parseNetwork(text);
    assert.equal(network && printNetwork(network), usual, text);
  }
});

test("unusual addresses and networks are warned of", () => {
  assert.deepEqual(
    [
      ...addressWarnings("010.0.0.1", "a"),
      ...addressWarnings("10.0.0.1", "a"),
      ...networkWarnings("10.0.0.1/8", "b"),
      ...networkWarnings("2001:DB8::/32", "c"),
    ],
    [
      'a: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
      'b: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
      'c: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")',
    ],
  );
});
