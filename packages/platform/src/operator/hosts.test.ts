import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { ObjectCache } from "@keelson/controller";

import { Hosts } from "./hosts.ts";

const host = "shop.example.com";
let version = 1;

function emptyCache(): ObjectCache {
  const cache = new ObjectCache({});
  cache.replace([], "1", { isBack: false });
  return cache;
}

function app(uid: string, creationTimestamp: string, status: JsonObject = {}): DynamicObject {
  return {
    apiVersion: "platform.internal/v1alpha1",
    kind: "Application",
    metadata: {
      name: `app-${uid}`,
      namespace: "default",
      uid,
      creationTimestamp,
      resourceVersion: String(++version),
    },
    spec: { domain: host },
    status,
  };
}

function hostsOf(cache: ObjectCache, loginUrl?: string): Hosts {
  const hostOf = ({ spec }: DynamicObject) => (spec as { domain?: string } | undefined)?.domain;
  return new Hosts(cache, { hostOf, loginUrl });
}

const [early, late] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"];
const taken = (by: string) =>
  `host ${host} belongs to Application default/app-${by}, which asked for it first`;
const routed = (reason: string): JsonObject => ({
  conditions: [{ type: "IngressReady", status: "Unknown", reason, message: "" }],
});

test("a host is the older's, whoever has it", () => {
  const cache = emptyCache();
  const hosts = hostsOf(cache);
  const [older, younger] = [app("b", early), app("a", late)];
  cache.accept(younger);
  assert.equal(hosts.takenBy(younger), undefined);
  cache.accept(older);
  assert.equal(hosts.takenBy(older), undefined);
  assert.equal(hosts.takenBy(younger), taken("b"));
});

test("of two of one second who has it keeps it, and it is the other's once that is gone", () => {
  const cache = emptyCache();
  const hosts = hostsOf(cache);
  const [first, second] = [app("b", early), app("a", early)];
  cache.accept(first);
  assert.equal(hosts.takenBy(first), undefined);
  cache.accept(second);
  assert.deepEqual([hosts.takenBy(second), hosts.takenBy(first)], [taken("b"), undefined]);
  cache.acceptDeletion({ namespace: "default", name: "app-b" }, "b");
  assert.equal(hosts.takenBy(second), undefined);
});

test("after a restart what is said of them tells who has it", () => {
  const cache = emptyCache();
  const hosts = hostsOf(cache);
  const [first, second] = [
    app("b", early, routed("NoAddress")),
    app("a", early, routed("Conflict")),
  ];
  for (const one of [second, first]) cache.accept(one);
  assert.deepEqual([hosts.takenBy(second), hosts.takenBy(first)], [taken("b"), undefined]);
});

test("the host of logins is no app's, however old that is", () => {
  const cache = emptyCache();
  const object = app("a", early);
  cache.accept(object);
  const told = `host ${host} is where people log in (AUTH_PUBLIC_URL): choose another`;
  const logins = hostsOf(cache, `https://${host}/auth/`);
  assert.deepEqual([logins.takenBy(object), logins.claimOn(host)], [told, told]);
  for (const elsewhere of ["https://auth.example.com", undefined]) {
    assert.equal(hostsOf(emptyCache(), elsewhere).takenBy(object), undefined);
  }
});
