// The database of an app as the operator sees to it: in a real PostgreSQL, with its Secret and its Jobs in a cluster.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { Client, refOf } from "@keelson/client";
import { Caches, controllerMetrics } from "@keelson/controller";
import { sharedThrowawayPostgres, systemPostgresFound } from "@keelson/database/testing";
import {
  cleanupDatabase,
  Children,
  reconcileDatabase,
  type App,
  type DatabaseAdminOptions,
  type DatabaseSettings,
  type StatementPoint,
} from "@keelson/platform";
import {
  createAppDatabase,
  leftovers,
  MemoryLedger,
  nothing,
  type AppDatabase,
} from "@keelson/platform/testing";
import { clusterSuite, isOracle, startCluster } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";

const hasPsql = await systemPostgresFound();

clusterSuite("the database of an app", () => {
  test("its Secret logs in, and is kept as long as it does", async (t) => {
    await using bed = await prepare(t.signal);
    const { reconcile, secret, version, database, names } = bed;
    const { changes, migration } = await reconcile();
    assert.deepEqual(
      [changes[0], changes.at(-1), migration],
      ["createSchema", "setPassword", "none"],
    );
    const made = await secret();
    const { port, pathname } = new URL(database.adminUrl);
    const { DB_PASSWORD: password = "", DATABASE_URL: url = "", ...others } = made;
    assert.match(password, /^[0-9a-f]{64}$/);
    assert.equal(
      url,
      `postgresql://${names.appRole}:${password}@127.0.0.1:${port}${pathname}?options=-c%20search_path%3D${names.schema}`,
    );
    assert.deepEqual(others, {
      DB_HOST: "127.0.0.1",
      DB_PORT: port,
      DB_NAME: pathname.slice(1),
      DB_USER: names.appRole,
      DB_SCHEMA: names.schema,
    });
    const path = [{ search_path: names.schema }];
    assert.deepEqual(await database.queryAs(url, "SHOW search_path"), path);

    // Nothing differs, also for an operator that was started anew.
    const before = await version();
    for (const options of [{}, { adminUrl: () => Promise.resolve(database.adminUrl) }]) {
      const ran: string[] = [];
      await reconcile({ ...options, onStatement: bed.noting(ran) });
      assert.deepEqual(ran, [
        "connect",
        "inspect",
        "logIn",
        "findReloadTriggers",
        "installReloadTriggers", // Refused: once for each operator.
      ]);
    }
    assert.deepEqual([await version(), await secret()], [before, made]);
  });

  test("psql takes its URL", { skip: !hasPsql && "psql is not installed" }, async (t) => {
    await using bed = await prepare(t.signal);
    await bed.reconcile();
    const { DATABASE_URL: url = "" } = await bed.secret();
    const { stdout } = await promisify(execFile)("psql", [url, "-Atc", "SHOW search_path"]);
    assert.equal(stdout.trim(), bed.names.schema);
  });

  test("whatever becomes of Secret or password, they fit again", async (t) => {
    await using bed = await prepare(t.signal);
    const { reconcile, secret, patchSecret, database, names } = bed;
    await reconcile();
    const enters = async (): Promise<string> => {
      const { DATABASE_URL: url = "", DB_PASSWORD: password = "" } = await secret();
      await database.queryAs(url, "SELECT 1");
      return password;
    };
    const password = await enters();

    await database.query(`ALTER ROLE ${names.appRole} PASSWORD 'changed by hand'`);
    await reconcile();
    assert.equal(await enters(), password);

    await patchSecret({ DATABASE_URL: "postgresql://elsewhere", DB_HOST: null, DB_USER: "x" });
    await reconcile();
    assert.equal(await enters(), password);
    await patchSecret({ DB_PASSWORD: null });
    await reconcile();
    assert.equal(await enters(), password);

    // Out of sight for whoever looks for our label.
    await bed.tearOffLabel();
    await reconcile();
    assert.equal(await enters(), password);

    // Malformed: nothing that we would have made, nor what the role has.
    await patchSecret({ DB_PASSWORD: "short", DATABASE_URL: "" });
    await reconcile();
    const another = await enters();
    assert.notEqual(another, password);
    assert.match(another, /^[0-9a-f]{64}$/);

    await bed.deleteSecret();
    await reconcile();
    const third = await enters();
    assert.notEqual(third, another);

    // Somebody chose one, here and there: it logs in, so it is kept.
    const chosen = "it's my/own @nd %";
    await database.query(`ALTER ROLE ${names.appRole} PASSWORD '${chosen.replaceAll("'", "''")}'`);
    await patchSecret({ DB_PASSWORD: chosen });
    await reconcile();
    assert.equal(await enters(), chosen);
  });

  test("a crash between Secret and password is healed with the same password", async (t) => {
    await using bed = await prepare(t.signal);
    const crash = ({ statement }: { readonly statement: string }): void => {
      if (statement === "setPassword") throw new Error("crash");
    };
    await assert.rejects(bed.reconcile({ onStatement: crash }));
    const before = await bed.secret();
    await bed.reconcile();
    assert.deepEqual(await bed.secret(), before);
    await bed.database.queryAs(before["DATABASE_URL"] ?? "", "SELECT 1");
  });

  test("apps find it where they are told to", async (t) => {
    await using bed = await prepare(t.signal);
    const settings = { host: "db.internal", port: 6432, database: "other" };
    await bed.reconcile({}, settings);
    const { DATABASE_URL: url, ...others } = await bed.secret();
    assert.match(url ?? "", /@db\.internal:6432\/other\?options=/);
    assert.deepEqual(
      [others["DB_HOST"], others["DB_PORT"], others["DB_NAME"]],
      ["db.internal", "6432", "other"],
    );
  });

  test("somebody else's Secret is left alone", async (t) => {
    await using bed = await prepare(t.signal);
    const { names } = bed;
    const theirs = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: names.children.database, namespace: "default" },
      data: { A: "MQ==" },
    };
    const secrets = await bed.client.resource(theirs, t.signal);
    await secrets.create(theirs, {}, t.signal);
    await assert.rejects(bed.reconcile(), { reason: "Conflict" });
    assert.deepEqual(await bed.secret(), { A: "1" });
  });

  test("it goes with the app, or stays, by the policy", async (t) => {
    await using bed = await prepare(t.signal);
    const { reconcile, cleanup, database, app } = bed;
    await reconcile();
    const { DATABASE_URL: url = "" } = await bed.secret();
    await database.queryAs(url, "CREATE TABLE kept (id integer)");
    await cleanup("Retain");
    assert.deepEqual(await bed.secret(), {});
    await reconcile();
    const again = await bed.secret();
    assert.deepEqual(await database.queryAs(again["DATABASE_URL"] ?? "", "TABLE kept"), []);
    await cleanup("Delete");
    await cleanup("Delete");
    assert.deepEqual(await bed.secret(), {});
    assert.deepEqual(await leftovers(database, app.owner.name), nothing);
  });

  for (const ending of ["Complete", "Failed"] as const) {
    test(`a new image waits for its migrations, which run once: ${ending}`, async (t) => {
      await using bed = await prepare(t.signal, {
        imageRef: "registry.example.com/shop:1",
        database: {
          enabled: true,
          migrations: { engine: ending === "Failed" ? "knex" : "raw", path: "./db" },
        },
      });
      const settings = { runnerImage: "registry.example.com/keelson:1" };
      const { migration, wanted } = await bed.reconcile({}, settings);
      const [, job] = wanted;
      assert.ok(job);
      assert.equal(migration, "running");
      const again = await bed.reconcile({}, settings);
      assert.deepEqual(
        [again.migration, again.wanted[1]?.metadata.uid],
        ["running", job.metadata.uid],
      );

      if (isOracle) return; // How it ends is up to the Job's own controller.
      const jobs = await bed.client.resource(job, t.signal);
      const at = "2026-01-01T00:00:00Z";
      const isComplete = ending === "Complete";
      const types = isComplete ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
      const conditions = types.map((type) => ({
        type,
        status: "True",
        lastTransitionTime: at,
        message: "as told",
      }));
      const completionTime = isComplete ? { completionTime: at } : {};
      const body = { status: { conditions, startTime: at, ...completionTime } };
      const options = { subresource: "status" };
      await jobs.patch(refOf(job), { type: "merge", body, options }, t.signal);
      if (!isComplete) {
        await assert.rejects(bed.reconcile(), {
          reason: "MigrationFailed",
          message: `Job ${job.metadata.name} failed (as told): deploy an image that mends it, or delete the Job to try again`,
        });
        return;
      }
      // Then PostgREST is told, once.
      const ran: string[] = [];
      const noting = { onStatement: bed.noting(ran) };
      assert.equal((await bed.reconcile(noting, settings)).migration, "done");
      await bed.reconcile(noting, settings);
      assert.deepEqual(
        ran.filter((statement) => statement === "notifyReload"),
        ["notifyReload"],
      );

      // A schema that is lost is made anew, and its tables with it: also where that was cut off.
      await bed.database.query(`DROP SCHEMA ${bed.names.schema} CASCADE`);
      const crash = ({ statement }: { readonly statement: string }): void => {
        if (statement === "createSchema") throw new Error("crash");
      };
      await assert.rejects(bed.reconcile({ onStatement: crash }, settings));
      const anew = await bed.reconcile({}, settings);
      assert.equal(anew.migration, "running");
      assert.notEqual(anew.wanted[1]?.metadata.uid, job.metadata.uid);
    });
  }

  test("without a configured database an app is told so, and one that has none needs none", async (t) => {
    await using bed = await prepare(t.signal);
    const { children } = bed;
    const told = new Map<string, string>();
    const step = { admin: undefined, children, settings: {}, random: systemRandom, told };
    const ledger = new MemoryLedger();
    const { app } = bed;
    await assert.rejects(reconcileDatabase(step, { app, ledger, adopts: false }, t.signal), {
      reason: "NotConfigured",
    });
    await cleanupDatabase(step, { app, ledger, policy: "Delete" }, t.signal);
    await ledger.record({ kind: "Schema", name: "prod_x", state: "Ready" });
    await assert.rejects(cleanupDatabase(step, { app, ledger, policy: "Delete" }, t.signal), {
      reason: "NotConfigured",
      message: /^schema prod_x cannot be removed/,
    });
  });
});

async function prepare(signal: AbortSignal, spec: Partial<App["spec"]> = {}) {
  await using setup = new AsyncDisposableStack();
  const server = await sharedThrowawayPostgres("embedded");
  const database: AppDatabase = setup.use(await createAppDatabase(server, { rights: "ordinary" }));
  const cluster = setup.use(await startCluster({ simulatesWorkloads: false }, signal));
  const client = setup.use(new Client({ access: cluster.accessAt(cluster.port) }));
  const { names, owner } = database.app();
  const app: App = {
    kind: "PreviewEnvironment",
    owner,
    names,
    namespace: "default",
    spec: {
      repository: "r",
      branch: "main",
      framework: "nextjs",
      environment: "preview",
      scaling: { min: 1, max: 2, targetCPU: 80 },
      deletionPolicy: "Delete",
      database: { enabled: true },
      ...spec,
    },
  };
  const ledger = new MemoryLedger();
  const told = new Map<string, string | undefined>();
  const metrics = controllerMetrics(noMetrics);
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, metrics };
  const caches = setup.use(new Caches({ client, ...parts }, signal));
  const children = new Children({ client, caches });
  const ref = { namespace: "default", name: names.children.database };
  const secrets = await client.resource({ apiVersion: "v1", kind: "Secret" }, signal);
  /** Waits until the operator has heard of what somebody else did. */
  const heard = async (): Promise<void> => {
    const cached = children.of({ apiVersion: "v1", kind: "Secret" });
    await until(async () => {
      const [seen, now] = [await cached.find(ref, signal), await secrets.find(ref, signal)];
      return seen?.metadata.resourceVersion === now?.metadata.resourceVersion;
    }, signal);
  };
  const admin = database.admin();
  const kept = setup.move();
  return {
    app,
    names,
    client,
    children,
    version: async () => (await secrets.find(ref, signal))?.metadata.resourceVersion,
    database,
    reconcile: (options?: Partial<DatabaseAdminOptions>, settings: DatabaseSettings = {}) =>
      reconcileDatabase(
        {
          admin: options === undefined ? admin : database.admin(options),
          children,
          settings,
          random: systemRandom,
          told,
        },
        { app, ledger, adopts: false },
        signal,
      ),
    /** Notes each statement as it is sent. */
    noting:
      (ran: string[]) =>
      ({ statement, phase }: StatementPoint): void => {
        if (phase === "before") ran.push(statement);
      },
    cleanup: (policy: "Delete" | "Retain") =>
      cleanupDatabase({ admin, children, told }, { app, ledger, policy }, signal),
    /** What the Secret says, in clear. */
    secret: async (): Promise<Record<string, string>> => {
      const { data = {} } = ((await secrets.find(ref, signal)) ?? {}) as {
        data?: Record<string, string>;
      };
      return Object.fromEntries(
        Object.entries(data).map(([name, value]) => [
          name,
          Buffer.from(value, "base64").toString(),
        ]),
      );
    },
    patchSecret: async (change: Record<string, string | null>): Promise<void> => {
      const data = Object.fromEntries(
        Object.entries(change).map(([name, value]) => [
          name,
          value === null ? null : Buffer.from(value).toString("base64"),
        ]),
      );
      await secrets.patch(ref, { type: "merge", body: { data } }, signal);
      await heard();
    },
    tearOffLabel: async (): Promise<void> => {
      const body = { metadata: { labels: { "platform.internal/managed-by": null } } };
      await secrets.patch(ref, { type: "merge", body }, signal);
      const cached = children.of({ apiVersion: "v1", kind: "Secret" });
      await until(async () => (await cached.find(ref, signal)) === undefined, signal);
    },
    deleteSecret: async (): Promise<void> => {
      await secrets.delete(ref, signal);
      await heard();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
