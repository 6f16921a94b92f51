import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { ModelHosts } from "./model-hosts.ts";

const noUrl = "must be an https URL with a host";
const closed =
  "must not lead to a loopback, private or link-local address, unless ALLOWED_PRIVATE_IP_RANGES has it";
const foreign = "must be at a host that WHITELISTED_MODEL_DOMAINS names";

function judge(
  urls: readonly string[],
  { allowedRanges = [], domains = [] }: { allowedRanges?: string[]; domains?: string[] } = {},
): readonly (string | undefined)[] {
  const hosts = new ModelHosts({ allowedRanges, domains });
  return urls.map((url) => hosts.problemOf(url));
}

function all(urls: readonly string[], problem: string | undefined, options = {}): void {
  const outcome = Object.fromEntries(judge(urls, options).map((one, index) => [urls[index], one]));
  assert.deepEqual(outcome, Object.fromEntries(urls.map((url) => [url, problem])));
}

suite("where models may be", () => {
  test("public hosts are open", () => {
    all(
      [
        "https://api.openai.com/v1",
        "HTTPS://API.OpenAI.com",
        "https://api.openai.com.",
        "https://user:secret@api.openai.com:8443/v1?x=y#z",
        "https://8.8.8.8",
        "https://11.0.0.1",
        "https://172.15.255.255",
        "https://172.32.0.1",
        "https://192.169.0.1",
        "https://169.253.0.1",
        "https://126.255.255.255",
        "https://128.0.0.1",
        "https://[2001:4860:4860::8888]:443/",
        "https://[fe00::1]",
        "https://[::ffff:8.8.8.8]",
        "https://[64:ff9b::8.8.8.8]",
        "https://10.0.0.1.example.com",
        "https://localhost.example.com",
        "https://xn--bcher-kva.example",
      ],
      undefined,
    );
  });

  test("what is no https URL with a host is refused", () => {
    all(
      [
        "",
        "api.openai.com",
        "//api.openai.com",
        "http://api.openai.com",
        "http://svc.team.svc.cluster.local",
        "ftp://api.openai.com",
        "file:///etc/passwd",
        "https:",
        "https:api.openai.com",
        "https:/api.openai.com",
        "https://",
        "https:///v1",
        "https://:443",
        "https://user@/v1",
        "https://?x",
        "https://a b",
        " https://api.openai.com",
        "https://api.openai.com\n",
        "https://api.open\tai.com",
        "https://api.openai.com\\@127.0.0.1",
        "https://api.openai.com:99999",
        "https://[::1",
        "https://[fe80::1%25eth0]",
        "https://256.1.1.1",
        "https://1.2.3.4.5",
        "https://.",
      ],
      noUrl,
    );
  });

  test("addresses of the machine, the site and the link are closed, however they are written", () => {
    all(
      [
        "https://127.0.0.1",
        "https://127.255.255.254:8443/v1",
        "https://127.1",
        "https://2130706433",
        "https://0x7f000001",
        "https://0177.0.0.1",
        "https://0x7f.1",
        "https://127.0.0.1.",
        "https://127%2e0.0.1",
        "https://user:pass@127.0.0.1",
        "https://api.openai.com@127.0.0.1",
        "https://１２７.0.0.1",
        "https://0.0.0.0",
        "https://0",
        "https://localhost",
        "https://LOCALHOST:6443",
        "https://localhost.",
        "https://api.localhost",
        "https://10.0.0.1",
        "https://10.255.255.255",
        "https://172.16.0.1",
        "https://172.31.255.255",
        "https://192.168.0.1",
        "https://3232235521",
        "https://169.254.169.254/latest/meta-data",
        "https://0xa9fea9fe",
        "https://[::1]",
        "https://[::]",
        "https://[0:0:0:0:0:0:0:1]:443",
        "https://[::ffff:127.0.0.1]",
        "https://[::FFFF:7F00:1]",
        "https://[::ffff:10.1.2.3]",
        "https://[::ffff:169.254.169.254]",
        "https://[::10.0.0.1]",
        "https://[64:ff9b::192.168.0.1]",
        "https://[64:ff9b::a9fe:a9fe]",
        "https://[2002:a00:1::]",
        "https://[2002:7f00:1::1]",
        "https://[fc00::1]",
        "https://[fdff::1]",
        "https://[fe80::1]",
        "https://[febf::1]",
      ],
      closed,
    );
  });

  test("ranges that are allowed are open again, and no others", () => {
    const allowedRanges = ["10.1.0.0/16", "127.0.0.1", "169.254.169.254/32", "fd00:1::/32"];
    all(
      [
        "https://10.1.2.3",
        "https://[::ffff:10.1.2.3]",
        "https://0xa010203",
        "https://127.0.0.1",
        "https://169.254.169.254",
        "https://[fd00:1::5]",
      ],
      undefined,
      { allowedRanges },
    );
    all(
      [
        "https://10.2.0.1",
        "https://127.0.0.2",
        "https://169.254.169.253",
        "https://[fd00:2::5]",
        // It is ::1 as well.
        "https://localhost",
      ],
      closed,
      { allowedRanges },
    );
    all(["https://localhost", "https://x.localhost"], undefined, {
      allowedRanges: ["127.0.0.0/8", "::1"],
    });
    all(["https://127.0.0.1", "https://[fc00::1]", "https://[::ffff:10.0.0.1]"], undefined, {
      allowedRanges: ["0.0.0.0/0", "::/0"],
    });
    all(["http://10.1.2.3"], noUrl, { allowedRanges });
  });

  test("domains, if there are some, name the host or a parent", () => {
    const domains = ["openai.com", "*.Azure.com", "bücher.example", "8.8.8.8"];
    all(
      [
        "https://openai.com",
        "https://api.openai.com",
        "https://a.b.openai.com.",
        "https://API.OPENAI.COM:8443/v1",
        "https://x.openai.azure.com",
        "https://azure.com",
        "https://xn--bcher-kva.example",
        "https://BÜCHER.example",
        "https://8.8.8.8",
        "https://134744072",
      ],
      undefined,
      { domains },
    );
    all(
      [
        "https://openai.com.evil.example",
        "https://notopenai.com",
        "https://com",
        "https://openai.com@evil.example",
        "https://8.8.4.4",
        "https://[2001:db8::1]",
      ],
      foreign,
      { domains },
    );
    all(["https://10.0.0.1"], closed, { domains: ["10.0.0.1"] });
    // The last numbers of an address are not its parent.
    all(["https://9.8.8.8"], foreign, { domains: ["8.8.8"] });
  });

  test("every way to write an IPv4 address is judged alike", () => {
    const hosts = new ModelHosts({ allowedRanges: ["10.128.0.0/9"], domains: [] });
    // Most of all addresses are open: near the closed ones there is more to see.
    const first = fc.constantFrom(0x0000, 0x0a00, 0x0a80, 0x7f00, 0xa9fe, 0xac10, 0xac20, 0xc0a8);
    const near = fc.tuple(first, fc.nat(0xffff)).map(([high, low]) => high * 65_536 + low);
    const address = fc.oneof(fc.nat(0xffff_ffff), near);
    fc.assert(
      fc.property(address, (number) => {
        const bytes = [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256);
        const hex = number.toString(16).padStart(8, "0");
        const plain = hosts.problemOf(`https://${bytes.join(".")}/`);
        const forms = [
          String(number),
          `0x${hex}`,
          bytes.map((byte) => `0${byte.toString(8)}`).join("."),
          bytes.map((byte) => `0x${byte.toString(16)}`).join("."),
          `${bytes.join(".")}.`,
          `[::ffff:${bytes.join(".")}]`,
          `[::ffff:${hex.slice(0, 4)}:${hex.slice(4)}]`,
          `[64:ff9b::${bytes.join(".")}]`,
          `[2002:${hex.slice(0, 4)}:${hex.slice(4)}::]`,
        ];
        for (const form of forms) assert.equal(hosts.problemOf(`https://${form}/`), plain, form);
      }),
      { numRuns: 300 },
    );
  });
});
