// The administrator of the database as AWS Secrets Manager knows it, from the variable to an app that runs.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Client, loadKubeconfig } from "@keelson/client";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { createAppDatabase, type AppDatabase } from "@keelson/platform/testing";
import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { until } from "../tools/until.ts";
import { applications, namespace, newName, seenIn, type Seen } from "./operator-bed.ts";
import { startSecretsServer, withoutSecretsManager } from "./secrets-server.ts";

suite("DB_SECRET_ARN", { skip: withoutSecretsManager }, () => {
  test("P32: names who the administrator is, and a password that rotates counts without a restart", async (t) => {
    const { signal } = t;
    await using undo = new AsyncDisposableStack();
    const server = await sharedThrowawayPostgres("embedded");
    const database = undo.use(await createAppDatabase(server, { rights: "ordinary" }));
    const secrets = undo.use(await startSecretsServer(signal));
    const arn = await secrets.create("aurora", secretOf(database));
    const folder = undo.use(await temporaryFolder());
    const keelson = undo.use(
      new KeelsonProcess(join(folder.path, "data"), {
        environment: { ...secrets.environment, DB_SECRET_ARN: arn },
      }),
    );
    const { kubeconfig = "" } = await keelson.ready();
    const access = await loadKubeconfig({ files: [kubeconfig] }, { clock: systemClock });
    const client = undo.use(new Client({ access, userAgent: "test" }));
    const apps = await client.resource(applications, signal);
    const apply = async (name: string): Promise<void> => {
      const spec = {
        repository: "git@example.com:shop",
        framework: "nextjs",
        environment: "production",
        database: { enabled: true },
      };
      const object = { ...applications, metadata: { name, namespace }, spec };
      await apps.apply(object, { fieldManager: "test" }, signal);
    };
    const see = async (name: string): Promise<Seen> =>
      seenIn(await apps.get({ namespace, name }, signal));
    const untilSaid = (name: string, condition: string) =>
      until(async () => {
        const seen = await see(name);
        return seen.conditions.includes(condition) && seen;
      }, signal);

    const first = newName();
    await apply(first);
    await untilSaid(first, "DatabaseReady True Provisioned");
    const schema = `prod_${first.replaceAll("-", "_")}`;
    const [owner] = await database.query<{ name: string }>(
      `SELECT nspowner::regrole::text AS name FROM pg_namespace WHERE nspname = '${schema}'`,
    );
    assert.equal(owner?.name, `"${database.adminName}"`);

    // Somebody rotates it: first the database, then the secret.
    const password = "another @ / # % one";
    await database.query(`ALTER ROLE "${database.adminName}" PASSWORD '${password}'`);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${database.adminName}'`,
    );
    const second = newName();
    await apply(second);
    const refused = await untilSaid(second, "DatabaseReady False Refused");
    assert.equal(refused.messages["DatabaseReady"]?.includes(password), false);
    await secrets.change(arn, secretOf(database, password));
    const third = newName();
    await apply(third);
    await untilSaid(third, "DatabaseReady True Provisioned");

    assert.equal(keelson.output.includes(password), false);
    assert.equal((await keelson.stop()).code, 0);
  });
});

function secretOf(database: AppDatabase, changed?: string): object {
  const { hostname, port, username, password } = new URL(database.adminUrl);
  return {
    engine: "postgres",
    username: decodeURIComponent(username),
    password: changed ?? decodeURIComponent(password),
    host: hostname,
    port: Number(port),
    dbname: database.name,
  };
}
