import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, type Json } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { failures } from "@keelson/kube";

import type { Call, Caller } from "./caller.ts";
import type { Resource } from "./kinds.ts";
import { ResourceClient } from "./resource-client.ts";
import { clientMetrics } from "./testing/index.ts";

const never = new AbortController().signal;
const things: Resource = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  group: "example.com",
  version: "v1",
  resource: "things",
  isNamespaced: true,
  verbs: [],
  subresources: [],
};

suite("ResourceClient", () => {
  test("a snapshot that expires between two pages is read once more, whole", async () => {
    const { objects, asked } = fixture(({ path }) => {
      if (path.includes("continue")) throw failures.expired("too old");
      return list(path.includes("limit") ? "more" : "");
    });
    const { items, resourceVersion } = await objects.list({ labelSelector: "a=b" }, never);
    assert.deepEqual([items.length, resourceVersion], [1, "7"]);
    assert.deepEqual(asked, [
      "GET /apis/example.com/v1/things?labelSelector=a%3Db&limit=500",
      "GET /apis/example.com/v1/things?labelSelector=a%3Db&limit=500&continue=more",
      "GET /apis/example.com/v1/things?labelSelector=a%3Db",
    ]);
  });

  test("what a server answers instead of an object is refused", async () => {
    const { objects } = fixture(() => ({ kind: "Thing" }));
    await assert.rejects(objects.get({ namespace: "x", name: "a" }, never), {
      code: "UNEXPECTED_ANSWER",
    });
    await assert.rejects(objects.list({}, never), { code: "UNEXPECTED_ANSWER" });
  });

  test("names are parts of a path and cannot leave it", async () => {
    const { objects, asked } = fixture(() => thing("1"));
    await objects.get({ namespace: "x", name: "a/../../b:c%" }, never);
    assert.deepEqual(asked, [
      "GET /apis/example.com/v1/namespaces/x/things/a%2F..%2F..%2Fb%3Ac%25",
    ]);
    for (const name of ["", ".", ".."]) {
      await assert.rejects(objects.get({ namespace: "x", name }, never), TypeError);
    }
    await assert.rejects(objects.get({ name: "a" }, never), /live in namespaces/);
  });

  test("finalizers are changed with a precondition, again after a conflict, and not on another object", async () => {
    let conflicts = 1;
    const { objects, asked } = fixture(({ method }) => {
      if (method === "GET") return thing("8", ["kept", "ours"]);
      if (conflicts-- > 0) throw failures.modifiedConflict({ group: "", resource: "things" }, "a");
      return thing("9", ["kept"]);
    });
    const stale = thing("7", ["ours"]);
    const changed = await objects.removeFinalizer(stale, "ours", never);
    assert.equal(changed?.metadata.resourceVersion, "9");
    assert.deepEqual(
      asked.map((line) => line.split(" ")[0]),
      ["PATCH", "GET", "PATCH"],
    );
    conflicts = 1;
    const other = { ...stale, metadata: { ...stale.metadata, uid: "another" } };
    assert.equal(await objects.removeFinalizer(other, "ours", never), undefined);
    assert.equal(await objects.addFinalizer(stale, "ours", never), stale, "nothing to send");
    conflicts = 1;
    assert.equal(await objects.addFinalizer(other, "more", never), undefined, "it has not got it");
  });

  test("an object that is gone is given no finalizer, and nobody is told that it was", async () => {
    const { objects } = fixture(() => {
      throw failures.notFound({ group: "", resource: "things" }, "a");
    });
    assert.equal(await objects.addFinalizer(thing("7"), "ours", never), undefined);
  });
});

function fixture(answer: (call: Call) => Json) {
  const asked: string[] = [];
  const caller: Caller = {
    clock: new ManualClock(),
    random: seededRandom("objects"),
    metrics: clientMetrics,
    call: async (call) => {
      asked.push(`${call.method} ${call.path}`);
      return { status: 200, headers: {}, text: "", warnings: [], body: answer(call) };
    },
    open: () => Promise.reject(new Error("nobody watches")),
  };
  return { objects: new ResourceClient(caller, things), asked };
}

function thing(resourceVersion: string, finalizers: readonly string[] = []) {
  const metadata = { name: "a", namespace: "x", uid: "one", resourceVersion, finalizers };
  return { apiVersion: "example.com/v1", kind: "Thing", metadata };
}

function list(token: string): Json {
  return { metadata: { resourceVersion: "7", continue: token }, items: [thing("3")] };
}
