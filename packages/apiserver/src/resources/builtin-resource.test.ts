import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { cloneJson } from "@keelson/base";
import { loadBuiltinKinds } from "@keelson/kube";
import { loadKindExamples } from "@keelson/kube/testing";

import { builtinResources } from "./builtin-resource.ts";

const kinds = await loadBuiltinKinds();
const resources = builtinResources(kinds);
const examples = await loadKindExamples();
const context = { now: "2026-01-01T00:00:00Z", uuid: () => "00000000-0000-0000-0000-000000000000" };

suite("built-in resources", () => {
  test("a stored object reads as it is, whichever kind it is of", () => {
    for (const { group, version, kind, storage, model } of resources) {
      const got = examples[`${group}/${version}/${kind}`]?.got;
      if (storage === undefined || got === undefined) continue;
      assert.deepEqual(model.read(got, context), { object: got, problems: [] }, kind);
      if (model.readsAsStored) assert.equal(model.fromStored(got), got);
      else assert.deepEqual(model.fromStored(model.toStored(cloneJson(got))), got);
    }
  });

  test("only what is created and read again is stored", () => {
    const unstored = resources.filter(({ storage }) => storage === undefined);
    assert.deepEqual(unstored.map(({ kind }) => kind).sort(), [
      "Binding",
      "ComponentStatus",
      "LocalSubjectAccessReview",
      "SelfSubjectAccessReview",
      "SelfSubjectReview",
      "SelfSubjectRulesReview",
      "SubjectAccessReview",
      "TokenReview",
    ]);
  });

  test("both Events are one object", () => {
    const events = resources.filter(({ kind }) => kind === "Event");
    assert.deepEqual(
      events.map(({ storage }) => storage),
      [
        { kind: "Event", apiVersion: "v1" },
        { kind: "Event", apiVersion: "v1" },
      ],
    );
  });

  test("an autoscaler of the first version is stored in the second, and judged there", () => {
    const first = resources.find(
      ({ version, kind }) => version === "v1" && kind === "HorizontalPodAutoscaler",
    );
    assert.ok(first !== undefined);
    assert.deepEqual(first.storage, {
      kind: "HorizontalPodAutoscaler.autoscaling",
      apiVersion: "autoscaling/v2",
    });
    const spec = {
      scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
      maxReplicas: 0,
      targetCPUUtilizationPercentage: 50,
    };
    const sent = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h", namespace: "n" },
      spec,
    };
    const { object } = first.model.read(sent, context);
    assert.deepEqual(
      first.model.validate(object, context).map(({ field }) => field),
      ["spec.maxReplicas", "spec.maxReplicas"],
    );
    const stored = first.model.toStored(object);
    assert.equal(stored["apiVersion"], "autoscaling/v2");
    assert.deepEqual(first.model.fromStored(stored), object);
  });

  test("an empty object has what Go always prints", () => {
    const deployments = resources.find(({ plural }) => plural === "deployments");
    assert.deepEqual(deployments?.model.empty, {
      metadata: {},
      spec: {
        selector: null,
        template: { metadata: {}, spec: { containers: null } },
        strategy: {},
      },
      status: {},
    });
  });

  test("whoever writes the status owns nothing else", () => {
    const deployments = resources.find(({ plural }) => plural === "deployments");
    const manager = deployments?.model.fieldManager("status");
    const live = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" } };
    const config = {
      ...live,
      metadata: { name: "a", labels: { x: "y" } },
      spec: { replicas: 2 },
      status: { replicas: 2 },
    };
    const applied = manager?.apply(live, config, { manager: "m", now: context.now, force: false });
    assert.deepEqual(applied?.object["metadata"], {
      name: "a",
      labels: { x: "y" },
      managedFields: [
        {
          manager: "m",
          operation: "Apply",
          apiVersion: "apps/v1",
          time: context.now,
          fieldsType: "FieldsV1",
          fieldsV1: { "f:status": { "f:replicas": {} } },
          subresource: "status",
        },
      ],
    });
  });
});
