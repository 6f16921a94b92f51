import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { systemClock } from "@keelson/base";
import { RestClient } from "../client/rest-client.ts";
import { paintFor } from "../output/paint.ts";
import type { Session } from "../session.ts";
import { watchTargets } from "./show-targets.ts";

/** What a watch has written and noted, of a server that gives these answers, one after the other. */
async function watched(
  t: TestContext,
  answers: ({ readonly health: string; readonly last_contact_at: string } | "away")[],
) {
  const stop = new AbortController();
  const server = createServer((_request, reply) => {
    const seen = answers.shift();
    if (seen === undefined) stop.abort();
    if (seen === "away") {
      reply
        .writeHead(503)
        .end('{"error":"the database is not available","code":"DATABASE_UNAVAILABLE"}');
      return;
    }
    const target = { cluster_id: "one", server: null, labels: {}, agent: true, ...seen };
    reply.end(JSON.stringify({ targets: [target] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const found = { url: `http://127.0.0.1:${port}`, token: undefined, email: undefined };

  let written = "";
  const notes: string[] = [];
  const session: Session = {
    client: new RestClient(found, systemClock),
    terminal: {
      write: (text) => {
        written += text;
      },
      note: (line) => void notes.push(line),
      hasColours: false,
      readInput: () => assert.fail("nothing is to be read"),
    },
    paint: paintFor({ hasColours: false }),
    tell: () => assert.fail("nothing is done"),
    isForPeople: false,
    clock: {
      ...systemClock,
      sleep: (_ms, signal) => {
        signal.throwIfAborted();
        return Promise.resolve();
      },
    },
    workingFolder: ".",
    kindNames: () => assert.fail("no kind is asked for"),
  };
  await assert.rejects(watchTargets(session, [], { output: "json" }, stop.signal), {
    name: "AbortError",
  });
  const lines = written.trimEnd().split("\n");
  const healths = lines.map((line) => (JSON.parse(line) as { readonly health: string }).health);
  return { healths, notes };
}

test("a target that was only heard of again is not shown again", async (t) => {
  const seen = await watched(t, [
    { health: "Healthy", last_contact_at: "1970-01-01T00:00:01Z" },
    { health: "Healthy", last_contact_at: "1970-01-01T00:00:02Z" },
    { health: "Healthy", last_contact_at: "1970-01-01T00:00:03Z" },
    { health: "Unreachable", last_contact_at: "1970-01-01T00:00:03Z" },
    { health: "Healthy", last_contact_at: "1970-01-01T00:00:04Z" },
  ]);
  assert.deepEqual(seen, { healths: ["Healthy", "Unreachable", "Healthy"], notes: [] });
});

test("that the server is away is told once, until it answers again", async (t) => {
  const healthy = { health: "Healthy", last_contact_at: "1970-01-01T00:00:01Z" };
  const seen = await watched(t, [healthy, healthy, "away", "away", healthy, "away", healthy]);
  const note = "the database is not available: trying again";
  assert.deepEqual(seen, { healths: ["Healthy"], notes: [note, note] });
});
