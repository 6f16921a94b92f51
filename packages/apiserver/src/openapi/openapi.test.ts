import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";
import { loadBuiltinKinds } from "@keelson/kube";

import { builtinResources } from "../resources/builtin-resource.ts";
import { customResources } from "../resources/custom-resource.ts";
import { Registry } from "../resources/registry.ts";
import { OpenApi } from "./openapi.ts";

const kinds = await loadBuiltinKinds();

function definition(schema: object): Parameters<typeof customResources>[0] {
  const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
  return {
    metadata: { name: "widgets.example.com", generation: 1 },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { ...schema } } } },
          subresources: { status: {} },
        },
      ],
    },
    status: { acceptedNames: names },
  };
}

function setUp() {
  const registry = new Registry();
  registry.put("built-in", builtinResources(kinds));
  const openApi = new OpenApi({ registry, kinds, clock: new ManualClock() });
  const body = (path: string): unknown => {
    const answer = openApi.answer({ path, accept: "application/json" });
    return answer?.status === 200
      ? JSON.parse(Buffer.from(answer.body).toString())
      : answer?.status;
  };
  return { registry, openApi, body };
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

suite("OpenAPI", () => {
  test("kubectl finds the operation that it looks for", () => {
    const { body } = setUp();
    const { paths } = body("/openapi/v3/apis/apps/v1") as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.["patch"];
    assert.ok(patch !== undefined);
    const { content } = patch["requestBody"] as { content: object };
    const parameters = patch["parameters"] as { name: string }[];
    assert.deepEqual(patch["x-kubernetes-group-version-kind"], {
      group: "apps",
      version: "v1",
      kind: "Deployment",
    });
    assert.deepEqual(Object.keys(content), [
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/strategic-merge-patch+json",
    ]);
    assert.deepEqual(
      parameters.map(({ name }) => name),
      ["dryRun", "fieldManager", "fieldValidation", "force"],
    );
  });

  test("every reference of every document leads somewhere", () => {
    const { registry, body } = setUp();
    registry.put("custom", customResources(definition({ type: "object" })));
    const index = body("/openapi/v3") as Index;
    const documents = [
      "/openapi/v2",
      ...Object.keys(index.paths).map((name) => `/openapi/v3/${name}`),
    ];
    for (const path of documents) {
      const document = body(path) as {
        definitions?: object;
        components?: { schemas: object };
        parameters?: object;
      };
      const known = new Set([
        ...Object.keys(document.definitions ?? document.components?.schemas ?? {}),
        ...Object.keys(document.parameters ?? {}),
      ]);
      const references = JSON.stringify(document).matchAll(/"\$ref":"#\/[^"]*\/([^"/]*)"/g);
      const missing = [...references]
        .map(([, name = ""]) => name)
        .filter((name) => !known.has(name));
      assert.deepEqual(missing, [], path);
    }
  });

  test("operations have names of their own", () => {
    const { body } = setUp();
    const { paths } = body("/openapi/v2") as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const ids = Object.values(paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId }) => operationId ?? []);
    assert.ok(ids.length > 700);
    assert.equal(new Set(ids).size, ids.length);
  });

  test("a custom kind comes, changes and goes; other documents stay the bytes they are", () => {
    const { registry, openApi, body } = setUp();
    const url = (): string | undefined =>
      (body("/openapi/v3") as Index).paths["apis/example.com/v1"]?.serverRelativeURL;
    const apps = () =>
      openApi.answer({ path: "/openapi/v3/apis/apps/v1", accept: "application/json" })?.body;
    const before = apps();
    assert.equal(url(), undefined);
    registry.put("custom", customResources(definition({ type: "object" })));
    const first = url();
    registry.put("custom", customResources(definition({ type: "string" })));
    const second = url();
    assert.match(first ?? "", /^\/openapi\/v3\/apis\/example\.com\/v1\?hash=[0-9A-F]{128}$/);
    assert.notEqual(first, second);
    assert.equal(apps(), before);
    registry.put("custom", []);
    assert.equal(url(), undefined);
    assert.equal(body("/openapi/v3/apis/example.com/v1"), 404);
  });

  test("a document asked for by its name is kept for a year, by an old name is elsewhere", () => {
    const { openApi, body } = setUp();
    const index = body("/openapi/v3") as Index;
    const [path = "", hash] = index.paths["version"]?.serverRelativeURL.split("?hash=") ?? [];
    const accept = "";
    const named = openApi.answer({ path, accept, hash });
    assert.deepEqual(
      [named?.status, named?.headers["cache-control"], named?.headers["expires"]],
      [200, "public, immutable", "Fri, 01 Jan 2027 00:00:00 GMT"],
    );
    const old = openApi.answer({ path, accept, hash: "old" });
    assert.deepEqual([old?.status, old?.headers["location"]], [301, `${path}?hash=${hash}`]);
    for (const ifNoneMatch of [`"${hash}"`, `"x", W/"${hash}"`, "*"]) {
      assert.equal(openApi.answer({ path, accept, ifNoneMatch })?.status, 304);
    }
  });

  test("protobuf alone is refused, protobuf or JSON is JSON", () => {
    const { openApi } = setUp();
    const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const path = "/openapi/v2";
    assert.equal(openApi.answer({ path, accept: protobuf })?.status, 406);
    const both = openApi.answer({ path, accept: `${protobuf},application/json` });
    assert.deepEqual([both?.status, both?.headers["content-type"]], [200, "application/json"]);
  });
});
