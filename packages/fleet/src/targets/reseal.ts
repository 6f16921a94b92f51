// After a new key: every stored credential is encrypted with it, so that the older ones can be taken away.

import type { Log } from "@keelson/base";
import type { Database } from "@keelson/database";
import { findSealedOtherwise, resealCredential } from "../sql/targets.ts";
import { CredentialUnreadable, type CredentialCipher } from "./credential-cipher.ts";

export interface ResealOptions {
  readonly database: Database;
  readonly cipher: CredentialCipher;
  readonly log: Log;
}

/** How many credentials are read at once. */
const batchRows = 100;

/**
 * Encrypts with the newest key whatever another one made, one target after the other. What somebody changes meanwhile is
 * left to them: they use the newest key. Gives how many targets are left that none of our keys opens.
 */
export async function resealCredentials(
  { database, cipher, log }: ResealOptions,
  signal: AbortSignal,
): Promise<{ readonly resealed: number; readonly unreadable: readonly string[] }> {
  const unreadable: string[] = [];
  let resealed = 0;
  const { keyId } = cipher;
  for (let after = ""; ;) {
    const asked = { keyId, after, limit: batchRows };
    const rows = await database.run(findSealedOtherwise, asked, signal);
    for (const { cluster_id: clusterId, credential: before } of rows) {
      after = clusterId;
      try {
        const credential = cipher.encrypt(cipher.decrypt(before, clusterId), clusterId);
        const done = await database.run(
          resealCredential,
          { clusterId, before, credential },
          signal,
        );
        resealed += done.length;
      } catch (error) {
        if (!(error instanceof CredentialUnreadable)) throw error;
        unreadable.push(clusterId);
      }
    }
    if (rows.length < batchRows) break;
    log.info({ targets: resealed }, "credentials are encrypted with the newest key, more to come");
  }
  if (resealed > 0) {
    log.info({ targets: resealed }, "credentials were encrypted with the newest key");
  }
  return { resealed, unreadable };
}
