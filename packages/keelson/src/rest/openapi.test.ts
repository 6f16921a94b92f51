import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Type } from "typebox";
import { restFixture } from "../testing/rest-fixture.ts";
import { ApiDocument } from "./openapi.ts";
import type { RouteModule } from "./route-module.ts";

const Body = Type.Object({ name: Type.String() });
const things: RouteModule = {
  name: "things",
  prefix: "/api/v1",
  bodyBytesMax: 1_024,
  routes: () => (app, _options, done) => {
    const doc = {
      summary: 'change a <thing> & "more"',
      query: { force: Type.Boolean() },
      success: { status: 202, body: Type.Object({ id: Type.String() }) },
    };
    app.put("/things/:id", { config: { doc }, schema: { body: Body } }, () => ({ id: "x" }));
    app.get("/things", () => ({}));
    done();
  },
};

suite("the document of the API", () => {
  const start = () =>
    restFixture({ modules: [things], document: new ApiDocument({ version: "1.2.3" }) });
  const headers = { host: "localhost" };

  test("tells each route's parameters, body and answers, from the schemas that check them", async () => {
    await using rest = await start();
    const reply = await rest.app.inject({ url: "/api/v1/openapi.json", headers });
    const document = reply.json<Record<string, unknown>>();
    assert.deepEqual(
      [document["openapi"], document["info"]],
      ["3.1.0", { title: "Keelson", version: "1.2.3" }],
    );
    const paths = document["paths"] as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(paths), ["/api/v1/things/{id}", "/api/v1/things"]);
    assert.deepEqual(paths["/api/v1/things/{id}"]?.["put"], {
      tags: ["things"],
      summary: 'change a <thing> & "more"',
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string" } },
        { name: "force", in: "query", required: false, schema: { type: "boolean" } },
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["name"],
              properties: { name: { type: "string" } },
            },
          },
        },
      },
      responses: {
        202: {
          description: "done",
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["id"],
                properties: { id: { type: "string" } },
              },
            },
          },
        },
        default: {
          description: "refused",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
      },
    });
    // HEAD goes with GET, and is not told of.
    assert.deepEqual(Object.keys(paths["/api/v1/things"] ?? {}), ["get"]);
  });

  test("is a page too, which shows what it is given and runs nothing", async () => {
    await using rest = await start();
    const { body, headers: sent } = await rest.app.inject({ url: "/api/v1/docs", headers });
    assert.match(String(sent["content-type"]), /^text\/html/);
    assert.match(String(sent["content-security-policy"]), /default-src 'none'/);
    assert.ok(
      body.includes("<code>/api/v1/things/{id}</code> change a &lt;thing> &amp; &quot;more&quot;"),
    );
    assert.ok(!body.includes("<script"));
  });
});
