import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemClock } from "@keelson/base";
import { SqliteBackend, Store, Unavailable, type Backend } from "@keelson/store";

import { Api } from "../testing/api.ts";
import { core } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

/** A backend that writes the Service of this name, and goes away before it says so. */
function losing(backend: Backend, name: string): Backend {
  const commit: Backend["commit"] = async (batch) => {
    const done = await backend.commit(batch);
    if (batch.some(({ key }) => key.kind === "Service" && key.name === name)) {
      throw new Unavailable("the database went away");
    }
    return done;
  };
  return new Proxy(backend, {
    get: (target, member) => {
      if (member === "commit") return commit;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

suite("a Service of which nobody knows whether it was written", () => {
  test("keeps its address and its port", async (t) => {
    const backend = losing(new SqliteBackend({ path: ":memory:", clock: systemClock }), "lost");
    await using store = await Store.open({ backend }, t.signal);
    await using server = await startTestServer({ store }, t.signal);
    const api = new Api(server.url, t.signal);
    const service = (name: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: {
        type: "NodePort",
        clusterIP: "10.96.1.1",
        ports: [{ port: 80, nodePort: 30_080 }],
      },
    });
    const services = core("default", "services");
    assert.equal((await api.create(services, service("lost"))).code, 503);
    assert.equal((await api.get(`${services}/lost`)).code, 200);
    // Given back it would be by somebody who does not wait: whoever comes next must find it taken, however late.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const { code, object } = await api.create(services, service("next"));
      assert.equal(code, 422, JSON.stringify(object));
      await systemClock.sleep(5, t.signal);
    }
  });
});
