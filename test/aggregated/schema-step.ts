// A database as a newer version of ours would leave it.

import postgres from "postgres";

/** Moves the version of the schema, as a migration that older servers tolerate does. */
export async function setSchemaStep(url: string, by: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql`UPDATE ark.meta SET schema_version = schema_version + ${by}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
