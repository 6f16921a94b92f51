// Leases are timed by the database's clock alone: the processes' clocks need not agree.

import { statement } from "./statement.ts";

interface LeaseTerms {
  readonly name: string;
  readonly owner: string;
  readonly ttlMs: number;
}

/** Takes a lease that is free or expired. No row: somebody has it, be it the same owner by another call. */
export const takeLease = statement<LeaseTerms, { token: string }>(
  "takeLease",
  (sql, { name, owner, ttlMs }) => sql`
    INSERT INTO keelson.leases AS l (name, owner, token, expires_at)
    VALUES (${name}, ${owner}, 1, clock_timestamp() + ${ttlMs} * interval '1 ms')
    ON CONFLICT (name) DO UPDATE
      SET owner = excluded.owner,
          token = l.token + 1,
          expires_at = clock_timestamp() + ${ttlMs} * interval '1 ms'
      WHERE l.owner IS NULL OR l.expires_at <= clock_timestamp()
    RETURNING token`,
);

/** Prolongs a lease that is still held, expired or not, as long as nobody has taken it since. */
export const renewLease = statement<LeaseTerms & { readonly token: number }>(
  "renewLease",
  (sql, { name, owner, token, ttlMs }) => sql`
    UPDATE keelson.leases SET expires_at = clock_timestamp() + ${ttlMs} * interval '1 ms'
    WHERE name = ${name} AND owner = ${owner} AND token = ${token}
    RETURNING token`,
);

/** Gives a lease back; the token stays, so that the next one is higher. */
export const releaseLease = statement<{ readonly name: string; readonly token: number }>(
  "releaseLease",
  (sql, { name, token }) => sql`
    UPDATE keelson.leases SET owner = NULL, expires_at = '-infinity' WHERE name = ${name} AND token = ${token}`,
);

/** Finds the lease under this token, and keeps others from taking it until the transaction ends. */
export const holdLease = statement<{ readonly name: string; readonly token: number }>(
  "holdLease",
  (sql, { name, token }) => sql`
    SELECT token FROM keelson.leases WHERE name = ${name} AND token = ${token} AND owner IS NOT NULL FOR SHARE`,
);
