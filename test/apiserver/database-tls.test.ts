// A PostgreSQL that speaks TLS: `--postgres-sslmode verify-full` trusts it by its authority and its name, and nothing less.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { runKeelson, type Run } from "../e2e/run-keelson.ts";
import { CertificateAuthority } from "../tools/certificates.ts";
import { useCertificate } from "../services/use-certificate.ts";

suite("a database behind TLS", () => {
  test("is believed if its authority and its name are right", async (t) => {
    await using server = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
    await using database = await server.createDatabase();
    const authority = await CertificateAuthority.create("database-ca");
    const other = await CertificateAuthority.create("other-ca");
    const folder = mkdtempSync(join(tmpdir(), "keelson-database-tls-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    };
    const [right, wrong] = [
      file("ca.crt", authority.certificate),
      file("other.crt", other.certificate),
    ];
    const { password } = new URL(database.url);
    const keelson = async (
      command: string,
      { host, ca, mode = "verify-full" }: { host: string; ca?: string; mode?: string },
    ): Promise<Run> => {
      const flags = {
        "storage-driver": "postgresql",
        "data-dir": join(folder, "data"),
        "postgres-host": host,
        "postgres-port": String(server.port),
        "postgres-database": database.name,
        "postgres-username": "keelson",
        "postgres-sslmode": mode,
      };
      const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
      const environment = {
        POSTGRES_PASSWORD: password,
        ...(ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: ca }),
      };
      const options = { cwd: folder, environment };
      return await runKeelson(["apiserver", command, ...words], options, t.signal);
    };
    const refused = async (
      says: RegExp,
      options: { host: string; ca?: string; mode?: string },
    ): Promise<void> => {
      const { code, output } = await keelson("migrate", options);
      assert.equal(code, 6, output);
      assert.match(output, says);
    };

    await t.test("one without TLS is refused", async () => {
      await refused(/before TLS.*sslmode/, { host: "localhost", ca: right });
      await refused(/before TLS.*sslmode/, { host: "localhost", mode: "require" });
    });

    await useCertificate(server, await authority.issue({ name: "db", hosts: ["localhost"] }));
    await t.test("by name", async () => {
      const migrated = await keelson("migrate", { host: "localhost", ca: right });
      assert.equal(migrated.code, 0, migrated.output);
      const used = await keelson("export", { host: "localhost", ca: right });
      assert.equal(used.code, 0, used.output);
    });
    await t.test(
      "an authority that nobody named is refused, and `require` asks for none",
      async () => {
        await refused(/certificate is not trusted.*NODE_EXTRA_CA_CERTS/, {
          host: "localhost",
          ca: wrong,
        });
        await refused(/certificate is not trusted.*NODE_EXTRA_CA_CERTS/, { host: "localhost" });
        const required = await keelson("export", { host: "localhost", mode: "require" });
        assert.equal(required.code, 0, required.output);
      },
    );
    await t.test("a certificate of another address is refused", async () => {
      await refused(/certificate is another's: .*127\.0\.0\.1 is not/, {
        host: "127.0.0.1",
        ca: right,
      });
    });

    await useCertificate(server, await authority.issue({ name: "db", hosts: ["127.0.0.1"] }));
    await t.test("by address", async () => {
      const used = await keelson("export", { host: "127.0.0.1", ca: right });
      assert.equal(used.code, 0, used.output);
    });
    await t.test("a certificate of another name is refused", async () => {
      await refused(/certificate is another's: .*localhost\. is not/, {
        host: "localhost",
        ca: right,
      });
    });
  });
});
