import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { connect as connectHttp2, createSecureServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";

import { silentLog, systemClock, systemRandom } from "@keelson/base";

import { clientCertificates } from "../client-certificates.ts";
import { issueCertificate } from "./certificate.ts";
import { CertificateFiles } from "./certificate-files.ts";
import { clientCertificateOptions, followCertificates, servingOptions } from "./serving.ts";
import { openPki, pkiPaths } from "./standalone-pki.ts";

suite("serving", () => {
  test("a new certificate is shown to new connections, and an open stream goes on", async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-serving-"));
    const [clock, random, log] = [systemClock, systemRandom, silentLog];
    const pki = await openPki({ folder: folder.path, clock, random, log });
    const paths = pkiPaths(folder.path);
    const clientAuthorities = [paths.authority.certificate];
    const files = await CertificateFiles.open({
      paths: { ...paths.serving, clientAuthorities },
      clock,
      log,
    });
    const server = createSecureServer({
      ...servingOptions(files.current),
      ...clientCertificateOptions,
      allowHTTP1: true,
    });
    using _ = followCertificates(files, server);
    t.after(() => server.close());
    server.on("stream", (stream) => {
      stream.respond();
      stream.write("first");
      stream.on("data", () => stream.write("second"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const ca = pki.authority.certificate;

    const session = connectHttp2(`https://localhost:${port}`, { ca });
    t.after(() => session.destroy());
    const watch = session.request({ ":method": "POST" });
    watch.setEncoding("utf8");
    assert.deepEqual(await once(watch, "data"), ["first"]);

    const now = clock.now();
    const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + 1_000_000) };
    const next = await issueCertificate(
      pki.authority,
      { name: "second", hosts: ["localhost"] },
      { validity, random },
    );
    writeFileSync(paths.serving.key, next.key);
    writeFileSync(paths.serving.certificate, next.certificate);
    await files.look();

    const { cert, key } = { cert: pki.admin.certificate, key: pki.admin.key };
    const seen = once(server, "secureConnection") as Promise<[TLSSocket]>;
    const socket = connect({ port, host: "localhost", ca, cert, key, ALPNProtocols: ["h2"] });
    t.after(() => socket.destroy());
    await once(socket, "secureConnect");
    assert.equal(socket.getPeerCertificate().subject.CN, "second");
    const [serverSide] = await seen;
    const [own] = clientCertificates(serverSide);
    assert.equal(own?.subject, "O=system:masters\nCN=kubernetes-admin");
    watch.write("more");
    assert.deepEqual(await once(watch, "data"), ["second"]);
  });
});
