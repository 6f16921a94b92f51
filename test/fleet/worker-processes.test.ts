// Workers as real processes: one that is stopped past its lease, one that is told to end in the middle, and many that
// start on an empty database.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startTestServer } from "@keelson/apiserver/testing";
import { Client, fixedCredentials } from "@keelson/client";
import { migrate, openDatabase, sharedMigrations } from "@keelson/database";
import { patience, sharedThrowawayPostgres } from "@keelson/database/testing";
import { fleetMigrations } from "@keelson/fleet";
import { until } from "../tools/until.ts";
import { web } from "./bed.ts";
import { startFleetRest } from "./fleet-rest.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

const program = fileURLToPath(new URL("./programs/worker-process.ts", import.meta.url));

class WorkerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;
  output = "";

  constructor(instructions: object) {
    this.#child = endsWithUs(
      spawn(process.execPath, [program, JSON.stringify(instructions)], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.ended = once(this.#child, "close");
  }

  said(word: string, signal: AbortSignal): Promise<boolean> {
    return until(() => this.output.includes(word), signal);
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  goOn(): void {
    this.#child.stdin?.write("go\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.send("SIGKILL");
    await this.ended;
  }
}

suite("workers as processes", () => {
  test("F44, F46: a holder that wakes after its lease leaves nothing old behind; one that is told to end finishes first", async (t) => {
    const { signal } = t;
    await using server = await startTestServer({}, signal);
    await using rest = await startFleetRest();
    await rest.tables.query(`INSERT INTO targets (cluster_id, in_process) VALUES ('prod', true)`);
    await using client = new Client({
      access: { server: server.url, credentials: fixedCredentials({}) },
    });
    const maps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
    const shared = { url: rest.tables.url, server: server.url };
    const created = await rest.ask("POST", "/resources", web);
    const { id } = created.body;
    const put = async (a: string): Promise<void> => {
      const answer = await rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a } } });
      assert.equal(answer.code, 200);
    };
    const show = async () => (await rest.ask("GET", `/resources/${id}`)).body;
    const inCluster = async () => {
      const found = await maps.find({ name: "web", namespace: "default" }, signal);
      return [found?.["data"], found?.metadata.annotations?.["kontrol/generation"]];
    };

    // The first holds the claim of generation 5, and is frozen; the second takes over after the lease.
    for (const a of ["2", "3", "4", "5"]) await put(a);
    await using frozen = new WorkerProcess({ ...shared, name: "one", leaseMs: 3_000, holds: true });
    await frozen.said("holding", signal);
    frozen.send("SIGSTOP");
    await using other = new WorkerProcess({ ...shared, name: "two", leaseMs: 3_000, holds: false });
    await until(async () => (await show()).applied?.generation === 5, signal);
    await put("6");
    await until(async () => (await show()).status === "synced", signal);
    assert.deepEqual(await inCluster(), [{ a: "6" }, "6"]);
    // It wakes, and applies what it read before; it cannot record it, and the watcher puts it right.
    frozen.goOn();
    frozen.send("SIGCONT");
    await until(async () => {
      const rows = await rest.tables.query(
        `SELECT FROM events_unnumbered WHERE type = 'resource.drifted' AND resource_id = $1`,
        [id],
      );
      return rows.length > 0;
    }, signal);
    await until(async () => {
      const { status, applied, current } = await show();
      return status === "synced" && applied.generation === 6 && current.generation === 6;
    }, signal);
    assert.deepEqual(await inCluster(), [{ a: "6" }, "6"]);
    frozen.send("SIGTERM");
    await frozen.ended;
    assert.match(frozen.output, /refused [1-9]/);
    other.send("SIGTERM");
    await other.ended;

    // Told to end while it is about to apply: it applies, records, gives back what it held, and ends.
    await using ending = new WorkerProcess({
      ...shared,
      name: "three",
      leaseMs: 30_000,
      holds: true,
    });
    await ending.said("running", signal);
    await put("7");
    await ending.said("holding", signal);
    ending.send("SIGTERM");
    ending.goOn();
    assert.deepEqual(await ending.ended, [0, null]);
    assert.deepEqual(await inCluster(), [{ a: "7" }, "7"]);
    const { applied } = await show();
    assert.deepEqual([applied.generation, applied.status], [7, "success"]);
    assert.deepEqual(
      await rest.tables.query(
        `SELECT t.lease_owner AS watch, a.lease_owner AS work, a.due_at FROM targets t, resource_attempts a`,
      ),
      [{ watch: null, work: null, due_at: null }],
    );
  });

  test("F47: ten replicas start on an empty database, one migrates, and a second run does nothing", async (t) => {
    const postgres = await sharedThrowawayPostgres("embedded");
    await using empty = await postgres.createDatabase();
    const sets = [sharedMigrations, fleetMigrations];
    const applied = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const name = `replica ${index}`;
        await using database = openDatabase({
          url: empty.url,
          name,
          connectionsMax: 2,
          ...patience,
        });
        return await migrate(database, sets, t.signal);
      }),
    );
    const all = applied.flat();
    assert.equal(new Set(all).size, all.length);
    assert.ok(all.length > 5);
    await using database = openDatabase({ url: empty.url, name: "later", ...patience });
    assert.deepEqual(await migrate(database, sets, t.signal), []);
  });
});
