// The REST API of an app: what arrives there and what does not, through a real nginx and by the rules of traefik, and
// what it may then read in a real PostgreSQL. In PostgREST's place stands a server that runs PostgREST's statements with
// the variables of the sidecar.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { systemRandom } from "@keelson/base";
import { type DynamicObject } from "@keelson/client";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { namesOf, reconcileDatabase, workloadOf, type App } from "@keelson/platform";
import {
  appWith,
  ownerless,
  createAppDatabase,
  MemoryLedger,
  type AppDatabase,
} from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { startNginx, withoutNginx } from "./nginx-server.ts";
import { prepareChildren } from "./children-bed.ts";

const settings = {
  ingressClass: "nginx",
  ingressRewrite: "nginx",
  clusterIssuer: "letsencrypt-prod",
} as const;
const pods = { image: "registry.example.com/shop:1", checksum: "c" };

/** What a path is, and where it belongs. */
const routes: readonly (readonly [path: string, where: "app" | "rest", arrives: string])[] = [
  ["/api/rest/todos?id=eq.1", "rest", "/todos?id=eq.1"],
  ["/api/rest/todos?select=id,text&text=eq.a%20b", "rest", "/todos?select=id,text&text=eq.a%20b"],
  ["/api/rest", "rest", "/"],
  ["/api/rest/", "rest", "/"],
  ["/api/rest/rpc/f", "rest", "/rpc/f"],
  ["/api/rest/api/rest/x", "rest", "/api/rest/x"],
  ["/api/restore", "app", "/api/restore"],
  ["/api/restore/rest/todos?a=b", "app", "/api/restore/rest/todos?a=b"],
  ["/x/api/rest/todos", "app", "/x/api/rest/todos"],
  ["/api", "app", "/api"],
  ["/", "app", "/"],
];

suite("the routes of an app", () => {
  test(
    "P14: nginx strips the prefix of the API, and only that",
    { skip: withoutNginx },
    async (t) => {
      await using app = await listen((path) => `app ${path}`);
      await using rest = await listen((path) => `rest ${path}`);
      const shop = appWith({
        database: { enabled: true },
        storage: { enabled: true, buckets: [{ name: "up", public: false, maxFileSize: "2Mi" }] },
      });
      const host = shop.names.domain;
      const ingresses = ingressesOf(shop, "nginx");
      await using nginx = await startNginx(ingresses, { 80: app.port, 3001: rest.port }, t.signal);
      for (const [path, where, arrives] of routes) {
        const { status, body } = await nginx.ask({ host, path });
        assert.deepEqual([path, status, body], [path, 200, `${where} ${arrives}`]);
      }
      assert.equal((await nginx.ask({ host: "other.example.com", path: "/" })).status, 404);

      // As large as the largest file that a bucket takes, at the app alone.
      const post = async (path: string, bytes: number) =>
        (await nginx.ask({ host, path }, Buffer.alloc(bytes))).status;
      assert.deepEqual(
        [
          await post("/upload", 2 * 1024 ** 2),
          await post("/upload", 2 * 1024 ** 2 + 1),
          await post("/api/rest/todos", 2 * 1024 ** 2),
        ],
        [200, 413, 413],
      );
    },
  );

  test("without a database everything is the app's", { skip: withoutNginx }, async (t) => {
    await using app = await listen((path) => `app ${path}`);
    const shop = appWith({});
    const ingresses = ingressesOf(shop, "nginx");
    await using nginx = await startNginx(ingresses, { 80: app.port }, t.signal);
    const { body } = await nginx.ask({ host: shop.names.domain, path: "/api/rest/todos" });
    assert.equal(body, "app /api/rest/todos");
  });

  test("P14: traefik does the same, by the rules that it makes of the objects", () => {
    const objects = workloadOf(
      appWith({ database: { enabled: true } }),
      { ...settings, ingressRewrite: "traefik" },
      pods,
    );
    for (const [path, where, arrives] of routes) {
      assert.deepEqual([path, ...routedByTraefik(objects, path)], [path, where, arrives]);
    }
  });
});

clusterSuite("the REST API of an app", () => {
  for (const [scenario, pullRequest] of [
    ["P14: an app", undefined],
    ["P48: a preview", 42],
  ] as const) {
    const title = `${scenario} shows its tables, and no others, to whoever asks`;
    test(title, { skip: withoutNginx }, async (t) => {
      const { signal } = t;
      await using bed = await prepare(pullRequest, signal);
      const { app, database, variables } = bed;
      const [schema, anonRole] = [app.names.schema, app.names.anonRole];
      assert.deepEqual(
        [variables["PGRST_DB_SCHEMAS"], variables["PGRST_DB_ANON_ROLE"]],
        pullRequest === undefined
          ? ["prod_todo_shop", "prod_todo_shop_anon"]
          : ["todo_shop_pr42", "todo_shop_pr42_anon"],
      );
      // As the app does it, after the roles were made.
      const { PGRST_DB_URI: uri = "" } = variables;
      await database.queryAs(
        uri,
        `CREATE TABLE todos (id integer PRIMARY KEY, text text);
         INSERT INTO todos VALUES (1, 'one'), (2, 'two'); CREATE VIEW open AS SELECT * FROM todos WHERE id > 1`,
      );
      await database.query("CREATE SCHEMA other; CREATE TABLE other.secrets (id integer)");

      await using own = await listen((path) => `app ${path}`);
      await using rest = await listen((path, method) =>
        answerAsPostgrest(database, variables, { path, method }),
      );
      await using nginx = await startNginx(
        ingressesOf(app, "nginx"),
        { 80: own.port, 3001: rest.port },
        signal,
      );
      const host = app.names.domain;
      const get = async (path: string): Promise<unknown> =>
        JSON.parse((await nginx.ask({ host, path })).body);
      assert.deepEqual(await get("/api/rest"), ["open", "todos"]);
      assert.deepEqual(await get("/api/rest/todos?id=eq.1"), [{ id: 1, text: "one" }]);
      assert.deepEqual(await get("/api/rest/open"), [{ id: 2, text: "two" }]);
      assert.match(
        String(await get("/api/rest/secrets")),
        /relation "\S+\.secrets" does not exist/,
      );
      const { body } = await nginx.ask({ host, path: "/api/rest/todos" }, '{"id": 3}');
      assert.match(body, /permission denied for table todos/);
      assert.deepEqual(
        await database.query(`SELECT has_schema_privilege('${anonRole}', '${schema}', 'USAGE') AS uses,
          has_schema_privilege('${anonRole}', 'other', 'USAGE') AS "usesOther"`),
        [{ uses: true, usesOther: false }],
      );
    });
  }
});

interface Asked {
  readonly path: string;
  readonly method: string;
}

/** The statements that PostgREST runs for a request of nobody in particular, in a transaction as the anonymous role. */
async function answerAsPostgrest(
  database: AppDatabase,
  variables: Readonly<Record<string, string>>,
  { path, method }: Asked,
): Promise<string> {
  const { PGRST_DB_URI: uri = "", PGRST_DB_SCHEMAS: schema, PGRST_DB_ANON_ROLE: role } = variables;
  const { pathname, searchParams } = new URL(path, "http://rest");
  const table = `"${schema}"."${pathname.slice(1)}"`;
  const filters = [...searchParams].map(
    ([column, value]) => `${table}."${column}" = '${value.replace(/^eq\./, "")}'`,
  );
  const where = filters.length === 0 ? "" : `WHERE ${filters.join(" AND ")}`;
  const body = "coalesce(json_agg(_postgrest_t), '[]') AS body";
  const source = (): string => {
    // What its description of the API lists: the tables that the role may use.
    if (pathname === "/") {
      return `SELECT coalesce(json_agg(c.relname ORDER BY c.relname), '[]') AS body FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}' AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
        AND has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE')`;
    }
    const inner =
      method === "POST"
        ? `INSERT INTO ${table} DEFAULT VALUES RETURNING ${table}.*`
        : `SELECT ${table}.* FROM ${table} ${where}`;
    return `WITH pgrst_source AS (${inner}) SELECT ${body} FROM (SELECT * FROM pgrst_source) _postgrest_t`;
  };
  const settingUp = `SELECT set_config('search_path', '"${schema}", "public"', true), set_config('role', '${role}', true),
    set_config('request.method', '${method}', true), set_config('request.path', '${pathname}', true)`;
  try {
    const results = await database.queryAs(uri, `BEGIN; ${settingUp}; ${source()}; COMMIT`);
    const [row] = results[2] as unknown as { body: unknown }[];
    return JSON.stringify(row?.body);
  } catch (error) {
    return JSON.stringify((error as Error).message);
  }
}

/** An app with a database, and the variables that its sidecar sees. */
async function prepare(pullRequest: number | undefined, signal: AbortSignal) {
  await using setup = new AsyncDisposableStack();
  const server = await sharedThrowawayPostgres("embedded");
  const database = setup.use(await createAppDatabase(server, { rights: "ordinary" }));
  const { client, children } = setup.use(await prepareChildren(signal));
  const named =
    pullRequest === undefined
      ? ({ app: "todo-shop", environment: "production" } as const)
      : ({ app: "todo-shop", environment: "preview", pullRequest } as const);
  const plain = ownerless(appWith({ database: { enabled: true } }));
  const app: App = {
    ...plain,
    spec: { ...plain.spec, environment: named.environment },
    names: namesOf(named, { baseDomain: "example.com", previewHosts: "nested" }),
  };
  const admin = database.admin();
  const ledger = new MemoryLedger();
  setup.defer(() => admin.remove({ owner: app.owner, ledger }, new AbortController().signal));
  const step = { admin, children, settings: {}, random: systemRandom, told: new Map() };
  await reconcileDatabase(step, { app, ledger, adopts: false }, signal);
  const secrets = await client.resource({ apiVersion: "v1", kind: "Secret" }, signal);
  const variables: Record<string, string> = {};
  for (const { name, value, valueFrom } of sidecarVariables(app)) {
    if (value !== undefined) variables[name] = value;
    if (valueFrom === undefined) continue;
    const { name: secret, key } = valueFrom.secretKeyRef;
    const found = await secrets.get({ namespace: app.namespace, name: secret }, signal);
    const { [key]: text = "" } = found["data"] as Record<string, string>;
    variables[name] = Buffer.from(text, "base64").toString();
  }
  const kept = setup.move();
  return { app, database, variables, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

function sidecarVariables(app: App): readonly Variable[] {
  const deployment = workloadOf(app, settings, pods).find(({ kind }) => kind === "Deployment");
  assert.ok(deployment !== undefined);
  const { template } = deployment["spec"] as unknown as {
    template: { spec: { containers: { name: string; env: Variable[] }[] } };
  };
  return template.spec.containers.find(({ name }) => name === "postgrest")?.env ?? [];
}

function ingressesOf(app: App, ingressRewrite: "nginx" | "traefik"): readonly DynamicObject[] {
  return workloadOf(app, { ...settings, ingressRewrite }, pods).filter(
    ({ kind }) => kind === "Ingress",
  );
}

/** Exact paths are themselves, prefixes the beginnings of texts, the longest first; a middleware takes its prefix off. */
function routedByTraefik(
  objects: readonly DynamicObject[],
  url: string,
): readonly [string, string] {
  const [path = "", query] = url.split("?");
  const rules = objects
    .filter(({ kind }) => kind === "Ingress")
    .flatMap(({ metadata: { annotations = {}, namespace }, spec }) => {
      const middlewares = (
        annotations["traefik.ingress.kubernetes.io/router.middlewares"] ?? ""
      ).split(",");
      const { rules } = spec as unknown as {
        rules: {
          http: {
            paths: {
              path: string;
              pathType: string;
              backend: { service: { port: { number: number } } };
            }[];
          };
        }[];
      };
      const strips = objects
        .filter(
          ({ kind, metadata }) =>
            kind === "Middleware" &&
            middlewares.includes(`${namespace}-${metadata.name}@kubernetescrd`),
        )
        .flatMap(
          (object) =>
            (object["spec"] as unknown as { stripPrefix: { prefixes: string[] } }).stripPrefix
              .prefixes,
        );
      return rules.flatMap(({ http }) => http.paths.map((one) => ({ ...one, strips })));
    })
    .toSorted((one, other) => other.path.length - one.path.length);
  const rule = rules.find(({ path: wanted, pathType }) =>
    pathType === "Exact" ? path === wanted : path.startsWith(wanted),
  );
  assert.ok(rule !== undefined, `nothing routes ${path}`);
  const prefix = rule.strips.find((one) => path.startsWith(one)) ?? "";
  const stripped = path.slice(prefix.length);
  const arrives = stripped.startsWith("/") ? stripped : `/${stripped}`;
  const where = rule.backend.service.port.number === 3001 ? "rest" : "app";
  return [where, query === undefined ? arrives : `${arrives}?${query}`];
}

/** A server that answers with a text. */
async function listen(answer: (path: string, method: string) => string | Promise<string>) {
  const server = createServer((request, response) => {
    const { url = "", method = "" } = request;
    // Once everything has arrived: nginx takes an earlier answer to a long body for none.
    request.resume().once("end", () => {
      void Promise.resolve(answer(url, method)).then((text) => response.end(text));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
