import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { readEvent } from "./event.ts";

const event = {
  id: "e1",
  type: "nodepool.updated",
  cluster_id: "c1",
  nodepool_id: "n1",
  generation: 2,
  platform: "gcp",
  reason: "spec_change",
};

suite("reading events", () => {
  test("an event is read from its data, whose report it was from wherever that stands", () => {
    const expected = {
      id: "e1",
      type: "nodepool.updated",
      kind: "nodepool",
      resourceId: "n1",
      clusterId: "c1",
      generation: 2,
      platform: "gcp",
      reason: "spec_change",
      controllerName: "dns",
    };
    const named = { found: "event", event: expected };
    assert.deepEqual(
      readEvent({ data: JSON.stringify(event), attributes: { controller_name: "dns" } }),
      named,
    );
    assert.deepEqual(
      readEvent({ data: JSON.stringify({ ...event, metadata: { controller_name: "dns" } }) }),
      named,
    );
  });

  test("types of others are unknown, what lacks something is malformed", () => {
    const found = (data: unknown) =>
      readEvent({ data: typeof data === "string" ? data : JSON.stringify(data) }).found;
    assert.deepEqual(
      [
        found({ ...event, type: "cluster.exploded" }),
        found({ ...event, type: "status.changed" }),
        found("{"),
        found("[]"),
        found("null"),
        found({ ...event, id: "" }),
        found({ ...event, nodepool_id: undefined }),
        found({ ...event, generation: "2" }),
        found({ ...event, generation: 0 }),
        found({ ...event, type: 7 }),
      ],
      ["unknown", "unknown", ...Array.from({ length: 8 }, () => "malformed")],
    );
  });

  test("nothing makes it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
        readEvent({ data });
      }),
    );
  });
});
