// Events as streams and as history, over HTTP.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemRandom, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { EventReader, type Arrived, type ReaderOptions } from "../services/event-reader.ts";
import { drained } from "./events-bed.ts";
import { startLifecycleServer } from "./lifecycle-server.ts";

/** Reads a stream as a controller, once it has begun. */
async function follow(url: string, options: ReaderOptions = {}): Promise<EventReader> {
  const headers = { accept: "text/event-stream", "x-user-email": "ctl@system.local" };
  const reader = await EventReader.open(url, { headers, ...options });
  assert.match(reader.headers["content-type"] ?? "", /^text\/event-stream/);
  await until(() => reader.arrived.length > 0, "a first event has come");
  assert.equal(reader.arrived[0]?.type, "ready");
  return reader;
}

/** Without the first one, which says that it is ready. */
function eventsOf({ arrived }: EventReader): readonly Arrived[] {
  return arrived.slice(1);
}

/** What a refusal says of each field. */
function fieldsOf({ details }: JsonObject): readonly string[] {
  const { fields = [] } = Object(details) as {
    readonly fields?: readonly Record<string, string>[];
  };
  return fields.map(({ field, message }) => `${field} ${message}`);
}

const uuid = (): string => systemRandom.uuid();

suite("streams of events", () => {
  test("whatever commits after it is ready comes, in order, of its topic alone", async () => {
    await using bed = await startLifecycleServer();
    const id = uuid();
    await bed.tell({ clusterId: id, generation: 1 });
    await until(() => drained(bed.tables));
    using reader = await follow(`${bed.url}/events?topic=cluster-events`);
    await bed.tell(
      { clusterId: id, generation: 2 },
      { clusterId: id, nodepoolId: uuid(), type: "nodepool.created" },
      { clusterId: id, type: "status.changed", reason: "phase_changed" },
      { clusterId: id, generation: 3, platform: "AWS" },
    );
    await until(() => eventsOf(reader).length === 2);
    assert.deepEqual(
      eventsOf(reader).map(({ type, data }) => [type, data.type, data.generation]),
      [
        ["cluster.updated", "cluster.updated", 2],
        ["cluster.updated", "cluster.updated", 3],
      ],
    );
    assert.deepEqual(Object.keys(eventsOf(reader)[0]?.data ?? {}).toSorted(), [
      "cluster_id",
      "created_by",
      "event_type",
      "generation",
      "id",
      "metadata",
      "platform",
      "reason",
      "source",
      "timestamp",
      "type",
      "user",
    ]);
    assert.equal(eventsOf(reader)[1]?.data["platform"], "aws");
  });

  test("filters by platform, in any case, and by type", async () => {
    await using bed = await startLifecycleServer({ heartbeatMs: 20 });
    using byPlatform = await follow(`${bed.url}/events?topic=cluster-events&platform=GCP`);
    using byType = await follow(`${bed.url}/events?topic=cluster-events&type=cluster.deleted`);
    const id = uuid();
    await bed.tell(
      { clusterId: id, platform: "aws", generation: 1 },
      { clusterId: id, platform: "gcp", generation: 2 },
      { clusterId: id, platform: "aws", type: "cluster.deleted", generation: 3 },
    );
    await until(() => Math.min(byPlatform.position, byType.position) >= 3);
    assert.deepEqual(
      [byPlatform, byType].map((reader) => eventsOf(reader).map(({ data }) => data.generation)),
      [[2], [3]],
    );
  });

  test("a reader cut off again and again has each event once, in order", async () => {
    await using bed = await startLifecycleServer();
    const id = uuid();
    const total = 300;
    const writing = (async () => {
      for (let generation = 1; generation <= total; generation++) {
        await bed.tell({ clusterId: id, generation });
      }
    })();
    const generations: unknown[] = [];
    let lastId = "0";
    while (generations.length < total) {
      using reader = await follow(`${bed.url}/events?topic=cluster-events`, {
        lastEventId: lastId,
      });
      const target = Math.min(total, generations.length + 25);
      await until(() => generations.length + eventsOf(reader).length >= target);
      const events = eventsOf(reader);
      generations.push(...events.map(({ data }) => data["generation"]));
      lastId = events.at(-1)?.id ?? lastId;
    }
    await writing;
    assert.deepEqual(
      generations,
      Array.from({ length: total }, (_, i) => i + 1),
    );
  });

  test("a place that is gone is 410, one that is no number 400", async () => {
    await using bed = await startLifecycleServer();
    const id = uuid();
    await bed.tell({ clusterId: id }, { clusterId: id });
    await until(() => drained(bed.tables));
    await bed.tables.query(`DELETE FROM outbox; UPDATE keelson.numbering SET purged_position = 2`);
    const answers = await Promise.all(
      ["1", "99", "x", "2"].map(async (lastEventId) => {
        const response = await fetch(`${bed.url}/events?topic=cluster-events`, {
          headers: { "x-user-email": "ctl@system.local", "last-event-id": lastEventId },
        });
        if (response.ok) {
          await response.body?.cancel();
          return [response.status];
        }
        const { code } = (await response.json()) as { readonly code: string };
        return [response.status, code];
      }),
    );
    assert.deepEqual(answers, [
      [410, "POSITION_EXPIRED"],
      [410, "POSITION_EXPIRED"],
      [400, "VALIDATION_FAILED"],
      [200],
    ]);
  });

  test("only controllers follow topics, and only those that there are", async () => {
    await using bed = await startLifecycleServer();
    const ask = async (query: string, email = "ctl@system.local") => {
      const response = await fetch(`${bed.url}/events?${query}`, {
        headers: { "x-user-email": email },
      });
      if (response.ok) await response.body?.cancel();
      const body = response.ok ? {} : ((await response.json()) as JsonObject);
      return [response.status, ...fieldsOf(body)];
    };
    assert.deepEqual(await ask("topic=cluster-events", "alice@example.com"), [403]);
    assert.deepEqual(await ask("topic=others"), [
      400,
      "topic must be cluster-events or nodepool-events",
    ]);
    const twice = "topic=cluster-events&topic=nodepool-events";
    assert.deepEqual(await ask(twice), [400, "topic must be given once"]);
    const since = "topic=cluster-events&since=1";
    assert.deepEqual(await ask(since), [400, "since is not a known parameter"]);
    // Others would be followed for ever and never come.
    for (const type of ["cluster.exploded", "nodepool.created", "cluster.finalized", ""]) {
      assert.deepEqual(await ask(`topic=cluster-events&type=${type}`), [
        400,
        "type must be cluster.created, cluster.updated, cluster.deleted or cluster.reconcile",
      ]);
    }
    assert.deepEqual(await ask("topic=nodepool-events&type=nodepool.reconcile"), [200]);
  });

  test("a quiet stream beats, and its beats carry the place that was reached", async () => {
    await using bed = await startLifecycleServer({ heartbeatMs: 30 });
    using reader = await follow(`${bed.url}/events?topic=nodepool-events`);
    await until(() => reader.isOver || reader.comments.length >= 2);
    await bed.tell({ clusterId: uuid() });
    await until(() => reader.isOver || reader.comments.some((text) => text.includes("id: 1")));
    assert.deepEqual([reader.isOver, eventsOf(reader)], [false, []]);
  });

  test("one resource's events, live and as history, newest first, page by page", async () => {
    await using bed = await startLifecycleServer();
    const [id, other] = [await bed.cluster(), uuid()];
    using reader = await follow(`${bed.url}/clusters/${id}/events`);
    for (let generation = 1; generation <= 5; generation++) {
      await bed.tell({ clusterId: id, generation }, { clusterId: other, generation: 9 });
    }
    await bed.tell({ clusterId: id, type: "status.changed", reason: "phase_changed" });
    await until(() => eventsOf(reader).length === 6);
    assert.equal(eventsOf(reader).at(-1)?.type, "status.changed");
    const ask = async (query: string): Promise<Record<string, unknown>> => {
      const response = await fetch(`${bed.url}/clusters/${id}/events?${query}`);
      return (await response.json()) as Record<string, unknown>;
    };
    const first = await ask("limit=4");
    const second = await ask(`limit=4&before=${String(first["next"])}`);
    const shown = [first, second].map(({ events }) =>
      (events as readonly { generation: number; type: string }[]).map(
        ({ generation }) => generation,
      ),
    );
    assert.deepEqual(shown, [
      [1, 5, 4, 3],
      [2, 1],
    ]);
    assert.deepEqual([first["limit"], second["next"]], [4, null]);
    const missing = await fetch(`${bed.url}/clusters/${systemRandom.uuid()}/events`);
    const wrong = await fetch(`${bed.url}/clusters/${id}/events?limit=0`);
    const stranger = await fetch(`${bed.url}/clusters/${id}/events`, {
      headers: { "x-user-email": "bob@example.com", accept: "text/event-stream" },
    });
    assert.deepEqual([missing.status, wrong.status, stranger.status], [404, 400, 404]);
  });

  test("scheduled announcements are in the stream, and are no history", async () => {
    await using bed = await startLifecycleServer();
    const id = await bed.cluster();
    await bed.tell({ clusterId: id });
    await bed.tables.query(
      `INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data)
       VALUES (gen_random_uuid(), 'cluster-events', $1,
               '{"type": "cluster.reconcile", "metadata": {"scheduled_by": "x"}}')`,
      [id],
    );
    await until(() => drained(bed.tables));
    const response = await fetch(`${bed.url}/clusters/${id}/events`);
    const { events } = (await response.json()) as { readonly events: readonly { type: string }[] };
    assert.deepEqual(
      events.map(({ type }) => type),
      ["cluster.updated"],
    );
  });

  test("a server that stops ends its streams", async () => {
    const bed = await startLifecycleServer();
    using reader = await follow(`${bed.url}/events?topic=cluster-events`);
    await bed[Symbol.asyncDispose]();
    await until(() => reader.hasEnded);
    assert.deepEqual(eventsOf(reader), []);
  });
});
