// A PostgreSQL of a test that speaks TLS.

import { chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ThrowawayPostgres } from "@keelson/database/testing";
import postgres from "postgres";

/** Has the server show this certificate from now on. */
export async function useCertificate(
  { dataDir, url }: ThrowawayPostgres,
  { certificate, key }: { readonly certificate: string; readonly key: string },
): Promise<void> {
  const { uid, gid } = statSync(dataDir);
  for (const [name, text] of [
    ["server.crt", certificate],
    ["server.key", key],
  ] as const) {
    const path = join(dataDir, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
  }
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql`ALTER SYSTEM SET ssl = on`;
    await sql`SELECT pg_reload_conf()`;
    // Whoever connects now may still meet the old one; who trusts nothing but the new one does not.
    const ssl = {
      ca: certificate,
      allowPartialTrustChain: true,
      checkServerIdentity: () => undefined,
    };
    for (let isShown = false; !isShown;) {
      const probe = postgres(url, { max: 1, ssl, onnotice: () => undefined });
      isShown = await probe`SELECT`.then(
        () => true,
        () => false,
      );
      await probe.end();
    }
  } finally {
    await sql.end();
  }
}
