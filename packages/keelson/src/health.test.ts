import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog, systemClock } from "@keelson/base";
import { ManualClock, RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import { Health, type Check } from "./health.ts";
import { ownRoutes } from "./rest/own-routes.ts";
import { restFixture } from "./testing/rest-fixture.ts";

const facts = { version: "1", gitCommit: "c", buildTime: "t", environment: "e" };

suite("health", () => {
  test("is alive whatever the parts say, and ready only when all answer", async () => {
    let isUp = false;
    const database: Check = {
      name: "database",
      run: async () => {
        if (!isUp) throw new Error("password hunter2");
      },
    };
    const metrics = new RecordingMetrics();
    const health = new Health({
      checks: [database],
      clock: systemClock,
      log: silentLog,
      metrics,
    });
    const modules = [ownRoutes({ health, clock: systemClock, components: {}, facts })];
    await using rest = await restFixture({ modules });
    const get = async (url: string): Promise<[number, string]> => {
      const reply = await rest.app.inject({ url, headers: { host: "localhost" } });
      return [reply.statusCode, reply.body];
    };
    const down =
      '{"error":"not ready: database does not answer","code":"DATABASE_UNAVAILABLE","details":{"components":{"database":{"status":"unhealthy"}}}}';
    for (const url of ["/readyz", "/readyz?verbose", "/health/ready"]) {
      assert.deepEqual(await get(url), [503, down]);
    }
    for (const url of ["/livez", "/livez?verbose", "/health", "/health/live"]) {
      assert.equal((await get(url))[0], 200, url);
    }
    assert.match((await get("/health"))[1], /"components":\{"database":\{"status":"unhealthy"\}\}/);
    assert.equal(metrics.value("keelson_component_up", { component: "database" }), 0);

    isUp = true;
    assert.deepEqual(await get("/readyz"), [200, "ok\n"]);
    assert.deepEqual(await get("/readyz?verbose"), [200, "[+]database ok\nreadyz check passed\n"]);
    assert.equal(metrics.value("keelson_component_up", { component: "database" }), 1);

    assert.deepEqual(JSON.parse((await get("/api/v1/info"))[1]), {
      service: "cls-backend",
      version: "1",
      git_commit: "c",
      build_time: "t",
      api_version: "v1",
      environment: "e",
    });
    const { timestamp, ...shown } = JSON.parse((await get("/health"))[1]) as Record<
      string,
      unknown
    >;
    assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(shown, {
      status: "healthy",
      service: "cls-backend",
      components: { database: { status: "healthy" } },
    });

    health.stop();
    const [status, body] = await get("/readyz");
    assert.equal(status, 503);
    assert.match(body, /the server is stopping/);
    assert.equal((await get("/livez"))[0], 200);
  });

  test("does not wait longer than 2 seconds for a part that never answers, and asks once for many", async () => {
    const clock = new ManualClock();
    let asked = 0;
    const hung: Check = {
      name: "store",
      run: () => {
        asked++;
        return new Promise(() => undefined);
      },
    };
    const log = new RecordingLog();
    const health = new Health({ checks: [hung], clock, log, metrics: new RecordingMetrics() });
    const answers = Promise.all([health.ask(), health.ask(), health.ask()]);
    await clock.advance(2_000);
    assert.deepEqual((await answers)[2], [{ name: "store", status: "unhealthy" }]);
    assert.equal(asked, 1);
  });

  test("tells why a part does not answer once, and that it answers again", async () => {
    const clock = new ManualClock();
    const log = new RecordingLog();
    let failure: Error | undefined = new Error("not started");
    const database: Check = {
      name: "database",
      run: async () => {
        if (failure !== undefined) throw failure;
      },
    };
    const health = new Health({ checks: [database], clock, log, metrics: new RecordingMetrics() });
    const refused = new Error("password refused");
    for (const next of [failure, undefined, refused, refused, undefined, undefined]) {
      failure = next;
      await health.ask();
    }
    health.stop();
    failure = refused;
    await health.ask();
    assert.deepEqual(
      log.entries.map(({ level, message, fields }) => [level, message, fields["error"]]),
      [
        ["debug", "not ready yet: a part does not answer", new Error("not started")],
        ["warn", "not ready: a part does not answer", refused],
        ["info", "ready: the part answers again", undefined],
      ],
    );
  });
});
