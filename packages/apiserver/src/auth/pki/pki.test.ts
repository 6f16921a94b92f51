import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, statSync, rmSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { silentLog, systemRandom, TaskScope } from "@keelson/base";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
import { parse } from "yaml";

import { issueCertificate } from "./certificate.ts";
import {
  CertificateFileError,
  CertificateFiles,
  checkCertificateFiles,
} from "./certificate-files.ts";
import { CertificatePool, readCertificates } from "./certificate-pool.ts";
import { hostsAt } from "./hosts-at.ts";
import { refuseForeignKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { openPki, PkiBroken, pkiPaths, renewPki, type PkiOptions } from "./standalone-pki.ts";

const dayMs = 86_400_000;

async function prepare() {
  const folder = await mkdtempDisposable(join(tmpdir(), "keelson-pki-"));
  const clock = new ManualClock();
  const options: PkiOptions = { folder: folder.path, clock, random: systemRandom, log: silentLog };
  return { folder, clock, options, [Symbol.asyncDispose]: () => folder.remove() };
}

suite("the standalone PKI", () => {
  test("is made once, readable by its owner alone, and kept", async () => {
    await using bed = await prepare();
    const pki = await openPki(bed.options);
    const modes = readdirSync(bed.folder.path)
      .sort((a, b) => (a < b ? -1 : 1))
      .map((name) => [name, statSync(join(bed.folder.path, name)).mode & 0o777]);
    assert.deepEqual(
      modes,
      [
        "admin.crt",
        "admin.key",
        "apiserver.crt",
        "apiserver.key",
        "ca.crt",
        "ca.key",
        "front-proxy-ca.crt",
        "front-proxy-ca.key",
        "sa.key",
        "sa.pub",
      ].map((name) => [name, 0o600]),
    );
    assert.deepEqual(await openPki(bed.options), pki);
  });

  test("the serving certificate is for every name of the server", async () => {
    await using bed = await prepare();
    const { serving, authority } = await openPki({ ...bed.options, hosts: ["api.example.com"] });
    const certificate = new X509Certificate(serving.certificate);
    const names = ["localhost", hostname(), "kubernetes", "kubernetes.default", "api.example.com"];
    const long = ["kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
    for (const name of [...names, ...long]) assert.equal(certificate.checkHost(name), name);
    for (const ip of ["127.0.0.1", "::1", "10.96.0.1"]) assert.equal(certificate.checkIP(ip), ip);
    assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  });

  test("certificates are renewed in the last quarter of their time, and nobody loses trust", async () => {
    await using bed = await prepare();
    const first = await openPki(bed.options);
    await bed.clock.advance(270 * dayMs);
    assert.deepEqual(await openPki(bed.options), first);
    await bed.clock.advance(10 * dayMs);
    const second = await openPki(bed.options);
    assert.deepEqual(second.authority, first.authority);
    assert.notEqual(second.serving.certificate, first.serving.certificate);
    assert.notEqual(second.admin.certificate, first.admin.certificate);
    await bed.clock.advance(3000 * dayMs);
    const third = await openPki(bed.options);
    assert.notEqual(third.authority.certificate, first.authority.certificate);
    assert.equal(third.authority.key, first.authority.key);
    const serving = new X509Certificate(third.serving.certificate);
    assert.ok(serving.verify(new X509Certificate(first.authority.certificate).publicKey));
    const { authority, frontProxyAuthority, admin } = third;
    const ends = [authority, frontProxyAuthority, third.serving, admin].map(({ certificate }) =>
      new X509Certificate(certificate).validToDate.getTime(),
    );
    assert.equal(Math.min(...ends), bed.clock.now() + 365 * dayMs);
  });

  test("a server that runs renews by itself", async (t) => {
    await using bed = await prepare();
    const pki = await openPki(bed.options);
    const renewed = Promise.withResolvers<string>();
    await using scope = new TaskScope(t.signal);
    scope.spawn("renewal", (signal) =>
      renewPki(bed.options, { pki, renewed: (next) => renewed.resolve(next.serving.key) }, signal),
    );
    bed.clock.shiftWall(360 * dayMs);
    await bed.clock.advance(3_600_000);
    assert.notEqual(await renewed.promise, pki.serving.key);
  });

  test("a new name of the machine, or a pair that does not fit, makes a new certificate", async () => {
    await using bed = await prepare();
    const first = await openPki(bed.options);
    const second = await openPki({ ...bed.options, hosts: ["moved.example.com"] });
    assert.notEqual(second.serving.certificate, first.serving.certificate);
    writeFileSync(pkiPaths(bed.folder.path).admin.key, first.serving.key);
    const third = await openPki(bed.options);
    assert.notEqual(third.admin.certificate, first.admin.certificate);
    assert.ok(
      new X509Certificate(third.admin.certificate).checkIssued(
        new X509Certificate(first.authority.certificate),
      ),
    );
  });

  test("replicas that share the folder leave each other's names in the certificate, until it is due", async () => {
    await using bed = await prepare();
    const one = { ...bed.options, hosts: ["one.example.com", "192.0.2.1", "fd00::1"] };
    const other = { ...bed.options, hosts: ["other.example.com"] };
    await openPki(one);
    const shared = await openPki(other);
    assert.deepEqual(await openPki(one), shared);
    assert.deepEqual(await openPki(other), shared);
    await bed.clock.advance(300 * dayMs);
    const { serving } = await openPki(other);
    const certificate = new X509Certificate(serving.certificate);
    assert.equal(certificate.checkHost("other.example.com"), "other.example.com");
    assert.equal(certificate.checkHost("one.example.com"), undefined);
    assert.equal(certificate.checkIP("fd00::1"), undefined);
  });

  test("names of before go on into the certificate up to a bound", async () => {
    await using bed = await prepare();
    const hosts = Array.from({ length: 200 }, (_, n) => `n${n}.example.com`);
    await openPki({ ...bed.options, hosts });
    const { serving } = await openPki({ ...bed.options, hosts: ["moved.example.com"] });
    const names = new X509Certificate(serving.certificate).subjectAltName?.split(", ") ?? [];
    assert.ok(names.includes("DNS:moved.example.com"));
    assert.ok(names.length < 120, `${names.length}`);
  });

  test("a start that died after writing the authority's key goes on from there", async () => {
    await using bed = await prepare();
    const first = await openPki(bed.options);
    rmSync(pkiPaths(bed.folder.path).authority.certificate);
    const second = await openPki(bed.options);
    assert.equal(second.authority.key, first.authority.key);
  });

  test("an authority without its key is not replaced", async () => {
    await using bed = await prepare();
    await openPki(bed.options);
    rmSync(pkiPaths(bed.folder.path).authority.key);
    await assert.rejects(openPki(bed.options), PkiBroken);
  });

  test("the kubeconfig has everything in it", async () => {
    await using bed = await prepare();
    const { authority, admin } = await openPki(bed.options);
    const path = join(bed.folder.path, "deep", "kubeconfig");
    const server = "https://127.0.0.1:6443";
    await writeKubeconfig(
      path,
      { server, authority: authority.certificate, client: admin },
      systemRandom,
    );
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    assert.deepEqual(parse(readFileSync(path, "utf8")), {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "local",
          cluster: { server, "certificate-authority-data": base64(authority.certificate) },
        },
      ],
      users: [
        {
          name: "local-admin",
          user: {
            "client-certificate-data": base64(admin.certificate),
            "client-key-data": base64(admin.key),
          },
        },
      ],
      contexts: [{ name: "local", context: { cluster: "local", user: "local-admin" } }],
      "current-context": "local",
    });
  });
});

suite("the place of the kubeconfig", () => {
  for (const [what, text, message] of [
    ["nothing", undefined, undefined],
    ["an empty file", "\n", undefined],
    ["a kubeconfig without anybody", "kind: Config\nclusters: []\nusers: null\n", undefined],
    ["ours", "kind: Config\nclusters: [{name: local}]\nusers: [{name: local-admin}]\n", undefined],
    [
      "another cluster",
      "kind: Config\nclusters: [{name: local}, {name: prod}]\n",
      /names the cluster prod$/,
    ],
    [
      "another user",
      "kind: Config\nclusters: [{name: local}]\nusers: [{name: me}]\n",
      /names the user me$/,
    ],
    [
      "many others",
      "kind: Config\nclusters: [{name: a}, {name: b}]\nusers: [{name: c}, {name: d}]\n",
      /names the cluster a, the cluster b and 2 more$/,
    ],
    ["a manifest", "kind: ConfigMap\n", /is no kubeconfig$/],
    ["a list", "- a\n- b\n", /is no kubeconfig$/],
    ["a text", "hello", /is no kubeconfig$/],
    ["no YAML", "{", /is no kubeconfig$/],
    ["clusters that are none", "kind: Config\nclusters: 1\n", /is no kubeconfig$/],
  ] as const) {
    test(`with ${what} ${message === undefined ? "is ours to write" : "is left alone"}`, async () => {
      await using bed = await prepare();
      const { authority, admin } = await openPki(bed.options);
      const path = join(bed.folder.path, "kubeconfig");
      if (text !== undefined) writeFileSync(path, text);
      const server = "https://127.0.0.1:6443";
      const kubeconfig = { server, authority: authority.certificate, client: admin };
      const writing = writeKubeconfig(path, kubeconfig, systemRandom);
      if (message === undefined) {
        await writing;
        assert.match(readFileSync(path, "utf8"), /name: local-admin/);
      } else {
        await assert.rejects(writing, { code: "KUBECONFIG_FILE", reason: "foreign", message });
        assert.equal(readFileSync(path, "utf8"), text);
      }
    });
  }

  test("that is a folder is named", async () => {
    await using bed = await prepare();
    await assert.rejects(refuseForeignKubeconfig(bed.folder.path), {
      code: "KUBECONFIG_FILE",
      reason: "unusable",
      message: `${bed.folder.path} cannot be read (EISDIR)`,
    });
  });
});

suite("what a server is called", () => {
  const interfaces = {
    lo: [{ address: "127.0.0.1" }, { address: "::1" }],
    eth0: [{ address: "192.0.2.2" }, { address: "fd00::2" }, { address: "fe80::2" }],
  };
  for (const [bound, hosts] of [
    ["127.0.0.1", ["127.0.0.1"]],
    ["192.0.2.9", ["192.0.2.9"]],
    ["FD00:0::9", ["fd00::9"]],
    ["fe80::9%eth0", ["fe80::9"]],
    ["::ffff:192.0.2.9", ["192.0.2.9"]],
    ["0.0.0.0", ["127.0.0.1", "192.0.2.2"]],
    ["0", ["127.0.0.1", "192.0.2.2"]],
    ["::ffff:0.0.0.0", ["127.0.0.1", "192.0.2.2"]],
    ["::", ["127.0.0.1", "::1", "192.0.2.2", "fd00::2"]],
    ["0:0:0:0:0:0:0:0", ["127.0.0.1", "::1", "192.0.2.2", "fd00::2"]],
  ] as const) {
    test(`on ${bound}`, async () => {
      assert.deepEqual(await hostsAt(bound, interfaces), hosts);
    });
  }

  test("on a name: that name, and where it leads", async () => {
    const hosts = await hostsAt("localhost");
    assert.equal(hosts[0], "localhost");
    assert.ok(hosts.includes("127.0.0.1") || hosts.includes("::1"), hosts.join());
    await assert.rejects(hostsAt("nowhere.invalid"));
  });
});

suite("certificate files", () => {
  test("are read again when they change; broken ones are told once and change nothing", async () => {
    await using bed = await prepare();
    const { clock } = bed;
    const pki = await openPki(bed.options);
    const paths = pkiPaths(bed.folder.path);
    const log = new RecordingLog();
    const files = await CertificateFiles.open({
      paths: { ...paths.serving, clientAuthorities: [paths.authority.certificate] },
      clock,
      log,
    });
    const seen: string[] = [];
    using _ = files.onChange(({ certificate }) => seen.push(certificate));

    const validity = { notBefore: new Date(clock.now()), notAfter: new Date(clock.now() + dayMs) };
    const subject = { name: "new", hosts: ["localhost"] };
    const next = await issueCertificate(pki.authority, subject, { validity, random: systemRandom });
    const lookTwice = async (): Promise<void> => {
      await files.look();
      await files.look();
    };
    writeFileSync(paths.serving.key, next.key);
    await lookTwice();
    assert.equal(files.current.certificate, pki.serving.certificate);
    assert.deepEqual(log.messages("error"), ["certificates are wrong, the last good ones count"]);
    writeFileSync(paths.serving.certificate, next.certificate);
    await lookTwice();
    assert.deepEqual(seen, [next.certificate]);
    assert.equal(files.current.key, next.key);
    rmSync(paths.authority.certificate);
    await lookTwice();
    assert.equal(files.current.certificate, next.certificate);
    assert.equal(log.messages("error").length, 2);
  });

  test("are looked at within a minute", async (t) => {
    await using bed = await prepare();
    const pki = await openPki(bed.options);
    const { serving, admin } = pkiPaths(bed.folder.path);
    const paths = { ...serving, clientAuthorities: [] };
    const files = await CertificateFiles.open({ paths, clock: bed.clock, log: silentLog });
    await using scope = new TaskScope(t.signal);
    scope.spawn("files", (signal) => files.run(signal));
    const changed = Promise.withResolvers<string>();
    using _ = files.onChange(({ key }) => changed.resolve(key));
    writeFileSync(serving.key, readFileSync(admin.key));
    writeFileSync(serving.certificate, readFileSync(admin.certificate));
    await bed.clock.advance(10_000);
    assert.equal(await changed.promise, pki.admin.key);
  });

  test("a wrong file at the start is named", async () => {
    await using bed = await prepare();
    await openPki(bed.options);
    const { serving, admin } = pkiPaths(bed.folder.path);
    const paths = { certificate: serving.certificate, key: admin.key, clientAuthorities: [] };
    const opening = CertificateFiles.open({ paths, clock: bed.clock, log: silentLog });
    await assert.rejects(opening, {
      code: "CERTIFICATE_FILE",
      message: `${admin.key} is not the key of ${serving.certificate}`,
    });
  });

  test("a file that cannot be read, or makes no sense, is named with the reason, before and at the start", async () => {
    await using bed = await prepare();
    await openPki(bed.options);
    const { serving, authority } = pkiPaths(bed.folder.path);
    const none = join(bed.folder.path, "none");
    const wrong = join(bed.folder.path, "wrong");
    writeFileSync(wrong, "hello");
    const { certificate, key } = serving;
    const good = { certificate, key, clientAuthorities: [authority.certificate] };
    await checkCertificateFiles(good);
    for (const [paths, file, reason] of [
      [{ ...good, certificate: none }, none, /cannot be read \(ENOENT\)$/],
      [{ ...good, key: bed.folder.path }, bed.folder.path, /cannot be read \(EISDIR\)$/],
      [{ ...good, clientAuthorities: [none] }, none, /cannot be read \(ENOENT\)$/],
      [{ ...good, certificate: wrong }, wrong, /cannot be used: .*certificate/],
      [{ ...good, key: wrong }, wrong, /cannot be used: .*unsupported/],
      [{ ...good, clientAuthorities: [wrong] }, wrong, /cannot be used: .*certificate/],
    ] as const) {
      const isTold = (error: unknown): boolean => {
        assert.ok(error instanceof CertificateFileError, String(error));
        assert.match(error.message.replace(file, "FILE"), new RegExp(`^FILE ${reason.source}`));
        return true;
      };
      await assert.rejects(
        CertificateFiles.open({ paths, clock: bed.clock, log: silentLog }),
        isTold,
      );
      await assert.rejects(checkCertificateFiles(paths), isTold);
    }
    const { clientAuthorities } = good;
    await checkCertificateFiles({ clientAuthorities });
    await assert.rejects(checkCertificateFiles({ clientAuthorities: [wrong] }));
  });

  test("a certificate is trusted within its dates, for its use, and from its authority", async () => {
    await using bed = await prepare();
    const { authority, frontProxyAuthority, serving, admin } = await openPki(bed.options);
    const pool = new CertificatePool(readCertificates(authority.certificate));
    const judge = async (pem: string, days = 1): Promise<string> => {
      try {
        await pool.verifyClient(readCertificates(pem), bed.clock.now() + days * dayMs);
        return "";
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    const now = bed.clock.now();
    const validity = { notBefore: new Date(now), notAfter: new Date(now + 9 * dayMs) };
    const stranger = await issueCertificate(
      frontProxyAuthority,
      { name: "x" },
      { validity, random: systemRandom },
    );
    assert.deepEqual(
      [
        await judge(admin.certificate),
        await judge(admin.certificate, 366),
        await judge(admin.certificate, -1),
        await judge(serving.certificate),
        await judge(stranger.certificate),
      ],
      [
        "",
        "x509: certificate has expired or is not yet valid",
        "x509: certificate has expired or is not yet valid",
        "x509: certificate specifies an incompatible key usage",
        "x509: certificate signed by unknown authority",
      ],
    );
  });
});
