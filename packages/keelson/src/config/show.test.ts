import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { loadSettings as load } from "../testing/settings.ts";
import { settingsTable, shownSettings, withoutPassword } from "./show.ts";

suite("what is shown of the configuration", () => {
  test("tells value and source, and masks secrets", async () => {
    const config = await load({
      flags: { port: "0" },
      environment: {
        DATABASE_URL: "postgres://app:hunter2@db:5432/keelson?password=hunter2",
        AUTH_MODE: "gateway",
        AUTH_GATEWAY_SECRET: "hunter2",
        KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        SHUTDOWN_GRACE: "90s",
      },
    });
    const shown = new Map(shownSettings(config).map((row) => [row.setting, row]));
    assert.deepEqual(shown.get("port"), {
      setting: "port",
      flag: "--port",
      variable: "KEELSON_PORT",
      value: "0",
      source: "flag --port",
    });
    assert.equal(
      shown.get("databaseUrl")?.value,
      "postgres://app:*****@db:5432/keelson?password=*****",
    );
    assert.equal(
      withoutPassword("postgres://50%:hunter2@db/keelson"),
      "postgres://50%:*****@db/keelson",
    );
    assert.equal(shown.get("authGatewaySecret")?.value, "*****");
    assert.equal(shown.get("shutdownGrace")?.value, "90s");
    assert.equal(shown.get("kubePort")?.source, "default");
    assert.equal(shown.get("corsOrigins")?.source, "default: a credential is needed anyway");
    assert.equal(shown.get("tokensFile")?.value, null);

    const table = settingsTable(config);
    assert.match(table, /^ {2}KEELSON_SHUTDOWN_GRACE +90s +variable SHUTDOWN_GRACE$/m);
    for (const secret of ["hunter2", Buffer.alloc(32, 7).toString("base64")]) {
      assert.ok(!table.includes(secret));
      assert.ok(!JSON.stringify([...shown.values()]).includes(secret));
    }
  });
});
