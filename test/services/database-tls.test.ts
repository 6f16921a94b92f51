// The services' PostgreSQL behind TLS: `sslmode=verify-full` believes it by the name or the address it was reached by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { DatabaseUnavailable, openDatabase, statement } from "@keelson/database";
import { patience, startThrowawayPostgres } from "@keelson/database/testing";
import { CertificateAuthority } from "../tools/certificates.ts";
import { useCertificate } from "./use-certificate.ts";

const tls = statement<undefined, { isOn: boolean }>(
  "tls",
  (sql) => sql`SELECT ssl AS "isOn" FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
);

test("a database is believed by the name or the address that it was reached by", async (t) => {
  await using server = await startThrowawayPostgres(
    { flavour: "embedded", fsync: false, settings: { listen_addresses: "127.0.0.1,::1" } },
    t.signal,
  );
  const authority = await CertificateAuthority.create("database-ca");
  const trusted = getCACertificates("default");
  t.after(() => setDefaultCACertificates(trusted));

  /** What a connection to `host` comes to: the word `tls`, or why there is none. */
  const reached = async (host: string, mode = "verify-full"): Promise<string> => {
    const url = `${server.url.replace("127.0.0.1", host)}?sslmode=${mode}`;
    await using database = openDatabase({ url, name: "tls", ...patience });
    try {
      const [row] = await database.run(tls, undefined, t.signal);
      return row?.isOn === true ? "tls" : "plain";
    } catch (error) {
      assert.ok(error instanceof DatabaseUnavailable, String(error));
      return error.message;
    }
  };
  assert.match(await reached("localhost"), /ended the connection before TLS.*sslmode/);

  await useCertificate(server, await authority.issue({ name: "db", hosts: ["127.0.0.1", "::1"] }));
  assert.match(await reached("127.0.0.1"), /not trusted.*NODE_EXTRA_CA_CERTS/);
  setDefaultCACertificates([...trusted, authority.certificate]);
  assert.deepEqual(
    [await reached("127.0.0.1"), await reached("[::1]"), await reached("[::1]", "require")],
    ["tls", "tls", "tls"],
  );
  assert.equal(await reached("127.0.0.2,127.0.0.1"), "tls");
  assert.match(await reached("localhost"), /certificate is another's.*localhost\. is not/);

  await useCertificate(server, await authority.issue({ name: "db", hosts: ["localhost"] }));
  assert.equal(await reached("localhost"), "tls");
  assert.match(await reached("127.0.0.1"), /certificate is another's.*127\.0\.0\.1 is not/);
  assert.match(await reached("[::1]"), /certificate is another's.*::1 is not/);
  assert.equal(await reached("127.0.0.1", "require"), "tls");
});
