import assert from "node:assert/strict";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom, TaskScope, type Log } from "@keelson/base";
import { RecordingLog, until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { postgresFixture, sqliteFile, type Bed } from "@keelson/store/testing";

import { CommonKeys, OtherKeys } from "./common-keys.ts";
import { openPki, type Pki } from "./standalone-pki.ts";

/** Whoever ends is forgotten at once, and waited for as long as it takes. */
const brief = { ttlMs: 50, renewMs: 10, waitMs: 60_000, askMs: 10 };
/** Whoever began lives for the length of a test, and is not waited for. */
const lasting = { ttlMs: 600_000, renewMs: 10, waitMs: 100, askMs: 10 };
const took =
  "this database was served with other keys before: tokens and client certificates from then are refused";

/** New keys. */
async function newKeys(): Promise<Pki> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-keys-"));
  const parts = { clock: systemClock, random: systemRandom, log: silentLog };
  return await openPki({ folder: folder.path, ...parts });
}

/** A server that begins to serve the store of the bed, and lives until it is disposed of. */
async function begin(
  bed: Bed,
  { pki, limits, log = silentLog }: { pki: Pki; limits: typeof brief; log?: Log },
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const store = undo.use(await bed.open());
  const parts = { clock: systemClock, random: systemRandom, log };
  const keys = await CommonKeys.open({ store, pki, limits, ...parts }, signal);
  const scope = undo.use(new TaskScope(signal));
  scope.spawn("keys", (within) => keys.run(within));
  await keys.remember(signal);
  const owned = undo.move();
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const url = async (): Promise<string> => (await sharedThrowawayPostgres("embedded")).url;
const onPostgres = postgresFixture({ name: "PostgreSQL", missing: undefined, url });

for (const fixture of [sqliteFile, onPostgres]) {
  suite(`the keys of a server, on ${fixture.name}`, () => {
    test("are remembered, and said to be others when they are", async (t) => {
      await using bed = await fixture.prepare();
      const [ours, others] = [await newKeys(), await newKeys()];
      const logs: string[][] = [];
      for (const pki of [ours, ours, others, others, { ...others, serviceAccountPublicKey: "x" }]) {
        const log = new RecordingLog();
        await using _server = await begin(bed, { pki, limits: brief, log }, t.signal);
        logs.push(log.messages("warn").filter((message) => !message.startsWith("waiting")));
      }
      assert.deepEqual(logs, [[], [], [took], [], [took]]);
    });
  });
}

suite("replicas", () => {
  test("with the same keys serve beside each other, and stay when one of them goes", async (t) => {
    await using bed = await onPostgres.prepare();
    const [ours, others] = [await newKeys(), await newKeys()];
    await using _first = await begin(bed, { pki: ours, limits: lasting }, t.signal);
    {
      await using _second = await begin(bed, { pki: ours, limits: lasting }, t.signal);
    }
    const log = new RecordingLog();
    const third = begin(bed, { pki: others, limits: lasting, log }, t.signal);
    await assert.rejects(third, OtherKeys);
    assert.deepEqual(log.messages("warn"), [
      "waiting to see whether a server with other keys still lives",
    ]);
  });

  test("that were not heard of for long are told that another has taken over", async (t) => {
    await using bed = await onPostgres.prepare();
    const [ours, others] = [await newKeys(), await newKeys()];
    const log = new RecordingLog();
    await using store = await bed.open();
    const parts = { clock: systemClock, random: systemRandom, log, limits: brief };
    // It has begun and goes no further, as a process that is suspended.
    const keys = await CommonKeys.open({ store, pki: ours, ...parts }, t.signal);
    await using _other = await begin(
      bed,
      { pki: others, limits: { ...lasting, waitMs: 60_000 } },
      t.signal,
    );
    await using scope = new TaskScope(t.signal);
    scope.spawn("keys", (within) => keys.run(within));
    await until(() => log.messages("error").length > 0, "an error");
    assert.deepEqual(log.messages("error"), [
      "a server with other keys serves this database: each refuses what the other signs",
    ]);
  });
});
