import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Json } from "@keelson/base";

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

  /** Whether a difference at one step of a case is explained, and by what. */
  const explained = (name: string, step: string, oracle: Json, ours: Json): readonly string[] => {
    const recording = (answer: Json) => new Map([[name, [{ step, answer }]]]);
    const one: Case = { name, run: async () => undefined };
    const comparison = compareRecordings([one], recording(oracle), recording(ours));
    return comparison.unexplained.length > 0 ? ["nothing"] : [...comparison.explained.keys()];
  };
  const says = (status: number, message: string): Json => ({
    status,
    body: { kind: "Status", message },
  });
  const taken = { status: 201, body: { kind: "Pod" } };

  test("what must be refused is not explained once it is taken", () => {
    const step = "POST /api/v1/namespaces/n/pods";
    const theirs = says(500, "resourceVersion should not be set on objects to be created");
    assert.deepEqual(explained("a", step, theirs, says(400, "x")), ["S1"]);
    assert.deepEqual(explained("a", step, theirs, taken), ["nothing"]);
    assert.deepEqual(explained("a", step, says(500, "other"), taken), ["S6"]);
  });

  test("another order is explained where ours is by namespace and has the same objects", () => {
    const name = "lists: one namespace is not another with the same beginning";
    const list = (...items: readonly (readonly [namespace: string, uid: string])[]): Json => ({
      status: 200,
      body: { items: items.map(([namespace, uid]) => ({ metadata: { namespace, uid } })) },
    });
    const theirs = list(["a-b", "2"], ["a", "1"]);
    const all = "GET /api/v1/secrets";
    assert.deepEqual(explained(name, all, theirs, list(["a", "1"], ["a-b", "2"])), ["S7"]);
    assert.deepEqual(explained(name, all, theirs, list(["a", "1"], ["a-b", "3"])), ["nothing"]);
    assert.deepEqual(explained(name, all, theirs, list(["a", "1"], ["a", "1"])), ["nothing"]);
    const page = `${all}?limit=1`;
    assert.deepEqual(explained(name, page, list(["a-b", "2"]), list(["a", "1"])), ["S7"]);
    assert.deepEqual(explained(name, page, list(["a", "1"]), list(["a-b", "2"])), ["nothing"]);
    const next = `${page}&continue=…`;
    assert.deepEqual(explained(name, next, list(["a-b", "2"]), list(["a", "1"])), ["nothing"]);
  });

  test("limits and classes that change no Pod explain a Pod that is taken, and no failure of ours", () => {
    const step = "POST /api/v1/namespaces/n/pods";
    const limits = "namespaces: limits give pods theirs";
    const tooMuch = says(403, "maximum cpu usage per Container is 2, but limit is 3");
    const noClass = says(403, 'pods "p" is forbidden: pod rejected: RuntimeClass "x" not found');
    for (const [name, theirs] of [
      [limits, tooMuch],
      ["generated: a Pod", noClass],
    ] as const) {
      assert.deepEqual(explained(name, step, theirs, taken), ["S9"]);
      assert.deepEqual(explained(name, step, theirs, says(500, "oh")), ["nothing"]);
    }
  });

  test("a method that nobody knows is a Status of 400, and nothing else", () => {
    const theirs = says(405, "not allowed");
    assert.deepEqual(explained("paths", "FROB /api", theirs, says(400, "x")), ["S11"]);
    assert.deepEqual(explained("paths", "FROB /api", theirs, says(501, "x")), ["nothing"]);
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
