import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemRandom, type Random } from "@keelson/base";

import { Api, messageOf, meta } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const lettersOfName = 5;
const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } };

interface Stubborn extends Random {
  /** How many names were made with it. */
  readonly names: () => number;
}

/** Chance that has the same letter for all of so many names, and then the next one. */
function stubborn(namesAlike: number): Stubborn {
  let letters = 0;
  const names = (): number => Math.floor(letters / lettersOfName);
  const integer = (): number => {
    const letter = names() < namesAlike ? 0 : 1;
    letters += 1;
    return letter;
  };
  return { ...systemRandom, integer, names };
}

suite("a generated name (KB 25)", () => {
  test("that is taken is made anew, and the prefix is stored", async (t) => {
    const random = stubborn(8);
    await using server = await startTestServer({ random }, t.signal);
    const api = new Api(server.url, t.signal);
    const before = random.names();
    const first = await api.create(maps, body);
    assert.deepEqual([first.code, meta(first, "name")], [201, "a-bbbbb"]);
    assert.equal(random.names() - before, 1, "chance was asked for something else");
    const second = await api.create(maps, body);
    assert.deepEqual([second.code, meta(second, "name")], [201, "a-ccccc"]);
    assert.equal(meta(second, "generateName"), "a-");
    assert.equal(random.names() - before, 9, "seven were taken, the eighth was not");
  });

  test("that is taken eight times over is a conflict", async (t) => {
    const random = stubborn(Infinity);
    await using server = await startTestServer({ random }, t.signal);
    const api = new Api(server.url, t.signal);
    assert.equal((await api.create(maps, body)).code, 201);
    const before = random.names();
    const refused = await api.create(maps, body);
    assert.deepEqual([refused.code, refused.object["reason"]], [409, "AlreadyExists"]);
    assert.match(messageOf(refused), /"a-bbbbb"/);
    assert.equal(random.names() - before, 8);
  });
});
