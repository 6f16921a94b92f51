// Cluster lifecycle as `keelson up` serves it: over a real socket, with its events and loops. By commands it is a guide: `test/guides`.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { restReference } from "@keelson/keelson";
import { until } from "../tools/until.ts";
import { askRest } from "./ask-rest.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";

suite("cluster lifecycle", () => {
  test("a cluster is declared, announced, reported on, ready, and deleted", async (t) => {
    await using folder = await temporaryFolder();
    await using keelson = new KeelsonProcess(join(folder.path, "data"), {
      environment: { RECONCILIATION_CHECK_INTERVAL: "1s" },
    });
    const { rest = "", metrics = "" } = await keelson.ready();
    const ask = askRest({ rest }, t.signal);
    const alice = { "x-user-email": "alice@example.com" };

    // Without an e-mail address one is a controller here, and may follow the topic.
    const stopReading = new AbortController();
    const stream = await fetch(`${rest}/api/v1/events?topic=cluster-events`, {
      headers: { accept: "text/event-stream" },
      signal: AbortSignal.any([t.signal, stopReading.signal]),
    });
    assert.equal(stream.status, 200);
    let heard = "";
    const reading = (async () => {
      for await (const piece of stream.body ?? []) heard += Buffer.from(piece).toString();
    })().catch(() => {});
    await until(() => heard.includes("event: ready"), t.signal);

    const made = await ask(
      "POST",
      "/clusters",
      { name: "one", spec: { platform: { type: "gcp" } } },
      alice,
    );
    assert.deepEqual([made.code, made.body.status.phase], [201, "Pending"]);
    const path = `/clusters/${made.body.id}`;
    await until(() => heard.includes("event: cluster.created"), t.signal);
    // The schedule announces it too.
    await until(() => heard.includes("never_reconciled"), t.signal);

    const condition = { type: "Available", status: "True", reason: "Told", message: "" };
    const report = { controller_name: "dns", observed_generation: 1, conditions: [condition] };
    assert.equal((await ask("PUT", `${path}/status`, report, alice)).code, 403);
    assert.equal((await ask("PUT", `${path}/status`, report)).code, 200);
    assert.equal((await ask("GET", path, undefined, alice)).body.status.phase, "Ready");
    await until(() => heard.includes("controller_status_created"), t.signal);
    const changed = await ask("PUT", path, { spec: { platform: { type: "gcp" }, n: 1 } });
    assert.deepEqual([changed.code, changed.body.generation], [200, 2]);
    assert.equal((await ask("DELETE", `${path}?force=true`)).code, 202);
    assert.equal((await ask("GET", path)).code, 404);
    await until(async () => {
      const { body } = await ask("GET", `${path}/events?include_deleted=true`);
      const types = body.events.map(({ type }: { type: string }) => type) as string[];
      return types.includes("cluster.finalized") && types.includes("cluster.created");
    }, t.signal);

    const document = await ask("GET", "/openapi.json");
    assert.equal(
      await readFile(new URL("../../docs/reference/rest.md", import.meta.url), "utf8"),
      `${restReference(document.body)}\n`,
      "npm run docs:reference writes it",
    );
    const { components } = (await (await fetch(`${rest}/health`, { signal: t.signal })).json()) as {
      components: Record<string, unknown>;
    };
    assert.deepEqual(components["events"], { transport: "local", status: "ok" });
    const shown = await (await fetch(`${metrics}/metrics`, { signal: t.signal })).text();
    // Each has counted something, but for what may be nought.
    for (const [name, value] of [
      ["keelson_http_request_seconds_count", "[1-9]"],
      ["keelson_database_pool_connections", "[0-9]"],
      ["keelson_outbox_publish_total", "[1-9]"],
      ["keelson_outbox_publish_seconds_count", "[1-9]"],
      ["keelson_outbox_backlog", "[0-9]"],
      ["keelson_outbox_oldest_age_seconds", "[0-9]"],
      ["keelson_scheduler_ticks_total", "[1-9]"],
      ["keelson_scheduler_tick_seconds_count", "[1-9]"],
      ["keelson_scheduler_announcements_total", "[1-9]"],
      ["keelson_scheduler_due_lag_seconds_count", "[1-9]"],
      ["keelson_clusters_reports_total", "[1-9]"],
      ["keelson_clusters_status_reads_total", "[1-9]"],
      ["keelson_clusters_resources", "[0-9]"],
    ] as const) {
      assert.match(shown, new RegExp(`^${name}({[^}]*})? ${value}`, "m"), name);
    }
    stopReading.abort();
    await reading;
    const { code, output } = await keelson.stop();
    assert.equal(code, 0, output);
  });
});
