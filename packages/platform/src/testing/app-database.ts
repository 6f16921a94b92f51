// A real PostgreSQL with a database for apps, and an administrator for it.

import postgres from "postgres";

import type { Owner } from "../ownership/owner.ts";
import { namesOf, type Names } from "../names/names.ts";
import { DatabaseAdmin, type DatabaseAdminOptions } from "../sql/database-admin.ts";
import { quoted, literal } from "../sql/identifier.ts";

/** What a throwaway server can do for us. */
interface Server {
  readonly url: string;
  createDatabase(): Promise<AsyncDisposable & { readonly name: string; readonly url: string }>;
}

export type AdminRights = "superuser" | "ordinary";

export interface AppDatabase extends AsyncDisposable {
  readonly name: string;
  /** Of the administrator. */
  readonly adminUrl: string;
  readonly adminName: string;
  /** An administrator's connections, closed with the rest. */
  admin(options?: Partial<DatabaseAdminOptions>): DatabaseAdmin;
  /** Runs SQL as somebody who may do everything. */
  query<R extends object = Record<string, unknown>>(text: string): Promise<readonly R[]>;
  /** The same as the given user. */
  queryAs<R extends object = Record<string, unknown>>(
    url: string,
    text: string,
  ): Promise<readonly R[]>;
  /** Runs SQL in a transaction that stays open until it is disposed of. */
  hold(text: string): Promise<AsyncDisposable>;
  urlOf(user: string, password: string): string;
  /** Names and an owner that no other test has. */
  app(name?: string): { readonly names: Names; readonly owner: Owner };
}

let count = 0;

export async function createAppDatabase(
  server: Server,
  { rights }: { readonly rights: AdminRights },
): Promise<AppDatabase> {
  await using setup = new AsyncDisposableStack();
  const database = setup.use(await server.createDatabase());
  const root = postgres(database.url, { max: 4, onnotice: () => {}, fetch_types: false });
  setup.defer(() => root.end({ timeout: 5 }));
  const urlOf = (user: string, password: string): string => {
    const url = new URL(database.url);
    url.username = encodeURIComponent(user);
    url.password = encodeURIComponent(password);
    return url.href;
  };
  const adminName = rights === "superuser" ? new URL(server.url).username : `boss-${++count}`;
  const password = "a@b/c#d%e:f?g";
  if (rights === "ordinary") {
    const role = quoted(adminName);
    await root.unsafe(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD ${literal(password)}`);
    await root.unsafe(`GRANT CREATE ON DATABASE ${quoted(database.name)} TO ${role}`);
  }
  const adminUrl = rights === "superuser" ? database.url : urlOf(adminName, password);
  const owned = setup.use(new AsyncDisposableStack());
  const kept = setup.move();
  return {
    name: database.name,
    adminName,
    adminUrl,
    urlOf,
    admin: (options = {}) =>
      owned.use(new DatabaseAdmin({ adminUrl: () => Promise.resolve(adminUrl), ...options })),
    query: async <R extends object>(text: string) => [...(await root.unsafe<R[]>(text))],
    queryAs: async <R extends object>(url: string, text: string) => {
      const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
      try {
        const rows = await sql.unsafe<R[]>(text);
        return [...rows];
      } finally {
        await sql.end({ timeout: 5 });
      }
    },
    hold: async (text) => {
      const sql = postgres(database.url, { max: 1, onnotice: () => {}, fetch_types: false });
      await sql.unsafe(`BEGIN; ${text}`);
      return { [Symbol.asyncDispose]: () => sql.end({ timeout: 0 }) };
    },
    app: (name = `shop-${++count}`) => ({
      names: namesOf(
        { app: name, environment: "production" },
        { baseDomain: "example.com", previewHosts: "nested" },
      ),
      owner: { uid: `0000-${++count}`, namespace: "apps", name },
    }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
