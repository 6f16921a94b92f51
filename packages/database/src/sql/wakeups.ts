import { quoted } from "./identifier.ts";
import { statement } from "./statement.ts";

export const listen = statement<string>("listen", (sql, channel) =>
  sql`LISTEN ${sql.unsafe(quoted(channel))}`.simple(),
);

export const notify = statement<{ readonly channel: string; readonly payload: string }>(
  "notify",
  (sql, { channel, payload }) => sql`SELECT pg_notify(${channel}, ${payload})`,
);
