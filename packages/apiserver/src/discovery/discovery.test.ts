import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { loadBuiltinKinds, StatusError } from "@keelson/kube";

import { builtinResources } from "../resources/builtin-resource.ts";
import { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";
import { Discovery } from "./discovery.ts";

const builtin = builtinResources(await loadBuiltinKinds());
const configMaps = builtin.find(({ plural }) => plural === "configmaps");
assert.ok(configMaps !== undefined);

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A custom resource that is enough for discovery. */
function custom(group: string, version: string, plural = "things"): Resource {
  return {
    ...(configMaps as Resource),
    group,
    version,
    kind: "Thing",
    plural,
    singular: "thing",
    shortNames: [],
    isCustom: true,
    shape: { from: "schema", schema: undefined },
  };
}

function setUp(...resources: readonly Resource[]) {
  const registry = new Registry();
  registry.put("built-in", builtin);
  registry.put("custom", resources);
  const serverAddress = (): string => "127.0.0.1:6443";
  const discovery = new Discovery({ registry, serverAddress, paths: ["/openid/v1/jwks"] });
  const body = (path: string, accept = ""): unknown => {
    const answer = discovery.answer({ path, accept });
    return answer === undefined ? undefined : JSON.parse(Buffer.from(answer.body).toString());
  };
  return { registry, discovery, body };
}

suite("discovery", () => {
  test("versions are preferred as Kubernetes does", () => {
    const versions = ["v1", "v1beta1", "v10", "edge", "v2alpha1", "v1beta2"];
    const { body } = setUp(...versions.map((version) => custom("example.com", version)));
    const group = body("/apis/example.com") as { versions: { version: string }[] };
    assert.deepEqual(
      group.versions.map(({ version }) => version),
      ["v10", "v1", "v1beta2", "v1beta1", "v2alpha1", "edge"],
    );
  });

  test("groups come by priority, custom ones last and by name", () => {
    const { body } = setUp(custom("z.example.com", "v1"), custom("a.example.com", "v1"));
    const { groups } = body("/apis") as { groups: { name: string }[] };
    const names = groups.map(({ name }) => name);
    assert.deepEqual(names.slice(0, 3), ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
    assert.deepEqual(names.slice(-2), ["a.example.com", "z.example.com"]);
  });

  test("a kind appears and vanishes with its definition, and the name of the document changes", () => {
    const { registry, discovery, body } = setUp();
    const etag = (): string | undefined =>
      discovery.answer({ path: "/apis", accept: aggregated })?.headers["etag"];
    const before = etag();
    assert.equal(body("/apis/example.com"), undefined);
    registry.put("custom", [custom("example.com", "v1")]);
    assert.notEqual(etag(), before);
    assert.deepEqual(body("/apis/example.com/"), {
      kind: "APIGroup",
      apiVersion: "v1",
      name: "example.com",
      versions: [{ groupVersion: "example.com/v1", version: "v1" }],
      preferredVersion: { groupVersion: "example.com/v1", version: "v1" },
    });
    registry.put("custom", []);
    assert.equal(body("/apis/example.com/v1"), undefined);
    assert.equal(etag(), before);
  });

  test("a client that has the document is told so", () => {
    const { discovery } = setUp();
    const first = discovery.answer({ path: "/apis", accept: aggregated });
    const ifNoneMatch = first?.headers["etag"];
    const again = discovery.answer({ path: "/apis", accept: aggregated, ifNoneMatch });
    assert.deepEqual(
      [first?.status, first?.headers["content-type"], again?.status, again?.body.length],
      [200, aggregated, 304, 0],
    );
  });

  test("the same bytes are answered until something changes", () => {
    const { registry, discovery } = setUp();
    const ask = () => discovery.answer({ path: "/apis/apps/v1", accept: "" })?.body;
    const first = ask();
    assert.equal(ask(), first);
    registry.put("custom", []);
    assert.notEqual(ask(), first);
  });

  test("what nobody can write is refused, and unknown paths are not ours", () => {
    const { discovery } = setUp();
    assert.throws(() => discovery.answer({ path: "/apis", accept: "text/html" }), StatusError);
    for (const path of ["/apis/nope", "/apis/apps/v9", "/api/v2", "/apis/apps/v1/x", "/other"]) {
      assert.equal(discovery.answer({ path, accept: "" }), undefined, path);
    }
  });

  test("a server without built-in kinds has no core group", () => {
    const registry = new Registry();
    registry.put("custom", [custom("example.com", "v1")]);
    const discovery = new Discovery({ registry, serverAddress: () => "" });
    assert.equal(discovery.answer({ path: "/api", accept: "" }), undefined);
    const answer = discovery.answer({ path: "/apis", accept: aggregated });
    const { items } = JSON.parse(Buffer.from(answer?.body ?? "").toString()) as {
      items: unknown[];
    };
    assert.equal(items.length, 1);
  });

  test("the root lists every document and what else there is", () => {
    const { body } = setUp(custom("example.com", "v1"));
    const { paths } = body("/") as { paths: string[] };
    for (const path of [
      "/api/v1",
      "/apis/apps/v1",
      "/apis/example.com",
      "/healthz",
      "/openid/v1/jwks",
    ]) {
      assert.ok(paths.includes(path), path);
    }
    assert.deepEqual(paths, paths.toSorted());
  });
});
