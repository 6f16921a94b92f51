import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { settleDefinitions } from "@keelson/kube";

import type { Objects } from "../objects.ts";
import { Registry } from "../resources/registry.ts";
import { Api, meta, type OpenWatch, type WatchedEvent } from "../testing/api.ts";
import { definition, definitions, serve, twoVersions } from "../testing/definitions.ts";
import { startTestServer } from "../testing/test-server.ts";
import { definitionKind, runDefinitions } from "./definitions.ts";

const widgets = "/apis/example.com/v1/namespaces/default/widgets";
const widget = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...more },
  spec: {},
});

async function conditionsOf(api: Api, name: string): Promise<Readonly<Record<string, string>>> {
  const { status = {} } = (await api.get(`${definitions}/${name}`)).object as {
    status?: { conditions?: { type: string; status: string }[] };
  };
  return Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
}

suite("custom resource definitions", () => {
  test("are served, scale and all, and their objects go with them", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    assert.equal((await api.create(definitions, definition("widgets", "Widget"))).code, 201);
    await until(async () => (await api.get(widgets)).code === 200, "it is served");
    assert.deepEqual((await api.create(widgets, widget("a"))).object["spec"], { replicas: 1 });
    await api.merge(`${widgets}/a/status`, { status: { replicas: 1 } });
    const scaled = await api.merge(`${widgets}/a/scale`, { spec: { replicas: 3 } });
    assert.deepEqual(
      [scaled.code, scaled.object["kind"], scaled.object["spec"], scaled.object["status"]],
      [200, "Scale", { replicas: 3 }, { replicas: 1 }],
    );
    assert.deepEqual((await api.get(`${widgets}/a`)).object["spec"], { replicas: 3 });

    await api.create(widgets, widget("held", { finalizers: ["example.com/hold"] }));
    await api.delete(`${definitions}/widgets.example.com`);
    await until(async () => (await api.get(`${widgets}/a`)).code === 404, "its objects go");
    assert.deepEqual((await conditionsOf(api, "widgets.example.com"))["Terminating"], "True");
    const late = await api.create(widgets, widget("late"));
    assert.deepEqual(
      [late.code, late.object["message"]],
      [
        403,
        'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
      ],
    );
    const freed = await api.merge(`${widgets}/held`, { metadata: { finalizers: null } });
    assert.equal(freed.code, 200, freed.text);
    await until(
      async () => (await api.get(`${definitions}/widgets.example.com`)).code === 404,
      "the definition is gone",
    );
    await until(async () => (await api.get(widgets)).code === 404, "it is no longer served");
  });

  test("take their objects with them though no version is served any longer", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const crd = definition("widgets", "Widget");
    await serve(api, crd);
    await api.create(widgets, widget("a"));
    const path = `${definitions}/widgets.example.com`;
    const { spec } = crd as { spec: { versions: JsonObject[] } };
    const versions = spec.versions.map((version) => ({ ...version, served: false }));
    assert.equal((await api.merge(path, { spec: { versions } })).code, 200);
    await until(async () => (await api.get(widgets)).code === 404, "it is no longer served");
    await api.delete(path);
    await until(async () => (await api.get(path)).code === 404, "the definition is gone");
    await serve(api, crd);
    assert.deepEqual((await api.get(widgets)).object["items"], []);
  });

  test("that want a name of another wait until it is free", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const is = (name: string, type: string, status: string) => (): Promise<boolean> =>
      conditionsOf(api, name).then((conditions) => conditions[type] === status);
    await api.create(definitions, definition("widgets", "Widget"));
    await until(is("widgets.example.com", "Established", "True"), "the first is established");
    await api.create(definitions, definition("gadgets", "Widget"));
    await until(is("gadgets.example.com", "NamesAccepted", "False"), "the second waits");
    assert.equal((await api.get("/apis/example.com/v1/gadgets")).code, 404);
    await api.delete(`${definitions}/widgets.example.com`);
    await until(is("gadgets.example.com", "Established", "True"), "the second is established");
    assert.equal((await api.get("/apis/example.com/v1/gadgets")).code, 200);
  });

  test("end the watches of their objects when they go, after all that belongs to them", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await serve(api, definition("widgets", "Widget"));
    const created = await api.create(widgets, widget("a", { finalizers: ["example.com/hold"] }));
    const from = meta(created, "resourceVersion");
    using plain = await api.watch(`${widgets}?watch=1&resourceVersion=${from}`);
    using marked = await api.watch(
      `${widgets}?watch=1&resourceVersion=${from}&allowWatchBookmarks=true`,
    );
    await api.delete(`${definitions}/widgets.example.com`);
    // While an object is held the definition stays, and so do the watches.
    await api.merge(`${widgets}/a`, { metadata: { labels: { a: "b" } } });
    await api.merge(`${widgets}/a`, { metadata: { finalizers: null } });
    const isGone = async (): Promise<boolean> =>
      (await api.get(`${definitions}/widgets.example.com`)).code === 404;
    await until(isGone, "the definition is gone");
    await serve(api, definition("widgets", "Widget"));
    await api.create(widgets, widget("another"));

    const events = await plain.rest();
    assert.deepEqual(new Set(events.map(nameOf)), new Set(["a"]));
    assert.equal(events.at(-1)?.type, "DELETED");
    const bookmarked = await marked.rest();
    const last = bookmarked.pop();
    assert.deepEqual(bookmarked, events);
    assert.equal(last?.type, "BOOKMARK");
    assert.ok(versionOf(last) >= versionOf(events.at(-1)), "a bookmark below a change");
    using next = await api.watch(`${widgets}?watch=1&resourceVersion=${versionOf(last)}`);
    assert.deepEqual((await next.take(1)).map(nameOf), ["another"]);
  });

  test("end the watches of all of their versions when they change, and those of no others", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await serve(api, definition("gadgets", "Gadget"));
    await serve(api, twoVersions({}));
    const changes: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
      columns: () =>
        change({
          additionalPrinterColumns: [{ name: "N", type: "integer", jsonPath: ".spec.replicas" }],
        }),
      schema: () => change({ schema: open }),
      "a short name": (path) => api.merge(path, { spec: { names: { shortNames: ["wd"] } } }),
      "a version that is no longer served": () => change({ served: false }),
    };
    const change = async (second: JsonObject): Promise<void> => {
      const path = `${definitions}/widgets.example.com`;
      const { spec } = twoVersions(second);
      const changed = await api.merge(path, { spec: spec ?? {} });
      assert.equal(changed.code, 200, changed.text);
    };
    const gadgets = "/apis/example.com/v1/gadgets";
    using other = await api.watch(`${gadgets}?watch=1`);
    for (const [what, act] of Object.entries(changes)) {
      const versions = what === "columns" ? ["v1", "v2"] : ["v1"];
      const watches: OpenWatch[] = [];
      for (const version of versions) {
        watches.push(await api.watch(`/apis/example.com/${version}/widgets?watch=1`));
      }
      // What says nothing of what is served ends nothing.
      const path = `${definitions}/widgets.example.com`;
      await api.merge(path, { metadata: { labels: { a: what.replaceAll(" ", "-") } } });
      const name = what.replaceAll(" ", "-");
      await api.create(widgets, widget(name));
      for (const watch of watches) await readUntil(watch, name);
      await act(path);
      for (const watch of watches) assert.deepEqual(await watch.rest(), [], what);
    }
    await api.create("/apis/example.com/v1/namespaces/default/gadgets", {
      ...widget("still"),
      kind: "Gadget",
    });
    assert.deepEqual((await other.take(1)).map(nameOf), ["still"]);
  });

  test("end a watch whose reader is slow after all that belongs to it, too", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await serve(api, definition("widgets", "Widget", { schema: open }));
    // More than a socket holds, and more than a watcher does.
    const names = Array.from({ length: 120 }, (_, index) => `w-${index}`);
    const filler = { filler: "x".repeat(100_000) };
    for (const name of names) await api.create(widgets, { ...widget(name), ...filler });
    const from = meta(await api.get(widgets), "resourceVersion");
    using watch = await api.watch(`${widgets}?watch=1&resourceVersion=${from}`);
    await api.delete(`${definitions}/widgets.example.com`);
    const isGone = async (): Promise<boolean> =>
      (await api.get(`${definitions}/widgets.example.com`)).code === 404;
    await until(isGone, "the definition is gone");
    await serve(api, definition("widgets", "Widget", { schema: open }));
    await api.create(widgets, widget("another"));
    const events = await watch.rest();
    assert.deepEqual(
      events.map((event) => `${event.type} ${nameOf(event)}`).toSorted(),
      names.map((name) => `DELETED ${name}`).toSorted(),
    );
  });

  test("are worked out together after a change, though each is looked at", async () => {
    const settled = settleDefinitions(
      Array.from({ length: 20 }, (_, index) => definition(`w${index}s`, `W${index}`)),
      "2026-01-01T00:00:00Z",
    );
    // Nobody has accepted its names: it is changed, after the others were looked at.
    const all = [...settled, definition("lasts", "Last")];
    let listed = 0;
    const mirror = {
      *values() {
        listed += 1;
        for (const object of all) {
          const key = { kind: definitionKind, namespace: "", name: meta({ object }, "name") };
          yield { key, object, uid: key.name, revision: 1 };
        }
      },
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    };
    const stop = new AbortController();
    const changed: string[] = [];
    const update = (_: unknown, { name }: { readonly name: string }): Promise<boolean> => {
      changed.push(name);
      stop.abort();
      return Promise.resolve(true);
    };
    const objects = { resource: () => undefined, update } as unknown as Objects;
    const registry = new Registry();
    const runs = { clock: systemClock, random: systemRandom, log: silentLog };
    await runDefinitions({ definitions: mirror, objects, registry, ...runs }, stop.signal);
    assert.deepEqual([changed, listed], [["lasts.example.com"], 2]);
  });
});

const open = {
  openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
} as const;

/** Reads until an object is told of. */
async function readUntil(watch: OpenWatch, name: string): Promise<void> {
  for (;;) {
    const [event] = await watch.take(1);
    if (event !== undefined && nameOf(event) === name) return;
  }
}

function nameOf({ object }: WatchedEvent): string {
  return meta({ object }, "name");
}

function versionOf(event: WatchedEvent | undefined): number {
  return Number(meta({ object: event?.object ?? {} }, "resourceVersion"));
}
