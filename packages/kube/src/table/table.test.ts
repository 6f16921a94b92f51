import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { builtinRow } from "./builtin-row.ts";
import { CustomColumns } from "./custom-columns.ts";
import { humanDuration } from "./human-duration.ts";
import { partialMetadataList, renderTable } from "./table.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const nowMs = Date.parse("2026-01-11T00:00:00Z");

suite("tables", () => {
  const durations: readonly [ms: number, words: string][] = [
    [-5 * second, "<invalid>"],
    [-1500, "0s"],
    [119 * second, "119s"],
    [2 * minute, "2m"],
    [150 * second, "2m30s"],
    [10 * minute + 5 * second, "10m"],
    [3 * hour, "3h"],
    [3 * hour + 5 * minute, "3h5m"],
    [9 * hour, "9h"],
    [2 * day, "2d"],
    [2 * day + hour, "2d1h"],
    [9 * day, "9d"],
    [365 * 2 * day, "2y"],
    [365 * 2 * day + 5 * day, "2y5d"],
    [365 * 9 * day, "9y"],
  ];
  for (const [ms, words] of durations) {
    test(`${ms} ms is ${words}`, () => assert.equal(humanDuration(ms), words));
  }

  const metadata = { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" };

  test("a Deployment shows its replicas, containers and selector", () => {
    const object: JsonObject = {
      metadata,
      spec: {
        replicas: 3,
        selector: {
          matchLabels: { b: "c" },
          matchExpressions: [
            { key: "a", operator: "In", values: ["y", "x"] },
            { key: "z", operator: "Exists" },
          ],
        },
        template: {
          spec: {
            containers: [
              { name: "a", image: "i" },
              { name: "b", image: "j" },
            ],
          },
        },
      },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
    };
    const { cells } = builtinRow({ group: "apps", kind: "Deployment" }, object, nowMs);
    assert.deepEqual(cells, ["a", "2/3", 3, 2, "10d", "a,b", "i,j", "a in (x,y),b=c,z"]);
  });

  test("an empty object of any kind has a row", () => {
    for (const kind of ["Pod", "Service", "Node", "Event", "PersistentVolumeClaim", "Unheard"]) {
      assert.ok(builtinRow({ group: "", kind }, {}, nowMs).cells.length > 1, kind);
    }
  });

  test("a Secret shows how much it holds, never what", () => {
    const object = { metadata, type: "Opaque", data: { password: "c2VjcmV0" } };
    const { cells } = builtinRow({ group: "", kind: "Secret" }, object, nowMs);
    assert.deepEqual(cells, ["a", "Opaque", 1, "10d"]);
  });

  test("custom columns follow their paths and types", () => {
    const columns = new CustomColumns([
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      { name: "Count", type: "integer", jsonPath: ".status.count" },
      { name: "Wrong", type: "integer", jsonPath: ".status.phase" },
      { name: "Beyond", type: "string", jsonPath: ".status.list[3]" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ]);
    const object = { metadata, status: { phase: "done", count: 2, list: [] } };
    assert.deepEqual(columns.row(object, nowMs).cells, ["a", "done", 2, null, null, "10d"]);
    assert.equal(
      columns.columns[1]?.description,
      "Custom resource definition column (in JSONPath format): .status.phase",
    );
  });

  test("a row carries as much of its object as asked", () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "b" } };
    const rows = [{ cells: ["a"], object }];
    const shown = (includeObject: "None" | "Metadata" | "Object"): unknown => {
      const table = renderTable({
        columns: [],
        rows,
        metadata: { resourceVersion: "5" },
        includeObject,
      });
      return (table["rows"] as readonly JsonObject[])[0]?.["object"];
    };
    assert.equal(shown("None"), null);
    assert.deepEqual(shown("Metadata"), {
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata,
    });
    assert.deepEqual(shown("Object"), object);
  });

  test("a list keeps only the metadata of its items", () => {
    const list = partialMetadataList({
      metadata: { resourceVersion: "5" },
      items: [{ metadata, spec: {} }],
    });
    assert.deepEqual(list["items"], [
      { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata },
    ]);
  });
});
