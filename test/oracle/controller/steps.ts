// What controllers must do before any server, the real one or ours: caches, own writes, owners, events.

import assert from "node:assert/strict";

import { noMetrics, seededRandom, silentLog, systemClock } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import type { Client, DynamicObject, KubeObject, ObjectRef } from "@keelson/client";
import {
  CachedResource,
  Caches,
  controllerMetrics,
  done,
  EventRecorder,
  runController,
  watches,
  watchesOwned,
  type Reconciler,
} from "@keelson/controller";

import { configMap, configMapKind } from "../client/bed.ts";
import { until } from "../../tools/until.ts";

const clock = systemClock;
const log = silentLog;
const random = seededRandom("controller");
const metrics = controllerMetrics(noMetrics);
const secretKind = { apiVersion: "v1", kind: "Secret" } as const;
const widgetKind = { apiVersion: "example.com/v1", kind: "Widget" } as const;

/** What the steps share; dispose of it. */
export class ControllerWorld implements AsyncDisposable {
  readonly client: Client;
  readonly caches: Caches;
  readonly signal: AbortSignal;

  constructor(client: Client, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
    this.caches = new Caches({ client, clock, random, log, metrics }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.caches[Symbol.asyncDispose]();
  }
}

export const controllerSteps: Readonly<Record<string, (world: ControllerWorld) => Promise<void>>> =
  {
    "reads see its own writes: nothing is made twice, nothing is missed": async ({
      client,
      caches,
      signal,
    }) => {
      const made: string[] = [];
      const parents = cached(client, caches, configMapKind, "role=parent");
      const children = cached<Child>(client, caches, configMapKind, "role=child");
      children.cache.addIndex("parent", ({ data }) => [data?.["parent"] ?? ""]);
      const reconcile: Reconciler = async (ref, signal) => {
        const parent = await parents.find(ref, signal);
        const present = await children.byIndex("parent", ref.name, signal);
        if (parent === undefined) {
          for (const child of present) await children.delete(refOfChild(child), signal);
          return done;
        }
        // Names are drawn by the server: a read that is behind would make a second one.
        if (present.length === 0) {
          const child = await children.create(childOf(ref), {}, signal);
          made.push(child.metadata.name ?? "");
          const seen = await children.byIndex("parent", ref.name, signal);
          assert.equal(seen.length, 1, "the cache does not know of the write");
        }
        return done;
      };
      const over = new AbortController();
      const running = runController(
        {
          name: "children",
          reconcile,
          sources: [
            watches(parents.cache),
            watches(children.cache, ({ data }) => [
              { namespace: "default", name: data?.["parent"] ?? "" },
            ]),
          ],
          clock,
          random,
          log,
          metrics,
        },
        over.signal,
      );
      const maps = await client.resource(configMapKind, signal);
      const count = 50;
      const names = Array.from({ length: count }, (_, i) => `parent-${i}`);
      await Promise.all(names.map((name) => maps.create(labelled(name, "parent"), {}, signal)));
      await until(() => made.length >= count, signal);
      // Touched again and again: each touch is another look.
      for (let i = 0; i < 5; i++) {
        const body = { data: { touched: String(i) } };
        await Promise.all(
          names.map((name) =>
            maps.patch({ namespace: "default", name }, { type: "merge", body }, signal),
          ),
        );
      }
      const selection = { namespace: "default", labelSelector: "role=child" };
      assert.equal((await maps.list(selection, signal)).items.length, count);
      assert.equal(made.length, count);
      await Promise.all(names.map((name) => maps.delete({ namespace: "default", name }, signal)));
      await until(async () => (await maps.list(selection, signal)).items.length === 0, signal);
      over.abort(new Error("the test has ended"));
      await running;
    },

    "caches are shared, and a kind may come later": async ({ client, caches, signal }) => {
      assert.equal(caches.of(secretKind), caches.of(secretKind));
      assert.notEqual(caches.of(secretKind), caches.of(secretKind, { namespace: "default" }));
      const widgets = caches.of(widgetKind);
      assert.equal(widgets.isSynced, false);
      const stateOfWidgets = () => caches.states.find(({ kind }) => kind === widgetKind.kind);
      await until(() => codeOf(stateOfWidgets()?.error) === "UNKNOWN_KIND", signal);
      await define(client, signal);
      await widgets.untilSynced(signal);
      const resource = await client.resource(widgetKind, signal);
      const metadata = { name: "first", namespace: "default", finalizers: ["keelson.dev/test"] };
      const own = caches.resource(widgetKind);
      assert.equal(own.cache, widgets);
      const made = await own.create({ ...widgetKind, metadata }, {}, signal);
      const ref = { namespace: "default", name: "first" };
      assert.deepEqual(await own.find(ref, signal), without(made));
      const applied = await own.applyStatus(ref, { ready: true }, { fieldManager: "me" }, signal);
      assert.deepEqual((await own.find(ref, signal))?.["status"], applied["status"]);
      const remains = await own.delete(ref, signal);
      assert.equal(
        (await own.find(ref, signal))?.metadata.deletionTimestamp,
        remains?.metadata.deletionTimestamp,
      );
      assert.equal(await own.removeFinalizer(made, "keelson.dev/test", signal), undefined);
      assert.equal(await own.find(ref, signal), undefined);
      assert.equal(await resource.find(ref, signal), undefined);
      await until(() => caches.areLive, signal);
      assert.deepEqual(stateOfWidgets(), { ...widgetKind, selection: {}, state: "live" });
      caches.drop(widgets);
      assert.equal(stateOfWidgets(), undefined);
      const anew = caches.of(widgetKind);
      assert.notEqual(anew, widgets);
      await anew.untilSynced(signal);
    },

    "owners are looked at when what they own changes": async ({ client, caches, signal }) => {
      const seen: string[] = [];
      const maps = caches.of(configMapKind, { labelSelector: "owned=yes" });
      await maps.untilSynced(signal);
      const source = watchesOwned(maps, secretKind);
      using _started = source.start((ref: ObjectRef) => void seen.push(ref.name));
      const owner = { ...secretKind, name: "boss", uid: "11111111-2222-3333-4444-555555555555" };
      const { metadata, ...rest } = configMap("owned", {});
      const labels = { owned: "yes" };
      const own = { ...metadata, labels, ownerReferences: [owner] };
      const resource = await client.resource(configMapKind, signal);
      await resource.create({ ...rest, metadata: own }, {}, signal);
      await until(() => seen.includes("boss"), signal);
    },

    "events are said once and counted": async ({ client, signal }) => {
      const counted = new RecordingMetrics();
      const recorder = new EventRecorder({
        client,
        controller: "keelson.dev/test",
        instance: "one",
        clock,
        random,
        log,
        metrics: controllerMetrics(counted),
        limits: { flushMs: 300, lastWordsMs: 60_000 },
      });
      const over = new AbortController();
      const running = recorder.run(over.signal);
      const maps = await client.resource(configMapKind, signal);
      const regarding = await maps.create(configMap("talked-about", {}), {}, signal);
      const happening = { regarding, type: "Warning", action: "Apply" } as const;
      for (let i = 0; i < 5; i++) recorder.record({ ...happening, reason: "Failed", note: "no" });
      recorder.record({ ...happening, reason: "Failed", note: "something else" });
      const events = await client.resource<EventObject>(eventKind, signal);
      const about = async (): Promise<EventObject[]> => {
        const { items } = await events.list({ namespace: "default" }, signal);
        return items.filter((event) => event.regarding?.name === "talked-about");
      };
      await until(async () => (await about()).some(({ series }) => series?.count === 5), signal);
      recorder.record({ ...happening, reason: "Failed", note: "no" });
      over.abort(new Error("the test has ended"));
      await running;
      const summary = (await about()).map(({ note, series, reason, type }) => {
        return { note, count: series?.count, reason, type };
      });
      assert.deepEqual(
        summary.toSorted((a, b) => a.note.localeCompare(b.note)),
        [
          { note: "no", count: 6, reason: "Failed", type: "Warning" },
          { note: "something else", count: undefined, reason: "Failed", type: "Warning" },
        ],
      );
    },
  };

interface Child extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface EventObject extends KubeObject {
  readonly note: string;
  readonly reason: string;
  readonly type: string;
  readonly regarding?: { readonly name?: string };
  readonly series?: { readonly count: number };
}

const eventKind = { apiVersion: "events.k8s.io/v1", kind: "Event" } as const;

function cached<T extends KubeObject = DynamicObject>(
  client: Client,
  caches: Caches,
  kind: typeof configMapKind,
  labelSelector: string,
): CachedResource<T> {
  const cache = caches.of<T>(kind, { namespace: "default", labelSelector });
  return new CachedResource<T>({ client, kind, cache });
}

function labelled(name: string, role: string): DynamicObject {
  const object = configMap(name, {});
  return { ...object, metadata: { ...object.metadata, labels: { role } } };
}

function childOf({ name }: ObjectRef): Child {
  const metadata = { generateName: `${name}-`, namespace: "default", labels: { role: "child" } };
  return { ...configMapKind, metadata, data: { parent: name } };
}

function refOfChild({ metadata: { name = "", namespace = "" } }: Child): ObjectRef {
  return { name, namespace };
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly code?: unknown }).code;
}

function without(object: DynamicObject): DynamicObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function define(client: Client, signal: AbortSignal): Promise<void> {
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
  const definitions = await client.resource(kind, signal);
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
  await definitions.create(
    {
      ...kind,
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ ...version, schema: { openAPIV3Schema } }],
      },
    },
    {},
    signal,
  );
}
