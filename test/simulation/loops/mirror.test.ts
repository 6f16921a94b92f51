// The reflector and its cache, over seeds.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Mirror } from "@keelson/client";
import type { ObjectCache } from "@keelson/controller";

import { simulateMirror, type Plant } from "./simulate-mirror.ts";

const rounds = Number(process.env["LOOPS_ROUNDS"] ?? 150);
/** Every round of every seed is another world; the gate has always the same ones. */
const seed = process.env["LOOPS_SEED"] ?? "gate";

/** The store was put back to before a deletion of ours whose event had not come. */
const examples = ["soak-1115-1911"];

const plants: Readonly<Record<string, Plant>> = {
  "deletions are not handed over": {
    mirror: (mirror) => ({
      ...bound(mirror),
      change: (type, object) => void (type === "DELETED" || mirror.change(type, object)),
    }),
  },
  "a watch goes on from the present, not from where it was": {
    collection: (collection) => ({
      ...collection,
      watch: async (request, signal) => {
        if (request.from === undefined) return await collection.watch(request, signal);
        const from = await collection.probe(signal);
        return await collection.watch({ ...request, from }, signal);
      },
    }),
  },
  "a silent connection is used for ever": {
    collection: (collection) => ({ ...collection, renewConnections: () => undefined }),
  },
  "what a list does not have is kept": {
    mirror: (mirror) => ({
      ...bound(mirror),
      replace: (objects, version, options) =>
        mirror.replace(
          [
            ...new Map(
              [...mirror.list(), ...objects].map((one) => [one.metadata.name, one]),
            ).values(),
          ],
          version,
          options,
        ),
    }),
  },
};

suite("simulated mirror", () => {
  test(`${rounds} rounds end level, and meet everything they are meant to meet`, async () => {
    const met = new Set<string>();
    for (let round = 1; round <= rounds; round++) {
      const run = await simulateMirror(`${seed}-${round}`);
      assert.deepEqual(run.problems, [], `seed ${run.seed}`);
      for (const sign of run.met) met.add(sign);
    }
    assert.deepEqual(
      wanted.filter((sign) => !met.has(sign)),
      [],
    );
  });

  for (const example of examples) {
    test(`seed ${example}, which was not level once`, async () => {
      assert.deepEqual((await simulateMirror(example)).problems, []);
    });
  }

  for (const [what, plant] of Object.entries(plants)) {
    test(`a planted bug is found: ${what}`, async () => {
      for (let round = 1; round <= 100; round++) {
        const { problems } = await simulateMirror(`plant-${round}`, plant);
        if (problems.length > 0) return;
      }
      assert.fail("nobody noticed");
    });
  }

  test("the same seed gives the same run", async () => {
    assert.deepEqual(await simulateMirror("again"), await simulateMirror("again"));
  });
});

/** The methods of a cache without the cache, so that one can be another. */
function bound(mirror: ObjectCache): Mirror {
  return {
    known: () => mirror.known(),
    replace: (objects, version, options) => mirror.replace(objects, version, options),
    change: (type, object) => mirror.change(type, object),
    bookmark: (version) => mirror.bookmark(version),
  };
}

/** A simulation in which these never happen would prove nothing of them. */
const wanted = [
  "live",
  "failing",
  "added",
  "updated",
  "deleted",
  "own write",
  "compacted",
  "cut",
  "deaf",
  "refused",
  "refusing",
  "half-open",
  "restored",
];
