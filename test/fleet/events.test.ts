// The stream of events (3.6, F11): what happened, each once, in the order of the commits.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RestError } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { until } from "../tools/until.ts";
import { EventReader } from "../services/event-reader.ts";
import { runFile } from "../services/process.ts";
import { as, startFleetRest, type FleetRest, type FleetRestOptions } from "./fleet-rest.ts";

const replica = new URL("./programs/events-process.ts", import.meta.url);

const web = {
  cluster_id: "prod",
  namespace: "shop",
  kind: "ConfigMap",
  name: "web",
  desired_spec: { data: { a: "not to be told" } },
};

async function bed(options: FleetRestOptions = {}) {
  const rest = await startFleetRest(options);
  rest.runEvents();
  return Object.assign(rest, { stream: `${await rest.listen()}/api/v1/events` });
}

/** Waits until a reader has had so many events. */
async function having(reader: EventReader, count: number, signal: AbortSignal): Promise<void> {
  await until(() => reader.arrived.length >= count, signal);
}

async function writeEvents(it: FleetRest, rows: string): Promise<void> {
  await it.tables.query(
    `INSERT INTO events_unnumbered (type, cluster_id, actor, data) ${rows} RETURNING 1`,
  );
}

suite("the stream of events", () => {
  test("F11: a reader cut 20 times during 5,000 changes has each event once, in the order of ids", async (t) => {
    await using it = await bed();
    const changes = Array.from({ length: 50 }, (_, index) => ({
      op: "create",
      ...web,
      name: `web-${index}`,
    }));
    await it.ask("POST", "/batch", { changes });
    const { url } = it.tables;
    const write = (writes: number, killAt?: object) =>
      runFile(replica, JSON.stringify({ url, writes, killAt }));
    // Two others write and number as well; one dies when its changes are committed and not numbered, and is started again.
    const written = Promise.all([
      write(50),
      (async () => {
        const killed = await write(50, { phase: "before", statement: "numberRows", n: 6 });
        assert.equal(killed.signal, "SIGKILL");
        const again = await write(50, { phase: "after", statement: "numberRows", n: 6 });
        assert.equal(again.signal, "SIGKILL");
        await write(50);
      })(),
    ]);
    const ids: string[] = [];
    let cuts = 0;
    let isWritten = false;
    void written.finally(() => (isWritten = true));
    /** The reader has all there is, and no more will come. */
    const isLevel = async (last: string): Promise<boolean> => {
      if (!isWritten) return false;
      const [log] = await it.tables.query<{ waiting: number; last: string }>(
        `SELECT (SELECT count(*) FROM events_unnumbered)::integer AS waiting,
                (SELECT max(id) FROM events)::text AS last`,
      );
      return log?.waiting === 0 && log.last === last;
    };
    for (const end = { isReached: false }; !end.isReached; cuts++) {
      const last = ids.at(-1) ?? "0";
      const cutAfter = cuts < 20 ? 100 + cuts : Number.POSITIVE_INFINITY;
      const reader = await EventReader.open(it.stream, { lastEventId: last, cutAfter });
      await until(async () => {
        end.isReached = await isLevel(reader.arrived.at(-1)?.id ?? last);
        return end.isReached || reader.isOver;
      }, t.signal);
      reader.cut();
      ids.push(...reader.arrived.map(({ id = "" }) => id));
    }
    await written;
    assert.ok(cuts > 20, `${cuts} streams`);
    const [truth] = await it.tables.query<{ events: number; changes: number }>(
      `SELECT (SELECT count(*) FROM events)::integer AS events,
              (SELECT sum(generation) FROM resources)::integer AS changes`,
    );
    assert.ok(ids.length >= 5_000, `${ids.length} events`);
    assert.deepEqual(
      ids,
      Array.from(ids.keys(), (index) => String(index + 1)),
    );
    assert.deepEqual(truth, { events: ids.length, changes: ids.length });
  });

  test("an event says who, what and how far, and nothing of the spec; from now on unless told", async (t) => {
    await using it = await bed();
    await it.ask("POST", "/resources", { ...web, name: "before" });
    const reader = await EventReader.open(it.stream);
    const { body } = await it.ask("POST", "/batch", { changes: [{ op: "create", ...web }] });
    const [{ id }] = body.results;
    await it.ask("PUT", `/resources/${id}`, { desired_spec: { data: {} } });
    await it.ask("DELETE", `/resources/${id}`);
    await having(reader, 4, t.signal);
    assert.equal(reader.headers["content-type"], "text/event-stream");
    const identity = { resource_id: id, cluster_id: "prod", namespace: "shop", name: "web" };
    const [created] = reader.arrived;
    const { at, actor, ...told } = created?.data ?? {};
    assert.match(at, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(told, {
      ...identity,
      api_version: "v1",
      kind: "ConfigMap",
      generation: 1,
      revision: 1,
      status: "pending",
      health: "Unknown",
      change_set: body.change_set,
    });
    assert.ok(typeof actor === "string" && actor !== "");
    assert.deepEqual(
      reader.arrived.map(({ id, type, data }) => [id, type, data.generation, data.status]),
      [
        ["2", "resource.created", 1, "pending"],
        ["3", "resource.updated", 2, "pending"],
        ["4", "resource.deleting", 3, "deleting"],
        ["5", "resource.deleted", 3, "deleted"],
      ],
    );
    assert.equal(reader.arrived[3]?.data.reason, "NeverApplied");
    assert.doesNotMatch(JSON.stringify(reader.arrived), /not to be told/);
  });

  test("filters let through what they name, and a token its clusters alone", async (t) => {
    const tokens = {
      all: { role: "admin" },
      staging: { role: "reader", clusters: ["staging"] },
    } as const;
    await using it = await bed({ tokens, eventLimits: { heartbeatMs: 20, slowMs: 30_000 } });
    const read = (query: string, token = "all") =>
      EventReader.open(`${it.stream}${query}`, { lastEventId: 0, headers: as(token) });
    const admin = as("all");
    const prod = await it.ask("POST", "/resources", web, admin);
    const staging = await it.ask("POST", "/resources", { ...web, cluster_id: "staging" }, admin);
    await it.ask("DELETE", `/resources/${prod.body.id}`, undefined, admin);
    await writeEvents(
      it,
      `VALUES ('global.created', NULL, 'x', '{}'), ('target.created', 'staging', 'x', '{}')`,
    );
    const readers = {
      "": [1, 2, 3, 4, 5, 6],
      "?cluster_id=staging": [2, 6],
      "?cluster_id=staging&cluster_id=prod": [1, 2, 3, 4, 6],
      [`?resource_id=${prod.body.id}`]: [1, 3, 4],
      [`?resource_id=${staging.body.id}&type=resource.deleted`]: [],
      "?type=resource.deleted&type=global.created": [4, 5],
    };
    for (const [query, ids] of Object.entries(readers)) {
      const reader = await read(query);
      await until(() => reader.position >= 6, t.signal);
      assert.deepEqual(
        reader.arrived.map(({ id }) => Number(id)),
        ids,
        query,
      );
      reader.cut();
    }
    const limited = await read("", "staging");
    const foreign = await read("?cluster_id=prod", "staging");
    await it.ask("DELETE", `/resources/${staging.body.id}`, undefined, admin);
    await until(() => Math.min(limited.position, foreign.position) >= 8, t.signal);
    assert.deepEqual(
      limited.arrived.map(({ id }) => Number(id)),
      [2, 6, 7, 8],
    );
    assert.deepEqual(foreign.arrived, []);
    const nobody = await it.ask("GET", "/events");
    assert.equal(nobody.code, 401);
  });

  test("a stream ends with its token, and nobody follows with it any more", async (t) => {
    const tokens = { kept: { role: "reader" }, revoked: { role: "reader" } } as const;
    await using it = await bed({ tokens });
    const open = (name: string) => EventReader.open(it.stream, { headers: as(name) });
    const [revoked, kept] = [await open("revoked"), await open("kept")];
    await it.changeTokens({ kept: tokens.kept });
    await until(() => revoked.isOver, t.signal);
    assert.equal(kept.isOver, false);
    assert.equal((await it.ask("GET", "/events", undefined, as("revoked"))).code, 401);
    await writeEvents(it, `VALUES ('target.created', 'prod', 'x', '{}')`);
    await having(kept, 1, t.signal);
    assert.deepEqual(revoked.arrived, []);
    kept.cut();
  });

  test("a wrong query is refused by field", async () => {
    await using it = await bed();
    const refused = async (path: string, headers = {}) => {
      const { code, body } = await it.ask("GET", path, undefined, headers);
      const fields = body.details.fields as { field: string }[];
      return [code, ...fields.map(({ field }) => field)];
    };
    assert.deepEqual(await refused("/events?resource_id=x&kind=Pod&type=no"), [
      400,
      "kind",
      "resource_id",
      "type",
    ]);
    assert.deepEqual(await refused("/events?topic=cluster-events"), [400, "topic"]);
    assert.deepEqual(await refused("/events", { "last-event-id": "-1" }), [400, "Last-Event-ID"]);
  });

  test("requests with a topic are whose the topics are, refusals before anybody was known too", async () => {
    const refused: unknown[] = [];
    await using it = await startFleetRest({
      tokens: { reader: { role: "reader" } },
      topicEvents: {
        answer: async () => {
          throw new RestError("FORBIDDEN", "no");
        },
        onRefused: ({ url }, identity, error) => {
          refused.push([url, identity?.user, (error as RestError).code]);
        },
      },
    });
    const path = "/events?topic=a";
    assert.equal((await it.ask("GET", path, undefined, as("reader"))).code, 403);
    assert.equal((await it.ask("GET", path)).code, 401);
    assert.equal((await it.ask("GET", "/events")).code, 401); // Nobody's but ours.
    assert.deepEqual(refused, [
      [`/api/v1${path}`, "reader@token.local", "FORBIDDEN"],
      [`/api/v1${path}`, undefined, "AUTH_REQUIRED"],
    ]);
  });

  test("who comes back after retention, or from another log, is told to begin again", async (t) => {
    await using it = await bed();
    for (const name of ["a", "b", "c"]) await it.ask("POST", "/resources", { ...web, name });
    await it.events.numberAll(t.signal);
    await it.tables.query(`UPDATE events SET at = at - interval '91 days' WHERE id <= 2`);
    const retentionMs = 90 * 24 * 3_600_000;
    assert.equal(await it.events.prune({ retentionMs, limit: 1 }, t.signal), 1);
    assert.equal(await it.events.prune({ retentionMs }, t.signal), 1);
    assert.equal(await it.events.prune({ retentionMs }, t.signal), 0);
    const lost = await EventReader.open(it.stream, { lastEventId: 1 });
    const stranger = await EventReader.open(it.stream, { lastEventId: 99 });
    const level = await EventReader.open(it.stream, { lastEventId: 2 });
    await having(lost, 1, t.signal);
    await having(stranger, 1, t.signal);
    await it.ask("POST", "/resources", { ...web, name: "d" });
    for (const [reader, seen] of [
      [lost, ["reset 3", "resource.created 4"]],
      [stranger, ["reset 3", "resource.created 4"]],
      [level, ["resource.created 3", "resource.created 4"]],
    ] as const) {
      await having(reader, 2, t.signal);
      assert.deepEqual(
        reader.arrived.map(({ id, type }) => `${type} ${id}`),
        seen,
      );
    }
  });

  test("an event that is older by the clock than one before it is kept with it", async (t) => {
    await using it = await bed();
    for (const name of ["a", "b", "c"]) await it.ask("POST", "/resources", { ...web, name });
    await it.events.numberAll(t.signal);
    await it.tables.query(`UPDATE events SET at = at - interval '2 days' WHERE id <> 2`);
    assert.equal(await it.events.prune({ retentionMs: 24 * 3_600_000 }, t.signal), 1);
    const reader = await EventReader.open(it.stream, { lastEventId: 1 });
    await having(reader, 2, t.signal);
    assert.deepEqual(
      reader.arrived.map(({ id }) => id),
      ["2", "3"],
    );
  });

  test("a quiet stream is heard of, with how far it got, and ends when the server does", async (t) => {
    const it = await bed({ eventLimits: { heartbeatMs: 50, slowMs: 30_000 } });
    await using open = new AsyncDisposableStack();
    open.use(it);
    const reader = await EventReader.open(`${it.stream}?type=resource.failed`);
    await until(() => reader.comments.length >= 2, t.signal);
    await it.ask("POST", "/resources", web);
    await until(() => reader.comments.some((text) => text.includes("id: 1")), t.signal);
    assert.deepEqual(reader.arrived, []);
    await open.disposeAsync();
    await until(() => reader.hasEnded, t.signal);
  });

  test("a reader that takes nothing is cut off, and others are not", async (t) => {
    const log = new RecordingLog();
    await using it = await bed({ eventLimits: { heartbeatMs: 50, slowMs: 3_000 }, log });
    const slow = await EventReader.openIdle(it.stream, { lastEventId: 0 });
    const other = await EventReader.open(it.stream, { lastEventId: 0 });
    // More than the sockets of both ends hold for it.
    await writeEvents(
      it,
      `SELECT 'target.updated', 'prod', 'x', jsonb_build_object('text', repeat('x', 10000))
       FROM generate_series(1, 2000)`,
    );
    await until(() => log.messages("info").some((text) => text.includes("too slow")), t.signal);
    await having(other, 2_000, t.signal);
    assert.equal(other.isOver, false);
    slow.cut();
  });
});
