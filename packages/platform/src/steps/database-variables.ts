// What an app's Secret says of its database.

import type { TlsMode } from "../sql/connection-parts.ts";
import { parseConnectionUrl } from "../sql/connection-parts.ts";

export interface DatabaseAccess {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly schema: string;
  /** As the administrator's URL asks. */
  readonly tls?: TlsMode | undefined;
}

/** The variables by which an app finds its database. */
export function databaseVariables(access: DatabaseAccess): Record<string, string> {
  const { host, port, database, user, password, schema } = access;
  return {
    DATABASE_URL: urlOf(access),
    DB_HOST: host,
    DB_PORT: String(port),
    DB_NAME: database,
    DB_USER: user,
    DB_PASSWORD: password,
    DB_SCHEMA: schema,
  };
}

/** The password that such variables hold, if they hold one. */
export function passwordIn(variables: Readonly<Record<string, string>>): string | undefined {
  const { DB_PASSWORD: password = "", DATABASE_URL: url = "" } = variables;
  if (password !== "") return password;
  try {
    return parseConnectionUrl(url).password || undefined;
  } catch {
    return undefined; // Somebody wrote something else there.
  }
}

/** Whether it is a password of our making: 32 bytes in hex. */
export function isOurPassword(password: string | undefined): password is string {
  return password !== undefined && /^[0-9a-f]{64}$/.test(password);
}

/** `options` and not `search_path`, which libpq refuses; drivers pass both on. */
function urlOf({ host, port, database, user, password, schema, tls }: DatabaseAccess): string {
  const [who, word, name] = [user, password, database].map(encodeURIComponent);
  const where = host.includes(":") ? `[${host}]` : host;
  const options = `options=-c%20search_path%3D${encodeURIComponent(schema)}`;
  return `postgresql://${who}:${word}@${where}:${port}/${name}?${options}${tlsOf(tls)}`;
}

/** An app has no file with the authorities of the server's certificate; encrypted it is all the same. */
function tlsOf(tls: TlsMode | undefined): string {
  if (tls === undefined) return "";
  return `&sslmode=${tls.startsWith("verify-") ? "require" : tls}`;
}
