import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";

import { JsonNumber, readJson, writeJson, type Json, type JsonObject } from "@keelson/base";

import { allowedDifferences } from "./allowed-differences.ts";
import {
  compare,
  DefinitionRefused,
  Laboratory,
  Normaliser,
  oracleTest,
  runTrials,
  trialSettings,
} from "./differential.ts";

suite("comparing", () => {
  test("normalising keeps what is equal equal, and leaves data alone", () => {
    const uid = "7a3c1f5e-1111-4000-8000-000000000001";
    const object = (version: string): Json => ({
      metadata: { uid, resourceVersion: version, creationTimestamp: "2026-01-01T00:00:00Z" },
      data: { uid: "kept", resourceVersion: "1" },
      message: `uid ${uid} is gone`,
    });
    const normaliser = new Normaliser();
    const [first, again, later] = ["8", "8", "9"].map((one) => normaliser.normalise(object(one)));
    assert.deepEqual(first, again);
    assert.deepEqual(first, {
      metadata: { uid: "uid-1", resourceVersion: "version-1", creationTimestamp: "time-1" },
      data: { uid: "kept", resourceVersion: "1" },
      message: "uid uid-1 is gone",
    });
    assert.deepEqual(
      compare(first, later).map(({ path }) => path),
      [".metadata.resourceVersion"],
    );
  });

  test("normalising hides what generateName made up", () => {
    const object = { metadata: { name: "a-x7k2p", generateName: "a-" } };
    assert.deepEqual(new Normaliser().normalise(object), {
      metadata: { name: "a-*****", generateName: "a-" },
    });
  });

  test("differences are found where they are", () => {
    const oracle = readJson('{"a":[1,2],"b":{"c":1.0},"d":null}');
    const ours = readJson('{"a":[1,3],"b":{"c":1},"e":true}');
    assert.deepEqual(compare(oracle, ours), [
      { path: ".a[1]", oracle: 2, ours: 3 },
      { path: ".b.c", oracle: new JsonNumber("1.0"), ours: 1 },
      { path: ".d", oracle: null, ours: undefined },
      { path: ".e", oracle: undefined, ours: true },
    ]);
    assert.deepEqual(compare(oracle, oracle), []);
  });

  test("every allowed difference is a line of docs/differences.md, and the other way round", () => {
    const path = join(import.meta.dirname, "../../docs/differences.md");
    const documented = [...readFileSync(path, "utf8").matchAll(/^\| (D\d+) \|/gm)];
    assert.deepEqual(
      allowedDifferences.map(({ id }) => id),
      documented.map(([, id]) => id),
    );
  });
});

suite("differential harness", () => {
  oracleTest(
    "generated merge patches of a ConfigMap, hundreds a second, agree with RFC 7386",
    async (t) => {
      await using laboratory = await Laboratory.open({}, t.signal);
      const settings = trialSettings(300);
      const startedAt = performance.now();
      const report = await runTrials(
        { title: "merge patch", ...settings },
        async (random, _, signal) => {
          const data = (): JsonObject =>
            Object.fromEntries(
              ["a", "b", "c"]
                .filter(() => random.integer(2) === 0)
                .map((key) => [key, random.pick(["1", "2"])]),
            );
          const removal = random.pick(["a", "b", "c"]);
          const before = data();
          const change: JsonObject = { ...data(), [removal]: random.pick([null, "3", 4]) };
          const name = laboratory.freshName();
          const collection = `/api/v1/namespaces/${laboratory.namespace()}/configmaps`;
          const answers = await laboratory.script(
            [
              {
                method: "POST",
                path: collection,
                body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: before },
              },
              { patch: "merge", path: `${collection}/${name}`, body: { data: change } },
            ],
            signal,
          );
          const { isAccepted, body } = answers[1] ?? { isAccepted: false, body: undefined };
          const got = isAccepted ? (((body as JsonObject)["data"] ?? {}) as JsonObject) : "refused";
          const merged = Object.fromEntries(
            Object.entries({ ...before, ...change }).filter(([, value]) => value !== null),
          );
          const ours = Object.values(merged).includes(4) ? "refused" : merged;
          return {
            kind: "ConfigMap",
            operation: "merge",
            accepted: isAccepted,
            oracle: got,
            ours,
            context: { before, change },
          };
        },
        t.signal,
      );
      const perSecond = Math.round((2000 * settings.count) / (performance.now() - startedAt));
      t.diagnostic(`${report.toString()}\n${perSecond} requests a second`);
      report.assertExplained();
      assert.ok(report.acceptedShare > 0.5);
    },
  );

  test("a difference that no line explains is reported with its trial", async (t) => {
    const report = await runTrials(
      { title: "wrong", seed: 7, count: 3, concurrency: 1 },
      async (_, index) =>
        Promise.resolve({
          kind: "Thing",
          operation: "create",
          accepted: true,
          oracle: { n: index },
          ours: { n: 1 },
        }),
      t.signal,
    );
    assert.deepEqual(
      report.unexplained.map(({ index, differences }) => [index, differences]),
      [
        [0, [".n: oracle 0, ours 1"]],
        [2, [".n: oracle 2, ours 1"]],
      ],
    );
    assert.throws(() => report.assertExplained(), /2 unexplained differences with seed 7/);
  });

  test("an allowed difference is counted by its line", async (t) => {
    const message = "resourceVersion should not be set on objects to be created";
    const report = await runTrials(
      { title: "allowed", seed: 1, count: 1 },
      async () =>
        Promise.resolve({
          kind: "ConfigMap",
          operation: "create",
          accepted: false,
          oracle: { code: 500, message },
          ours: { code: 400, message },
        }),
      t.signal,
    );
    report.assertExplained();
    assert.deepEqual([...report.explained], [["D1", 1]]);
  });

  oracleTest("the oracle still does what we differ from", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const configMaps = "/api/v1/namespaces/lab-0/configmaps";
    const metadata = { name: "versioned", resourceVersion: "5" };
    const ports = [1, 2].map((n) => ({ name: `p${n}`, port: 80 }));
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports } };
    const answers = await laboratory.script(
      [
        {
          method: "POST",
          path: configMaps,
          body: { apiVersion: "v1", kind: "ConfigMap", metadata },
        },
        { path: `${configMaps}?watch=1&resourceVersion=abc` },
        {
          patch: "apply",
          path: "/api/v1/namespaces/lab-0/services/s?fieldManager=one",
          body: service,
        },
      ],
      t.signal,
    );
    const needed = answers.map(({ body = null }) => {
      const ours = { ...(body as JsonObject), code: 400 };
      const trial = { kind: "", operation: "", accepted: false, oracle: body, ours };
      const [difference = { path: "", oracle: undefined, ours: undefined }] = compare(body, ours);
      return allowedDifferences.find(({ explains }) => explains(difference, trial))?.id;
    });
    assert.deepEqual(needed, ["D1", "D2", "D3"]);
  });

  oracleTest("a custom kind is usable at once, and gone after disposal", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const schema: JsonObject = {
      type: "object",
      properties: { spec: { type: "object", properties: { big: { type: "integer" } } } },
    };
    let collection = "";
    {
      await using kind = await laboratory.createKind({ kind: "Widget", schema }, t.signal);
      collection = kind.collection(laboratory.namespace());
      const body = `{"apiVersion":"${kind.apiVersion}","kind":"Widget","metadata":{"name":"w"},"spec":{"big":9007199254740993}}`;
      const { status, body: got } = await laboratory.send(
        { method: "POST", path: collection, body },
        t.signal,
      );
      assert.equal(status, 201);
      assert.equal(writeJson((got as JsonObject)["spec"] ?? null), '{"big":9007199254740993}');
    }
    assert.equal((await laboratory.send({ path: collection }, t.signal)).status, 404);
    await assert.rejects(
      laboratory.createKind({ kind: "Broken", schema: { type: "string" } }, t.signal),
      DefinitionRefused,
    );
  });
});
