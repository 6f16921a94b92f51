// The tokens file: what is wrong in it is refused, what changes in it counts, and a token costs little.

import assert from "node:assert/strict";
import crypto, { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { silentLog, systemClock } from "@keelson/base";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
import { restFixture } from "../../testing/rest-fixture.ts";
import { tokenAuthenticator } from "./token.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

suite("identity, mode token, the file", () => {
  const digest = "a".repeat(64);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-tokens-"));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [content, pattern] of [
    ["{", /is wrong: expected/],
    ["{}", /tokens is required/],
    [
      `{"tokens":[{"name":"a","sha256":"x","role":"boss"}]}`,
      /tokens\[0\]\.sha256 must match.*tokens\[0\]\.role must be one of reader, editor, admin/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin","email":"x"}]}`,
      /tokens\[0\]\.email is no e-mail/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin","token":"x"}]}`,
      /tokens\[0\]\.token is not a known field/,
    ],
    [
      `{"tokens":[{"name":"a","sha256":"${digest}","role":"admin"},{"name":"a","sha256":"${digest}","role":"admin"}]}`,
      /tokens\[1\]\.name a stands twice; tokens\[1\]\.sha256 stands twice/,
    ],
  ] as const) {
    test(`${content.slice(0, 40)} is refused at the start`, async () => {
      const tokensFile = join(folder, "wrong.json");
      await writeFile(tokensFile, content);
      await assert.rejects(tokenAuthenticator({ tokensFile, clock: systemClock, log: silentLog }), {
        code: "TOKENS_FILE",
        message: pattern,
      });
    });
  }

  test("is followed: a token that is added or removed counts within 5 seconds", async () => {
    const tokensFile = join(folder, "followed.json");
    const write = (...names: string[]): Promise<void> =>
      writeFile(
        tokensFile,
        JSON.stringify({
          tokens: names.map((name) => ({ name, sha256: hash("sha256", name), role: "admin" })),
        }),
      );
    await write("old");
    const clock = new ManualClock();
    const log = new RecordingLog();
    await using rest = await restFixture({
      authenticator: await tokenAuthenticator({ tokensFile, clock, log }),
    });
    const stop = new AbortController();
    const following = rest.keepFresh(stop.signal);
    const status = async (token: string): Promise<number> =>
      (await rest.app.inject({ url: "/api/v1/whoami", headers: bearer(token) })).statusCode;
    const read = async (message: string): Promise<void> => {
      while (log.entries.at(-1)?.message !== message) {
        await clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    assert.deepEqual([await status("old"), await status("new")], [200, 401]);
    await write("new");
    await read("tokens file read again");
    assert.deepEqual([await status("old"), await status("new")], [401, 200]);
    await rm(tokensFile);
    await read("tokens file is wrong, the last good one counts");
    assert.deepEqual([await status("old"), await status("new")], [401, 200]);
    stop.abort();
    await following;
  });

  test("a stream ends with its token, or when that allows something else, and others go on", async (t) => {
    const tokensFile = join(folder, "streams.json");
    const write = (tokens: Readonly<Record<string, readonly string[]>>): Promise<void> => {
      const entries = Object.entries(tokens).map(([name, clusters]) => {
        return { name, sha256: hash("sha256", name), role: "reader", clusters };
      });
      return writeFile(tokensFile, JSON.stringify({ tokens: entries }));
    };
    await write({ removed: ["a"], narrowed: ["a", "b"], kept: ["a", "b"] });
    const clock = new ManualClock();
    const log = new RecordingLog();
    await using rest = await restFixture({
      authenticator: await tokenAuthenticator({ tokensFile, clock, log }),
      clock,
      log,
    });
    const url = await rest.listen({ address: "127.0.0.1", port: 0 });
    const stop = new AbortController();
    const following = rest.keepFresh(stop.signal);
    const open = async (token: string) => {
      const answer = await fetch(`${url}/api/v1/stream`, {
        headers: bearer(token),
        signal: t.signal,
      });
      const stream = { isOver: false };
      const ended = answer.text().finally(() => (stream.isOver = true));
      ended.catch(() => undefined); // Of those that are still open when the test ends.
      return { stream, ended };
    };
    const [removed, narrowed, kept] = [
      await open("removed"),
      await open("narrowed"),
      await open("kept"),
    ];
    await write({ narrowed: ["b"], kept: ["b", "a"] });
    while (!removed.stream.isOver || !narrowed.stream.isOver) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await removed.ended, "begun\nstopped\n");
    // By the same look as the others it was judged, and found as before.
    assert.equal(kept.stream.isOver, false);
    assert.equal(
      log.messages("info").filter((text) => text === "a stream has lost its credential").length,
      2,
    );
    stop.abort();
    await following;
  });

  test("a token costs one fast digest, however often it comes", async (t) => {
    const tokensFile = join(folder, "fast.json");
    const entry = { name: "often", sha256: hash("sha256", "often"), role: "admin" };
    await writeFile(tokensFile, JSON.stringify({ tokens: [entry] }));
    const slow = [
      t.mock.method(crypto, "scrypt"),
      t.mock.method(crypto, "scryptSync"),
      t.mock.method(crypto, "pbkdf2"),
      t.mock.method(crypto, "pbkdf2Sync"),
    ];
    const fast = t.mock.method(crypto, "hash");
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const authenticator = await tokenAuthenticator({
      tokensFile,
      clock: systemClock,
      log: silentLog,
    });
    await using rest = await restFixture({ authenticator });
    fast.mock.resetCalls();
    const ask = async (token: string): Promise<number> =>
      (await rest.app.inject({ url: "/api/v1/whoami", headers: bearer(token) })).statusCode;
    for (let request = 0; request < 1_000; request++) assert.equal(await ask("often"), 200);
    assert.equal(fast.mock.callCount(), 1);
    assert.equal(await ask("wrong"), 401);
    assert.equal(fast.mock.callCount(), 2);
    for (const { mock } of slow) assert.equal(mock.callCount(), 0);
  });

  test("a missing one is refused at the start", async () => {
    const tokensFile = join(folder, "missing.json");
    await assert.rejects(tokenAuthenticator({ tokensFile, clock: systemClock, log: silentLog }), {
      message: `the tokens file ${tokensFile} cannot be read (ENOENT)`,
    });
  });
});
