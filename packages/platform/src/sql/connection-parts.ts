// Where a database is and who asks, read from a URL.

/** How a connection is encrypted, in libpq's words. */
export const tlsModes = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
] as const;
export type TlsMode = (typeof tlsModes)[number];

export interface ConnectionParts {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Left out: nothing was asked for, and it is encrypted where the server can. */
  readonly tls?: TlsMode;
  /** The file of the authorities that a server's certificate must come from. */
  readonly caFile?: string;
}

/** Throws an error that says what is wrong, and nothing of what is in the URL: it may be a password. */
export function parseConnectionUrl(text: string): ConnectionParts {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new TypeError(
      "the database's URL must be postgresql://user:password@host:port/database, with @ : / # and % percent-encoded in its parts",
    );
  }
  const tls = url.searchParams.get("sslmode") ?? undefined;
  if (tls !== undefined && !isTlsMode(tls)) {
    throw new TypeError(`the database's URL has an sslmode that is none of ${tlsModes.join(", ")}`);
  }
  const caFile = url.searchParams.get("sslrootcert") ?? undefined;
  const user = decoded(url.username, "user");
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost",
    port: url.port === "" ? 5432 : Number(url.port),
    database: decoded(url.pathname.slice(1), "database") || user,
    user,
    password: decoded(url.password, "password"),
    ...(tls === undefined ? {} : { tls }),
    ...(caFile === undefined || caFile === "system" ? {} : { caFile }),
  };
}

function isTlsMode(text: string): text is TlsMode {
  return (tlsModes as readonly string[]).includes(text);
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    // What the platform says of it names nothing of the text.
    const message = `the ${part} in the database's URL is not percent-encoded right`;
    throw new TypeError(message, { cause });
  }
}
