import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { systemRandom as random } from "@keelson/base";
import { PostgresServerError } from "./errors.ts";
import { ownDataDir } from "./ownership.ts";
import { bootId, startOf } from "./process-identity.ts";

/** No process has this pid: it is above what any system gives. */
const dead = JSON.stringify({ pid: 2 ** 30, start: "1" });

async function emptyPlace(): Promise<{ home: string; dataDir: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-ownership-"));
  return {
    home,
    dataDir: join(home, "postgres"),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

/** Many that want the folder at once: those that get it. The others are told who has it. */
async function owners(dataDir: string): Promise<AsyncDisposable[]> {
  const asked = Array.from({ length: 16 }, () => ownDataDir(dataDir, { random }));
  const answers = await Promise.allSettled(asked);
  for (const answer of answers) {
    if (answer.status === "fulfilled") continue;
    assert.ok(answer.reason instanceof PostgresServerError, String(answer.reason));
    assert.equal(answer.reason.code, "data-dir-in-use");
  }
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
}

const start = await startOf(process.pid);
/** As if this very process had been there before the machine started again. */
const beforeBoot = JSON.stringify({ pid: process.pid, start, boot: "an earlier one" });
const tellsBoots = (await bootId()) !== undefined;

suite("the mark on a data folder", () => {
  for (const [found, marks] of [
    ["nothing", {}],
    ["the mark of a dead process", { "postgres.owner": dead }],
    ...(tellsBoots
      ? [["a mark from before a reboot", { "postgres.owner": beforeBoot }] as const]
      : []),
    ["half a mark", { "postgres.owner": '{"pid": 1' }],
    [
      "what one left that was killed while it took it over",
      { "postgres.owner": dead, "postgres.owner.next": dead },
    ],
  ] as const) {
    test(`goes to one of many that find ${found}, and leaves nothing behind`, async () => {
      await using place = await emptyPlace();
      for (let round = 0; round < 40; round += 1) {
        for (const [name, mark] of Object.entries(marks)) {
          await writeFile(join(place.home, name), mark);
        }
        const got = await owners(place.dataDir);
        assert.equal(got.length, 1, `round ${round}`);
        assert.deepEqual(await readdir(place.home), ["postgres.owner"]);
        await got[0]?.[Symbol.asyncDispose]();
        assert.deepEqual(await readdir(place.home), []);
      }
    });
  }

  test("stays with a process that lives, also where an earlier version made it", async () => {
    await using place = await emptyPlace();
    const mark = JSON.stringify({ pid: process.pid, start });
    await writeFile(join(place.home, "postgres.owner"), mark);
    assert.deepEqual(await owners(place.dataDir), []);
    assert.deepEqual(await readdir(place.home), ["postgres.owner"]);
  });
});
