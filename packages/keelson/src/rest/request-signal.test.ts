import assert from "node:assert/strict";
import { test } from "node:test";
import { restFixture } from "../testing/rest-fixture.ts";
import { RequestTrace } from "./request-signal.ts";
import type { RouteModule } from "./route-module.ts";

test("a trace says whose request a signal is, and nothing of other signals", async () => {
  const trace = new RequestTrace();
  const asking: RouteModule = {
    name: "asking",
    prefix: "/api/v1",
    bodyBytesMax: 1,
    routes: () => (app, _options, done) => {
      app.get("/who", (request) => trace.fieldsOf(request.signal));
      done();
    },
  };
  await using rest = await restFixture({ trace, modules: [asking] });
  const headers = { host: "localhost", "x-request-id": "r-1" };
  const reply = await rest.app.inject({ url: "/api/v1/who", headers });
  assert.deepEqual(reply.json(), { request_id: "r-1", user: "controller@system.local" });
  assert.equal(trace.fieldsOf(new AbortController().signal), undefined);
});
