import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import postgres from "postgres";

import { scramVerifier } from "./scram.ts";

suite("the verifier of a password", () => {
  test("is the one that PostgreSQL makes of the same password and salt", async () => {
    const { url } = await sharedThrowawayPostgres("embedded");
    const sql = postgres(url, { max: 1 });
    const password = "3f".repeat(32);
    try {
      await sql.unsafe(`CREATE ROLE scram_judge PASSWORD '${password}'`);
      const [row] = await sql<{ theirs: string }[]>`
        SELECT rolpassword AS theirs FROM pg_authid WHERE rolname = 'scram_judge'`;
      const { theirs } = row ?? { theirs: "" };
      const salt = Buffer.from(/:(.*?)\$/.exec(theirs)?.[1] ?? "", "base64");
      assert.equal(scramVerifier(password, salt), theirs);
    } finally {
      await sql.unsafe("DROP ROLE IF EXISTS scram_judge");
      await sql.end();
    }
  });

  test("is not made of what SASLprep would change", () => {
    assert.throws(() => scramVerifier("pässword", new Uint8Array(16)), RangeError);
  });
});
