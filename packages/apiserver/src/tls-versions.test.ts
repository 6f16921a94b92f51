import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { connect, createServer, type SecureVersion } from "node:tls";

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { SqliteBackend, Store } from "@keelson/store";

import { CertificateFiles } from "./auth/pki/certificate-files.ts";
import { servingOptions } from "./auth/pki/serving.ts";
import { pkiPaths } from "./auth/pki/standalone-pki.ts";
import { StandaloneServer } from "./standalone.ts";

/** What becomes of a client that offers this version at most: the version that both agree on, or the code of the failure. */
async function agreed(port: number, maxVersion: SecureVersion): Promise<string> {
  const socket = connect({
    host: "127.0.0.1",
    port,
    minVersion: "TLSv1",
    maxVersion,
    // Else OpenSSL does not even offer what is older than 1.2.
    ciphers: "DEFAULT:@SECLEVEL=0",
    rejectUnauthorized: false,
  });
  try {
    await once(socket, "secureConnect");
    return socket.getProtocol() ?? "none";
  } catch (error) {
    return (error as Error & { readonly code?: string }).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

suite("TLS", () => {
  test("of 1.2 and 1.3 is spoken, and nothing older, also with a certificate that was replaced", async (t) => {
    await using undo = new AsyncDisposableStack();
    const made = await mkdtempDisposable(join(tmpdir(), "keelson-tls-versions-"));
    const { path: folder } = undo.adopt(made, (one) => one.remove());
    const clock = systemClock;
    const backend = new SqliteBackend({ path: ":memory:", clock });
    const store = undo.use(await Store.open({ backend, clock }, t.signal));
    const certDir = join(folder, "pki");
    const server = undo.use(
      await StandaloneServer.start(
        {
          store,
          clock,
          random: systemRandom,
          log: silentLog,
          metrics: noMetrics,
          host: "127.0.0.1",
          port: 0,
          certDir,
          servingFiles: undefined,
          clientAuthorityFile: undefined,
          tokenFile: undefined,
          kubeconfig: join(folder, "kubeconfig"),
          allowsAnonymous: true,
          simulatesWorkloads: false,
        },
        t.signal,
      ),
    );
    const { current } = await CertificateFiles.open({
      paths: { ...pkiPaths(certDir).serving, clientAuthorities: [] },
      clock,
      log: silentLog,
    });
    const serving = servingOptions(current);

    // That this client does offer 1.1 a server shows that takes it.
    const old = { minVersion: "TLSv1", ciphers: "DEFAULT:@SECLEVEL=0" } as const;
    const lax = undo.adopt(createServer({ ...serving, ...old }), (one) => void one.close());
    await once(lax.listen(0, "127.0.0.1"), "listening");
    assert.equal(await agreed((lax.address() as AddressInfo).port, "TLSv1.1"), "TLSv1.1");

    const port = Number(new URL(server.url).port);
    for (const round of ["as it started", "with another certificate"]) {
      const versions = ["TLSv1.3", "TLSv1.2", "TLSv1.1", "TLSv1"] as const;
      const outcomes = await Promise.all(versions.map((version) => agreed(port, version)));
      const refused = "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION";
      assert.deepEqual(outcomes, ["TLSv1.3", "TLSv1.2", refused, refused], round);
      // As it is done when the files have changed.
      server.api.server.useCertificates(serving);
    }
  });
});
