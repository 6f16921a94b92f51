import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { loadBuiltinKinds, loadKindExamples } from "./builtin-kinds.ts";
import type { FieldType } from "./go-struct.ts";
import { openApiTypeName, shortTypeName } from "./type-name.ts";

const kinds = await loadBuiltinKinds();
const examples = await loadKindExamples();

const deployment = { group: "apps", version: "v1", kind: "Deployment" };
const pod = { group: "", version: "v1", kind: "Pod" };

suite("built-in kinds", () => {
  test("a kind has its names, subresources, columns and switches", () => {
    const found = kinds.find(deployment);
    assert.deepEqual(
      { ...found, columns: found?.columns.map(({ name, priority }) => `${name} ${priority}`) },
      {
        ...deployment,
        plural: "deployments",
        singular: "deployment",
        listKind: "DeploymentList",
        shortNames: ["deploy"],
        categories: ["all"],
        isNamespaced: true,
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        type: "apps.v1.Deployment",
        storageVersionHash: "8aSe+NMegvE=",
        subresources: [
          {
            name: "scale",
            group: "autoscaling",
            version: "v1",
            kind: "Scale",
            type: "autoscaling.v1.Scale",
            verbs: ["get", "patch", "update"],
          },
          {
            ...deployment,
            name: "status",
            type: "apps.v1.Deployment",
            verbs: ["get", "patch", "update"],
          },
        ],
        columns: [
          "Name 0",
          "Ready 0",
          "Up-to-date 0",
          "Available 0",
          "Age 0",
          "Containers 1",
          "Images 1",
          "Selector 1",
        ],
        fieldLabels: [],
        switches: {
          putCreates: false,
          putNeedsVersion: false,
          deleteReturnsObject: false,
          orphansByDefault: false,
          collectable: true,
          graceful: false,
          generatesNames: true,
          firstGeneration: 1,
          generationRises: true,
          keepsStatusOnCreate: false,
          statusWritesMetadata: false,
        },
      },
    );
  });

  test("every kind has a schema and a struct, and every part of them is there", () => {
    const missing = new Set<string>();
    const visit = (type: string, seen: Set<string>): void => {
      if (seen.has(type)) return;
      seen.add(type);
      const struct = kinds.structOf(type);
      if (struct === undefined) missing.add(type);
      for (const { type: field } of struct?.fields ?? []) {
        let inner = field;
        while (inner.form === "list" || inner.form === "map") {
          inner = inner.form === "list" ? inner.item : inner.value;
        }
        if (inner.form === "struct") visit(inner.struct, seen);
      }
    };
    const seen = new Set<string>();
    for (const { kind, type } of kinds.all) {
      assert.notEqual(kinds.schemaOf(type), undefined, `${kind} has no schema`);
      visit(type, seen);
    }
    assert.deepEqual([...missing], []);
    assert.ok(seen.size > 500, `only ${seen.size} types`);
  });

  test("the kinds of the generic control plane are all there", () => {
    const plurals = new Set(kinds.all.map(({ plural }) => plural));
    const expected =
      `apiservices customresourcedefinitions namespaces configmaps secrets serviceaccounts
      events resourcequotas leases leasecandidates roles rolebindings clusterroles clusterrolebindings
      tokenreviews selfsubjectreviews subjectaccessreviews localsubjectaccessreviews
      selfsubjectaccessreviews selfsubjectrulesreviews certificatesigningrequests clustertrustbundles
      flowschemas prioritylevelconfigurations mutatingwebhookconfigurations
      validatingwebhookconfigurations mutatingadmissionpolicies mutatingadmissionpolicybindings
      validatingadmissionpolicies validatingadmissionpolicybindings storageversions
      storageversionmigrations`.split(/\s+/);
    assert.deepEqual(
      expected.filter((plural) => !plurals.has(plural)),
      [],
    );
  });

  test("schemas are resolved, merge marks included", () => {
    const ports =
      kinds.schemaOf("core.v1.PodSpec")?.properties?.["containers"]?.items?.properties?.["ports"];
    assert.deepEqual(ports?.["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
    assert.equal(ports?.["x-kubernetes-patch-merge-key"], "containerPort");
    assert.equal(ports.items?.properties?.["protocol"]?.default, "TCP");
    const port = kinds.schemaOf("core.v1.ServicePort")?.properties?.["targetPort"];
    assert.equal(port?.["x-kubernetes-int-or-string"], true);
  });

  test("a schema that contains itself does so, and keeps its identity", () => {
    const schema = kinds.schemaOf("apiextensions.v1.JSONSchemaProps");
    assert.equal(schema, kinds.schemaOf("apiextensions.v1.JSONSchemaProps"));
    const inner = schema?.properties?.["properties"]?.additionalProperties;
    assert.ok(typeof inner === "object");
    assert.equal(inner.properties, schema?.properties);
    assert.equal(schema?.properties?.["not"], schema);
  });

  test("structs say what is printed and what travels", () => {
    const [, ...fields] = kinds.structOf("apps.v1.Deployment")?.fields ?? [];
    assert.deepEqual(
      fields.map(({ name, number, isAlwaysPrinted }) => [name, number, isAlwaysPrinted]),
      [
        ["metadata", 1, true],
        ["spec", 2, true],
        ["status", 3, true],
      ],
    );
    const volume = kinds.structOf("core.v1.Volume")?.fields.find(({ isInline }) => isInline);
    assert.deepEqual(
      [volume?.name, volume?.number, volume?.type],
      ["volumeSource", 2, { form: "struct", struct: "core.v1.VolumeSource" }],
    );
    const data = kinds.structOf("core.v1.Secret")?.fields.find(({ name }) => name === "data");
    assert.deepEqual(data?.type, { form: "map", value: { form: "scalar", scalar: "bytes" } });
  });

  test("defaults are those of the place if it has its own, else those of the type", () => {
    const inPod = kinds.defaultsOf(pod, ".spec", "core.v1.PodSpec");
    const inTemplate = kinds.defaultsOf(deployment, ".spec.template.spec", "core.v1.PodSpec");
    assert.equal(inPod?.added["enableServiceLinks"], true);
    assert.equal(inTemplate?.added["enableServiceLinks"], undefined);
    assert.equal(inTemplate?.added["dnsPolicy"], "ClusterFirst");
    const strategy = kinds.defaultsOf(deployment, ".spec.strategy", "apps.v1.DeploymentStrategy");
    assert.deepEqual(strategy?.when, [
      { field: "type", value: "Recreate", added: { rollingUpdate: null } },
    ]);
    assert.equal(kinds.defaultsOf(pod, "", "core.v1.Pod"), undefined);
  });

  test("every kind that can be created and read has an example", () => {
    const stored = kinds.all.filter(
      ({ verbs }) => verbs.includes("create") && verbs.includes("get"),
    );
    const names = stored.map(({ group, version, kind }) => `${group}/${version}/${kind}`);
    assert.deepEqual(Object.keys(examples).sort(), names.sort());
  });

  test("a stored object shows every field that is always printed", () => {
    const missing: string[] = [];
    const visit = (value: Json | undefined, type: FieldType, path: string): void => {
      if (type.form === "list" && isJsonArray(value)) {
        for (const item of value) visit(item, type.item, `${path}[]`);
      } else if (type.form === "map" && isJsonObject(value)) {
        for (const item of Object.values(value)) visit(item, type.value, `${path}{}`);
      } else if (type.form === "struct" && isJsonObject(value)) {
        const struct = kinds.structOf(type.struct);
        if (struct === undefined || struct.isOpaque) return;
        for (const field of struct.fields) {
          const inside = field.isInline ? value : value[field.name];
          if (field.isAlwaysPrinted && inside === undefined) missing.push(`${path}.${field.name}`);
          visit(inside, field.type, field.isInline ? path : `${path}.${field.name}`);
        }
      }
    };
    for (const { group, version, kind, type } of kinds.all) {
      const example = examples[`${group}/${version}/${kind}`];
      visit(example?.got, { form: "struct", struct: type }, kind);
    }
    assert.deepEqual(missing, []);
  });

  test("type names survive the way to OpenAPI and back", () => {
    for (const name of Object.keys(kinds.schemas)) {
      assert.equal(shortTypeName(openApiTypeName(name)), name);
    }
    assert.equal(openApiTypeName("core.v1.Pod"), "io.k8s.api.core.v1.Pod");
    assert.throws(() => shortTypeName("com.example.Thing"), RangeError);
  });
});
