// The rules of the kinds beyond core, apps and batch: the real server and ours must say the same of every case.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import {
  convertByName,
  isDefinitionConditionTrue,
  kindOfDefinition,
  loadBuiltinKinds,
  servedKinds,
} from "@keelson/kube";

import { everyKind } from "./every-kind.ts";
import { collectionPath } from "./kinds/paths.ts";
import { oracleTest, runTrials, sharedLaboratory, trialSettings } from "./differential.ts";
import { testCasesByHand } from "./rules-groups/by-hand.ts";
import { play, type LifeStep } from "./rules-groups/definition-life.ts";
import { errorsOf, recordedVerdicts } from "./rules-groups/recorded.ts";
import { Runner } from "./rules-groups/run.ts";
import { tables } from "./rules-groups/tables.ts";
import { until } from "../tools/until.ts";

const lives: readonly { readonly group: string; readonly steps: readonly LifeStep[] }[] = [
  {
    group: "one.example.com",
    steps: [
      { create: { plural: "things", kind: "Thing", shortNames: ["th"], categories: ["all"] } },
      { create: { plural: "others", kind: "Thing", singular: "other" } },
      { create: { plural: "more", kind: "More", shortNames: ["th", "mo"] } },
      { create: { plural: "last", kind: "Last", singular: "thing" } },
      { remove: "things" },
      { remove: "others" },
    ],
  },
  {
    group: "two.example.com",
    steps: [
      { create: { plural: "things", kind: "Thing", singular: "thing", shortNames: ["a"] } },
      { create: { plural: "others", kind: "Other", singular: "other", shortNames: ["a"] } },
      { rename: "things", names: { plural: "things", kind: "Thing", singular: "other" } },
      {
        rename: "things",
        names: { plural: "things", kind: "Thing", singular: "one", shortNames: ["b"] },
      },
      {
        rename: "others",
        names: {
          plural: "others",
          kind: "Other",
          singular: "other",
          shortNames: ["b", "c"],
          categories: ["x"],
        },
      },
    ],
  },
  {
    group: "lab.k8s.io",
    steps: [
      {
        create: { plural: "things", kind: "Thing" },
        annotations: { "api-approved.kubernetes.io": "unapproved, a trial" },
      },
      {
        create: { plural: "others", kind: "Other" },
        annotations: { "api-approved.kubernetes.io": "https://example.com/1" },
      },
    ],
  },
  {
    group: "webhooks.example.com",
    steps: [
      {
        create: { plural: "things", kind: "Thing" },
        caBundle: Buffer.from("nothing").toString("base64"),
      },
    ],
  },
];

suite("rules of the other groups against the oracle", () => {
  const open = sharedLaboratory({ flags: everyKind });

  testCasesByHand({ tables, open });

  oracleTest("what the unit tests expect is what the real server says", async (t) => {
    const laboratory = await open();
    const minimal = { apiVersion: "v1", kind: "Namespace", metadata: { name: "minimal" } };
    const path = "/api/v1/namespaces";
    await laboratory.must({ method: "POST", path, body: minimal }, t.signal);
    const kinds = await loadBuiltinKinds();
    for (const [name, body, expected] of await recordedVerdicts()) {
      const [group = "", version = "", kind = ""] = name.split("/");
      const found = kinds.find({ group, version, kind });
      assert.ok(found !== undefined, name);
      const collection = collectionPath(found, found.isNamespaced ? "minimal" : undefined);
      const request = { method: "POST", path: `${collection}?dryRun=All`, body } as const;
      const { body: answer } = await laboratory.send(request, t.signal);
      assert.deepEqual(errorsOf(answer), expected, `${name} ${JSON.stringify(body)}`);
    }
  });

  oracleTest("cases by chance are judged as the real server does", async (t) => {
    const laboratory = await open();
    const runner = new Runner(laboratory, await loadBuiltinKinds());
    const report = await runTrials(
      { title: "chance", ...trialSettings(1000), concurrency: 8 },
      async (random, _index, signal) => await runner.chance(random, tables, signal),
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
  });

  oracleTest(
    "definitions get the names and conditions that the real server gives them",
    async (t) => {
      const laboratory = await open();
      for (const life of lives) {
        const { oracle, ours } = await play(laboratory, life, t.signal);
        assert.deepEqual(ours, oracle, life.group);
      }
    },
  );

  oracleTest("the versions of a custom kind are served and told of as ours are", async (t) => {
    const laboratory = await open();
    const names = ["v1", "v1beta1", "v1alpha1", "v2beta1", "other"];
    const schema = {
      openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    };
    const body: Json = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.versions.example.com" },
      spec: {
        group: "versions.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: names.map((name) => ({
          name,
          served: true,
          storage: name === "v1",
          schema,
          ...(name === "v1" ? {} : { deprecated: true }),
          ...(name === "other" ? { deprecationWarning: "no more" } : {}),
        })),
      },
    };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await laboratory.must({ method: "POST", path: definitions, body }, t.signal);
    const path = `${definitions}/things.versions.example.com`;
    const read = async (): Promise<JsonObject> => {
      const found = await laboratory.must({ path }, t.signal);
      assert.ok(isJsonObject(found));
      return found;
    };
    await until(async () => isDefinitionConditionTrue(await read(), "Established"), t.signal);
    const definition = await read();
    const namespace = laboratory.namespace();
    const at = (version: string): string =>
      `/apis/versions.example.com/${version}/namespaces/${namespace}/things`;
    await until(
      async () => (await laboratory.send({ path: at("v1") }, t.signal)).isAccepted,
      t.signal,
    );
    const object: Json = {
      apiVersion: "versions.example.com/v1",
      kind: "Thing",
      metadata: { name: "one" },
      spec: { a: [1, { b: null }] },
    };
    const created = await laboratory.must(
      { method: "POST", path: at("v1"), body: object },
      t.signal,
    );
    assert.ok(isJsonObject(created));
    for (const version of names) {
      const { body: got, warnings } = await laboratory.send(
        { path: `${at(version)}/one` },
        t.signal,
      );
      assert.ok(got !== undefined && isJsonObject(got));
      assert.deepEqual(got, convertByName(created, { group: "versions.example.com", version }));
      const said = kindOfDefinition(definition, version)?.deprecationWarning;
      assert.deepEqual(warnings, said === undefined ? [] : [said], version);
    }
    // Told of one by one, and after they are served.
    const listed = await until(async () => {
      const { isAccepted, body } = await laboratory.send(
        { path: "/apis/versions.example.com" },
        t.signal,
      );
      const { versions } = (isAccepted ? body : { versions: [] }) as {
        readonly versions: readonly { readonly version: string }[];
      };
      return versions.length === names.length && versions;
    }, t.signal);
    assert.deepEqual(
      servedKinds(definition).map(({ version }) => version),
      listed.map(({ version }) => version),
    );
  });
});
