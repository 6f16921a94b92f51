import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Case } from "./case.ts";
import { compareRecordings } from "./differences.ts";
import type { Observation } from "./lab.ts";

/** The answers of a case: at each step the version of the one object, and its data. */
function recordingOf(steps: readonly (readonly [version: number, data: string])[]) {
  const observations = steps.map(([version, data], index): Observation => {
    const metadata = { uid: "uid-1", resourceVersion: `version-${version}` };
    const body = { kind: "ConfigMap", metadata, data: { a: data } };
    return { step: `PATCH ${index}`, answer: { status: 200, body }, sent: "" };
  });
  return new Map([["a case", observations]]);
}

const cases: readonly Case[] = [{ name: "a case", run: async () => undefined }];

suite("the comparison", () => {
  const still = recordingOf([
    [1, "x"],
    [1, "x"],
    [1, "x"],
    [2, "y"],
  ]);
  const moved = recordingOf([
    [1, "x"],
    [2, "x"],
    [2, "x"],
    [3, "y"],
  ]);
  const movedLater = recordingOf([
    [1, "x"],
    [1, "x"],
    [2, "x"],
    [3, "y"],
  ]);
  const differences = (left: typeof still, right: typeof still, areBothReal: boolean): number =>
    compareRecordings(cases, left, right, { areBothReal }).unexplained.length;

  test("takes a version that the real server moved in vain for the one before; ours must not move one", () => {
    assert.equal(differences(moved, still, false), 0);
    assert.equal(differences(still, moved, false), 1);
  });

  test("between two real servers either may move one, and each at a moment of its own", () => {
    for (const left of [still, moved, movedLater])
      for (const right of [still, moved, movedLater])
        assert.equal(differences(left, right, true), 0);
  });

  test("a version that moves with the object, or stays when it changes, is told", () => {
    const changed = recordingOf([
      [1, "x"],
      [2, "z"],
      [2, "z"],
      [3, "y"],
    ]);
    const stuck = recordingOf([
      [1, "x"],
      [1, "x"],
      [1, "x"],
      [1, "y"],
    ]);
    for (const wrong of [changed, stuck]) {
      assert.equal(differences(still, wrong, true), 1);
      assert.equal(differences(wrong, still, true), 1);
    }
  });
});
