import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { startTestServer } from "../testing/test-server.ts";

const status = {
  metadata: { name: "etcd-0" },
  conditions: [{ type: "Healthy", status: "True", message: "ok" }],
};

suite("component statuses", () => {
  test("the database is a component, by the name that clients know", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const ask = async (rest: string): Promise<unknown> =>
      (await fetch(`${server.url}/api/v1/componentstatuses${rest}`)).json();
    const list = { kind: "ComponentStatusList", apiVersion: "v1", metadata: {} };
    assert.deepEqual(await ask(""), { ...list, items: [status] });
    assert.deepEqual(await ask("/etcd-0"), {
      kind: "ComponentStatus",
      apiVersion: "v1",
      ...status,
    });
    assert.deepEqual(await ask("?fieldSelector=metadata.name!=etcd-0"), { ...list, items: [] });
    assert.deepEqual(await ask("/nope"), {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'componentstatus "nope" not found',
      reason: "NotFound",
      details: { name: "nope", kind: "componentstatus" },
      code: 404,
    });
  });
});
