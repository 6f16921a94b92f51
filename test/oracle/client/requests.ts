// What the client's requests must do before any server: the real one, or ours.

import assert from "node:assert/strict";

import { StatusError } from "@keelson/kube";
import { isAlreadyExists, isConflict, openWatch, type Client } from "@keelson/client";

import { until } from "../../tools/until.ts";
import {
  accessTo,
  clientOf,
  configMap,
  configMapKind,
  proxyTo,
  versionOf,
  type Reachable,
} from "./bed.ts";

export interface RequestWorld {
  readonly target: Reachable;
  readonly client: Client;
  readonly signal: AbortSignal;
}

const ref = { namespace: "default", name: "one" };

/** In this order: each goes on with what the one before has left. */
export const requestSteps: Readonly<Record<string, (world: RequestWorld) => Promise<void>>> = {
  "create, get, find, update": async ({ client, signal }) => {
    const maps = await client.resource(configMapKind, signal);
    const made = await maps.create(configMap("one", { a: "1" }), {}, signal);
    assert.deepEqual(await maps.get(ref, signal), made);
    assert.equal(await maps.find({ ...ref, name: "none" }, signal), undefined);
    const updated = await maps.update({ ...made, data: { a: "2" } }, {}, signal);
    await assert.rejects(maps.update({ ...made, data: { a: "3" } }, {}, signal), isConflict);
    assert.deepEqual((await maps.get(ref, signal))["data"], { a: "2" });
    assert.notEqual(versionOf(updated), versionOf(made));
    const again = maps.create(configMap("one", {}), {}, signal);
    await assert.rejects(again, isAlreadyExists);
    await assert.rejects(maps.get({ ...ref, name: "none" }, signal), (error) => {
      assert.ok(error instanceof StatusError);
      assert.deepEqual(error.status, {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: 'configmaps "none" not found',
        reason: "NotFound",
        details: { name: "none", kind: "configmaps" },
        code: 404,
      });
      return true;
    });
  },

  "patches of every type, apply, and dry runs": async ({ client, signal }) => {
    const maps = await client.resource(configMapKind, signal);
    await maps.patch(ref, { type: "merge", body: { data: { merge: "1" } } }, signal);
    await maps.patch(ref, { type: "strategic", body: { data: { smp: "1" } } }, signal);
    const add = [{ op: "add", path: "/data/json", value: "1" }];
    const patched = await maps.patch(ref, { type: "json", body: add }, signal);
    assert.deepEqual(patched["data"], { a: "2", merge: "1", smp: "1", json: "1" });
    const applied = await maps.apply(
      configMap("one", { applied: "1" }),
      { fieldManager: "tester" },
      signal,
    );
    const same = await maps.apply(
      configMap("one", { applied: "1" }),
      { fieldManager: "tester" },
      signal,
    );
    assert.equal(versionOf(same), versionOf(applied), "nothing is written when nothing changes");
    const taken = maps.apply(
      configMap("one", { applied: "2" }),
      { fieldManager: "other", force: false },
      signal,
    );
    await assert.rejects(taken, isConflict);
    const dry = await maps.apply(
      configMap("two", { applied: "2" }),
      { fieldManager: "other", dryRun: true },
      signal,
    );
    assert.deepEqual(dry["data"], { applied: "2" });
    assert.equal(await maps.find({ ...ref, name: "two" }, signal), undefined);
    const strict = { fieldManager: "tester", fieldValidation: "Strict" } as const;
    const unknown = { ...configMap("one", {}), nonsense: true };
    await assert.rejects(maps.apply(unknown, strict, signal), /nonsense/);
  },

  "deletes: preconditions, finalizers, collections": async ({ client, signal }) => {
    const maps = await client.resource(configMapKind, signal);
    const one = await maps.get(ref, signal);
    const wrong = { ...ref, preconditions: { uid: "another" } };
    await assert.rejects(maps.delete(wrong, signal), isConflict);
    const held = await maps.addFinalizer(one, "keelson.dev/test", signal);
    assert.ok(held);
    const remains = await maps.delete(ref, signal);
    assert.notEqual(remains?.metadata.deletionTimestamp, undefined);
    assert.equal(await maps.removeFinalizer(held, "keelson.dev/test", signal), undefined);
    assert.equal(await maps.find(ref, signal), undefined);
    assert.equal(await maps.removeFinalizer(held, "keelson.dev/test", signal), undefined);
    assert.equal(await maps.delete(ref, signal), undefined);
    const labels = { bulk: "yes" };
    for (const name of ["b1", "b2", "b3"]) {
      const map = configMap(name, {});
      const metadata = { ...map.metadata, labels };
      await maps.create({ ...map, metadata }, {}, signal);
    }
    const selection = { namespace: "default", labelSelector: "bulk=yes" };
    await maps.deleteCollection({ ...selection, dryRun: true }, signal);
    assert.equal((await maps.list(selection, signal)).items.length, 3);
    await maps.deleteCollection(selection, signal);
    assert.equal((await maps.list(selection, signal)).items.length, 0);
  },

  "pages are of one revision though writes go on": async ({ client, signal }) => {
    const maps = await client.resource(configMapKind, signal);
    for (let i = 0; i < 25; i++) await maps.create(configMap(`page-${i}`, {}), {}, signal);
    const selection = { namespace: "default", limit: 10 };
    const versions = new Set<string>();
    let count = 0;
    for await (const page of maps.pages(selection, signal)) {
      versions.add(page.resourceVersion);
      count += page.items.filter(({ metadata }) => metadata.name?.startsWith("page-")).length;
      await maps.create(configMap(`page-zz-${count}`, {}), {}, signal);
    }
    assert.deepEqual([versions.size, count], [1, 25]);
    const all = await maps.list(selection, signal);
    assert.ok(all.items.length >= 28);
    assert.ok(
      all.items.every(({ kind, apiVersion }) => kind === "ConfigMap" && apiVersion === "v1"),
    );
  },

  subresources: async ({ client, signal }) => {
    const kind = { apiVersion: "apps/v1", kind: "Deployment" };
    const deployments = await client.resource(kind, signal);
    assert.deepEqual(deployments.resource.subresources.toSorted(), ["scale", "status"]);
    const name = "web";
    const metadata = { name, namespace: "default" };
    const selector = { matchLabels: { app: name } };
    const containers = [{ name, image: "web" }];
    const template = { metadata: { labels: { app: name } }, spec: { containers } };
    await deployments.create({ ...kind, metadata, spec: { selector, template } }, {}, signal);
    const status = { replicas: 3, readyReplicas: 2 };
    const manager = { fieldManager: "me" };
    const applied = await deployments.applyStatus(metadata, status, manager, signal);
    assert.deepEqual(applied["status"], status);
    const scale = await deployments.get({ ...metadata, subresource: "scale" }, signal);
    assert.equal(scale.kind, "Scale");
    const body = { spec: { replicas: 5 } };
    const options = { subresource: "scale" };
    await deployments.patch(metadata, { type: "merge", body, options }, signal);
    const { spec } = (await deployments.get(metadata, signal)) as {
      spec?: { replicas?: number };
    };
    assert.equal(spec?.replicas, 5);
  },

  "a kind is found as soon as it is served": async ({ client, signal }) => {
    const kind = { apiVersion: "example.com/v1", kind: "Widget" };
    await assert.rejects(client.resource(kind, signal), { code: "UNKNOWN_KIND" });
    const definitions = await client.resource(
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
      signal,
    );
    await definitions.create(widgetDefinition, {}, signal);
    const find = () =>
      client.resource(kind, signal).catch((error: unknown) => {
        assert.equal((error as { code?: unknown }).code, "UNKNOWN_KIND");
        return undefined;
      });
    const { resource } = await until(find, signal, "the kind Widget");
    assert.deepEqual([resource.resource, resource.isNamespaced], ["widgets", true]);
  },

  "a hundred calls and a hundred watches share a connection each": async ({ target, signal }) => {
    await using proxy = await proxyTo(target);
    await using client = clientOf(accessTo(target, proxy.port));
    const maps = await client.resource(configMapKind, signal);
    const { resourceVersion } = await maps.list({}, signal);
    const stop = new AbortController();
    const first = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const events = await openWatch(
          client,
          { resource: maps.resource, resourceVersion, openTimeoutMs: 60_000 },
          stop.signal,
        );
        return events[Symbol.asyncIterator]();
      }),
    );
    await maps.create(configMap("shared", {}), {}, signal);
    const events = await Promise.all(first.map((watch) => watch.next()));
    assert.ok(events.every(({ value }) => value?.type === "ADDED"));
    const ref = { namespace: "default", name: "shared" };
    await Promise.all(Array.from({ length: 100 }, () => maps.get(ref, signal)));
    assert.ok(proxy.accepted <= 4, `${proxy.accepted} connections were made`);
    stop.abort(new Error("the test has ended"));
  },

  "aborting a call or a watch ends it at once": async ({ client, signal }) => {
    const maps = await client.resource(configMapKind, signal);
    const stop = new AbortController();
    const reason = new Error("enough");
    const { resourceVersion } = await maps.list({}, signal);
    const request = { resource: maps.resource, resourceVersion, openTimeoutMs: 60_000 };
    const events = await openWatch(client, request, stop.signal);
    const watching = (async () => {
      for await (const _ of events);
    })();
    const call = maps.list({}, stop.signal);
    stop.abort(reason);
    const [watched, called] = await Promise.allSettled([watching, call]);
    assert.deepEqual(
      [watched, called],
      [
        { status: "rejected", reason },
        { status: "rejected", reason },
      ],
    );
  },
};

const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
};
