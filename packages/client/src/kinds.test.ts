import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, type Json } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { failures } from "@keelson/kube";

import type { Caller } from "./caller.ts";
import { Kinds } from "./kinds.ts";
import { clientMetrics } from "./testing/index.ts";

const never = new AbortController().signal;
const pods = { apiVersion: "v1", kind: "Pod" };
const widgets = { apiVersion: "example.com/v1", kind: "Widget" };

suite("Kinds", () => {
  test("reads documents of servers that know no aggregated discovery, and passes over a broken group", async () => {
    const { kinds, clock } = fixture({
      "/api": { kind: "APIVersions", versions: ["v1"] },
      "/api/v1": {
        groupVersion: "v1",
        resources: [
          { name: "pods", kind: "Pod", namespaced: true, verbs: ["get"] },
          { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get"] },
        ],
      },
      "/apis": {
        kind: "APIGroupList",
        groups: [
          { name: "example.com", versions: [{ groupVersion: "example.com/v1" }] },
          { name: "broken.com", versions: [{ groupVersion: "broken.com/v1" }] },
        ],
      },
      "/apis/example.com/v1": {
        groupVersion: "example.com/v1",
        resources: [{ name: "widgets", kind: "Widget", namespaced: false, verbs: ["list"] }],
      },
    });
    assert.deepEqual(await kinds.resolve(pods, never), {
      ...pods,
      group: "",
      version: "v1",
      resource: "pods",
      isNamespaced: true,
      verbs: ["get"],
      subresources: ["status"],
    });
    const { group, resource, isNamespaced } = await kinds.resolve(widgets, never);
    assert.deepEqual([group, resource, isNamespaced], ["example.com", "widgets", false]);
    const unknown = kinds.resolve({ apiVersion: "broken.com/v1", kind: "Thing" }, never);
    const refused = assert.rejects(unknown, { code: "GROUP_UNAVAILABLE" });
    await clock.advance(500);
    await refused;
  });

  test("fails for those who wait, and for nobody else", async () => {
    const { kinds, documents } = fixture({ "/api": {}, "/apis": {} });
    const stop = new AbortController();
    // Whoever asked has left while the question was sent; and then there is no answer.
    Object.defineProperty(documents, "/api", {
      get: () => {
        stop.abort();
        throw failures.serviceUnavailable("away");
      },
    });
    await assert.rejects(kinds.resolve(pods, stop.signal), { name: "AbortError" });
    // A rejection that nobody hears is told after this turn, and would fail the test.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test("does not say that a kind is unknown whose group cannot be asked", async () => {
    const { kinds } = fixture({
      "/apis": {
        kind: "APIGroupDiscoveryList",
        items: [
          {
            metadata: { name: "example.com" },
            versions: [{ version: "v1", freshness: "Stale", resources: [] }],
          },
        ],
      },
    });
    await assert.rejects(kinds.resolve(widgets, never), {
      code: "GROUP_UNAVAILABLE",
      apiVersion: "example.com/v1",
    });
  });

  test("finds a kind in another version of its group, and says that it is unknown only if all could be asked", async () => {
    const older = { ...widgets, apiVersion: "example.com/v1alpha1" };
    const { kinds, clock, documents } = fixture({
      "/apis": aggregated("example.com", "Widget", "widgets"),
    });
    const find = async () => {
      kinds.invalidate();
      const found = kinds.resolveInAnyVersion(older, never).then(
        ({ apiVersion }) => apiVersion,
        ({ code }: { code: string }) => code,
      );
      await clock.advance(500);
      return found;
    };
    assert.equal(await find(), "example.com/v1");
    documents["/apis"] = aggregated("example.com", "Gadget", "gadgets");
    assert.equal(await find(), "UNKNOWN_KIND");
    documents["/apis"] = aggregated("example.org", "Widget", "widgets");
    assert.equal(await find(), "UNKNOWN_KIND");
    documents["/apis"] = {
      kind: "APIGroupDiscoveryList",
      items: [
        {
          metadata: { name: "example.com" },
          versions: [{ version: "v2", freshness: "Stale", resources: [] }],
        },
      ],
    };
    assert.equal(await find(), "GROUP_UNAVAILABLE");
  });

  test("reads once for all who ask, and again for a kind that was not there", async () => {
    const { kinds, documents, asked, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    await Promise.all([1, 2, 3].map(() => kinds.resolve(pods, never)));
    assert.equal(asked.length, 2);
    const missing = assert.rejects(kinds.resolve(widgets, never), { code: "UNKNOWN_KIND" });
    await clock.advance(500);
    await missing;
    documents["/apis"] = aggregated("example.com", "Widget", "widgets");
    const found = kinds.resolve(widgets, never);
    await clock.advance(500);
    assert.equal((await found).resource, "widgets");
    assert.equal(asked.length, 6);
    await kinds.resolve(widgets, never);
    assert.equal(asked.length, 6, "what is known is not asked for");
    kinds.invalidate();
    const anew = kinds.resolve(pods, never);
    await clock.advance(500);
    await anew;
    assert.equal(asked.length, 8);
  });

  test("a reading that others began, and that failed, makes no kind unknown", async () => {
    const { kinds, documents, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    await kinds.resolve(pods, never);
    const asked = [1, 2].map(() => kinds.resolve(widgets, never));
    const refused = asked.map((one) => assert.rejects(one, { message: /away/ }));
    Object.defineProperty(documents, "/apis", {
      get: () => {
        throw failures.serviceUnavailable("away");
      },
    });
    await clock.advance(500); // Both wait for the same moment; the first has its answer before the second is woken.
    await Promise.all(refused);
  });

  test("whoever gives up does not take the reading away from the others", async () => {
    const { kinds } = fixture({ "/api": aggregated("", "Pod", "pods") });
    const stop = new AbortController();
    const given = kinds.resolve(pods, stop.signal);
    const kept = kinds.resolve(pods, never);
    stop.abort(new Error("enough"));
    await assert.rejects(given, { message: "enough" });
    assert.equal((await kept).kind, "Pod");
  });
});

function fixture(documents: Record<string, Json>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const caller: Caller = {
    clock,
    random: seededRandom("kinds"),
    metrics: clientMetrics,
    call: async ({ path }) => {
      asked.push(path);
      const body = documents[path];
      if (path.includes("broken")) throw failures.serviceUnavailable("away");
      if (body === undefined) throw failures.resourceNotFound();
      return { status: 200, headers: {}, text: "", warnings: [], body };
    },
    open: () => Promise.reject(new Error("nobody watches")),
  };
  return { kinds: new Kinds(caller), clock, asked, documents };
}

function aggregated(group: string, kind: string, resource: string): Json {
  const served = { resource, responseKind: { kind }, scope: "Namespaced", verbs: ["get"] };
  return {
    kind: "APIGroupDiscoveryList",
    items: [{ metadata: { name: group }, versions: [{ version: "v1", resources: [served] }] }],
  };
}
