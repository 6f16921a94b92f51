// The judge itself, before a server that writes by our own rules.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { readJson, writeJson, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds } from "@keelson/kube";

import type { HttpClient, Request, Response } from "../../tools/http-client.ts";
import { benchFor, judge } from "./judge.ts";
import { managersOf, withManagers } from "./managers.ts";
import { builtInSubjects } from "./subjects.ts";

/** After the second in which the judge asks, before that which it notes for itself. */
const oneSecond = "2998-01-01T00:00:00Z";

suite("the judge of patches", () => {
  test("lets more updaters than an object remembers write in one second", async (t) => {
    const subject = builtInSubjects.find(({ kind }) => kind === "ConfigMap");
    assert.ok(subject !== undefined);
    let live: JsonObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "1" },
      data: { made: "x" },
    };
    // A write is tried before it is made: what was tried last is what comes of it.
    let tried = live;
    const send = async ({ method, path, body }: Request): Promise<Response> => {
      if (method === "PUT") return answer((tried = readJson(String(body)) as JsonObject));
      const manager = new URL(path, "https://localhost").searchParams.get("fieldManager") ?? "";
      const resourceVersion = manager;
      const next = withManagers(tried, managersOf(live));
      const stored = bench.manager.update(live, next, { manager, now: oneSecond });
      const metadata = { ...(stored["metadata"] as JsonObject), resourceVersion };
      return answer({ ...stored, metadata });
    };
    const properties = {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      data: { type: "object", additionalProperties: { type: "string" } },
    } as const;
    const bench = benchFor(subject, {
      schema: { type: "object", properties },
      kinds: await loadBuiltinKinds(),
      client: { send } as unknown as HttpClient,
    });

    live = bench.manager.update(undefined, live, { manager: "creator", now: oneSecond });
    // Whoever comes last is the first by name, and so the first that is forgotten.
    for (let number = 30; number >= 10; number--) {
      const manager = `manager-${number}`;
      const body = { data: { [manager]: "x" } };
      const step = { type: "merge", manager, force: false, subresource: "", body } as const;
      const verdict = await judge(bench, live, step, t.signal);
      assert.deepEqual(verdict.differences, [], manager);
      live = verdict.live;
    }
    assert.match(writeJson(live), /ancient-changes/);
  });
});

function answer(object: JsonObject): Response {
  const text = writeJson(object);
  const bytes = Buffer.from(text);
  return { status: 200, headers: {}, warnings: [], text, bytes, body: JSON.parse(text) as unknown };
}
