import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, type Json } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { failures } from "@keelson/kube";

import type { Call, Caller } from "./caller.ts";
import { Kinds } from "./kinds.ts";
import { clientMetrics } from "./testing/index.ts";

const never = new AbortController().signal;
const pods = { apiVersion: "v1", kind: "Pod" };
const widgets = { apiVersion: "example.com/v1", kind: "Widget" };

suite("Kinds", () => {
  test("reads documents of servers that know no aggregated discovery, and passes over a broken group", async () => {
    const { kinds, clock } = fixture({
      "/api": { kind: "APIVersions", versions: ["v1", "broken1"] },
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
    for (const apiVersion of ["broken.com/v1", "broken1"]) {
      const unknown = kinds.resolve({ apiVersion, kind: "Thing" }, never);
      const refused = assert.rejects(unknown, { code: "GROUP_UNAVAILABLE", apiVersion });
      await clock.advance(500);
      await refused;
    }
  });

  test("reads what a server says at once of all its groups, which it is asked for first", async () => {
    const parts = { verbs: ["get"], subresources: [{ subresource: "status" }] };
    const { kinds, requests } = fixture({
      "/api": aggregated("", "Pod", "pods"),
      "/apis": {
        kind: "APIGroupDiscoveryList",
        items: [
          {
            metadata: { name: "example.com" },
            versions: [
              {
                version: "v1",
                resources: [
                  {
                    resource: "widgets",
                    responseKind: { kind: "Widget" },
                    scope: "Cluster",
                    ...parts,
                  },
                  { resource: "nobodys", scope: "Cluster", ...parts },
                ],
              },
            ],
          },
        ],
      },
    });
    assert.deepEqual(await kinds.resolve(widgets, never), {
      ...widgets,
      group: "example.com",
      version: "v1",
      resource: "widgets",
      isNamespaced: false,
      verbs: ["get"],
      subresources: ["status"],
    });
    const { apiVersion, isNamespaced, subresources } = await kinds.resolve(pods, never);
    assert.deepEqual([apiVersion, isNamespaced, subresources], ["v1", true, []]);
    assert.deepEqual((await kinds.all(never)).map(({ kind }) => kind).sort(), ["Pod", "Widget"]);
    const accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const asked = { method: "GET", headers: { accept }, priority: "high", isDiscovery: true };
    assert.deepEqual(
      requests,
      ["/api", "/apis"].map((path) => ({ ...asked, path })),
    );
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
    documents["/apis"] = stale("example.org");
    assert.equal(await find(), "UNKNOWN_KIND");
    documents["/apis"] = stale("example.com");
    assert.equal(await find(), "GROUP_UNAVAILABLE");
    documents["/apis"] = aggregated("example.com", "Widget", "widgets");
    assert.equal(await find(), "example.com/v1");
    // What was known before says nothing of what is served now.
    kinds.invalidate();
    breakDown(documents, "/apis");
    const refused = assert.rejects(kinds.resolveInAnyVersion(older, never), { message: /away/ });
    await clock.advance(500);
    await refused;
  });

  test("finds a kind of the core group in another version, too", async () => {
    const { kinds, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    const found = kinds.resolveInAnyVersion({ apiVersion: "v0", kind: "Pod" }, never);
    await clock.advance(500);
    assert.equal((await found).apiVersion, "v1");
  });

  test("reads once for all who ask, and again for a kind that was not there", async () => {
    const { kinds, documents, asked, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    await Promise.all([1, 2, 3].map(() => kinds.resolve(pods, never)));
    assert.equal(asked.length, 2);
    const missing = [1, 2].map(() =>
      assert.rejects(kinds.resolve(widgets, never), { code: "UNKNOWN_KIND" }),
    );
    await clock.advance(500);
    await Promise.all(missing);
    assert.equal(asked.length, 4);
    documents["/apis"] = aggregated("example.com", "Widget", "widgets");
    const found = kinds.resolve(widgets, never);
    await clock.advance(500);
    assert.equal((await found).resource, "widgets");
    assert.equal(asked.length, 6);
    await kinds.resolve(widgets, never);
    await kinds.all(never);
    assert.equal(asked.length, 6, "what is known is not asked for");
    for (const ask of [() => kinds.resolve(pods, never), () => kinds.all(never)]) {
      const before: number = asked.length;
      kinds.invalidate();
      const anew = ask();
      await clock.advance(500);
      await anew;
      assert.equal(asked.length, before + 2);
    }
  });

  test("a reading that began before says nothing of what has come since, nor does its failure", async () => {
    const { kinds, documents, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    const first = kinds.resolve(pods, never);
    const second = kinds.resolve(widgets, never);
    documents["/apis"] = aggregated("example.com", "Widget", "widgets");
    assert.equal((await first).kind, "Pod");
    await clock.advance(500);
    assert.equal((await second).kind, "Widget");

    kinds.invalidate();
    await clock.advance(500);
    documents["/apis"] = Promise.reject(failures.serviceUnavailable("away"));
    const failed = assert.rejects(kinds.resolve(pods, never), { message: /away/ });
    const after = kinds.resolve({ ...widgets, kind: "Gadget" }, never);
    documents["/apis"] = aggregated("example.com", "Gadget", "gadgets");
    await failed;
    await clock.advance(500);
    assert.equal((await after).kind, "Gadget");
  });

  test("a reading that others began, and that failed, makes no kind unknown", async () => {
    const { kinds, documents, clock } = fixture({ "/api": aggregated("", "Pod", "pods") });
    await kinds.resolve(pods, never);
    const asked = [1, 2].map(() => kinds.resolve(widgets, never));
    const refused = asked.map((one) => assert.rejects(one, { message: /away/ }));
    breakDown(documents, "/apis");
    await clock.advance(500); // Both wait for the same moment; the first has its answer before the second is woken.
    await Promise.all(refused);
  });

  test("whoever gives up is told at once, and does not take the reading away from the others", async () => {
    const core = Promise.withResolvers<Json>();
    const { kinds, asked, clock } = fixture({ "/api": core.promise });
    const stop = new AbortController();
    const enough = { message: "enough" };
    const [beginning, joining] = [1, 2].map(() => kinds.resolve(pods, stop.signal));
    const kept = kinds.resolve(pods, never);
    stop.abort(new Error("enough"));
    await assert.rejects(async () => beginning, enough);
    await assert.rejects(async () => joining, enough);
    core.resolve(aggregated("", "Pod", "pods"));
    assert.equal((await kept).kind, "Pod");

    const pause = new AbortController();
    const waiting = kinds.resolve(widgets, pause.signal);
    pause.abort(new Error("enough"));
    await assert.rejects(waiting, enough);
    kinds.invalidate();
    await clock.advance(500);
    await assert.rejects(kinds.resolve(pods, pause.signal), enough);
    assert.deepEqual(asked, ["/api", "/apis"]);
  });
});

function fixture(documents: Record<string, Json | Promise<Json>>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const requests: Call[] = [];
  const caller: Caller = {
    clock,
    random: seededRandom("kinds"),
    metrics: clientMetrics,
    call: async (request, signal) => {
      const { path } = request;
      asked.push(path);
      requests.push(request);
      const body = await documents[path];
      signal.throwIfAborted(); // Of whoever it is asked for.
      if (path.includes("broken")) throw failures.serviceUnavailable("away");
      if (body === undefined) throw failures.resourceNotFound();
      return { status: 200, headers: {}, text: "", warnings: [], body };
    },
    open: () => Promise.reject(new Error("nobody watches")),
  };
  return { kinds: new Kinds(caller), clock, asked, requests, documents };
}

function aggregated(group: string, kind: string, resource: string): Json {
  const served = { resource, responseKind: { kind }, scope: "Namespaced", verbs: ["get"] };
  return {
    kind: "APIGroupDiscoveryList",
    items: [{ metadata: { name: group }, versions: [{ version: "v1", resources: [served] }] }],
  };
}

function stale(group: string): Json {
  return {
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: { name: group },
        versions: [{ version: "v2", freshness: "Stale", resources: [] }],
      },
    ],
  };
}

/** From now on whoever asks for the document is refused. */
function breakDown(documents: object, path: string): void {
  Object.defineProperty(documents, path, {
    get: () => {
      throw failures.serviceUnavailable("away");
    },
  });
}
