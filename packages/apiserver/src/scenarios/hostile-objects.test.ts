// Objects of three megabytes whose errors or warnings would fill memory: each is answered, and the server serves on.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, suite, test } from "node:test";
import { Worker } from "node:worker_threads";

import type { JsonObject } from "@keelson/base";

import { Api, messageOf } from "../testing/api.ts";

const bytesMax = 3 * 1024 * 1024;

/** The real server in a thread of its own, which ends when it has used up its memory. */
const program = `
  import { parentPort } from "node:worker_threads";
  import { startTestServer } from "file://${import.meta.dirname}/../testing/test-server.ts";
  const server = await startTestServer({}, new AbortController().signal);
  parentPort.postMessage(server.url);
  parentPort.on("message", () => undefined);`;

/** As many items as a request has room for. */
function fill<T>(make: (index: number) => T, bytes = bytesMax - 4_096): T[] {
  const items: T[] = [];
  let size = 0;
  for (let index = 0; ; index++) {
    const item = make(index);
    size += JSON.stringify(item).length + 1;
    if (size > bytes) return items;
    items.push(item);
  }
}

const podSpec = (own: JsonObject, ofContainer: JsonObject = {}): JsonObject => ({
  containers: [{ name: "c", image: "i", ...ofContainer }],
  ...own,
});
const files = (make: (index: number) => string): JsonObject =>
  podSpec({
    volumes: [
      { name: "v", configMap: { name: "m", items: fill((n) => ({ key: "k", path: make(n) })) } },
    ],
  });
const half = bytesMax / 2 - 4_096;

const pods: readonly (readonly [what: string, code: number, spec: JsonObject])[] = [
  ["ports of one number", 201, podSpec({}, { ports: fill(() => ({ containerPort: 1 })) })],
  ["files of one path", 201, files(() => "a")],
  ["files that are not in each other's way", 201, files((index) => `f${index}`)],
  [
    "a path of slashes",
    201,
    podSpec({
      volumes: [
        {
          name: "v",
          configMap: {
            name: "m",
            items: [
              { key: "k", path: `a${"/".repeat(bytesMax - 4_096)}x` },
              { key: "k", path: "a" },
            ],
          },
        },
      ],
    }),
  ],
  ["variables of one name", 201, podSpec({}, { env: fill(() => ({ name: "a" })) })],
  [
    "a registry that is none",
    422,
    podSpec({
      volumes: [{ name: "v", quobyte: { registry: "a,".repeat(half), volume: "w" } }],
    }),
  ],
  [
    "claims that are not there",
    422,
    podSpec(
      { resourceClaims: fill((index) => ({ name: `c${index}`, resourceClaimName: "r" }), half) },
      { resources: { claims: fill((index) => ({ name: `d${index}` }), half) } },
    ),
  ],
  ["containers that are none", 422, { containers: fill(() => ({})) }],
  ["volumes that are none", 422, podSpec({ volumes: fill(() => ({ name: "-" })) })],
];

suite("hostile objects", () => {
  let worker: Worker;
  let api: Api;
  before(async () => {
    worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      resourceLimits: { maxOldGenerationSizeMb: 1_024 },
    });
    const [url] = (await once(worker, "message")) as [string];
    api = new Api(url, AbortSignal.timeout(600_000));
    // Of a server that has ended, the requests under way tell.
    worker.on("error", () => undefined);
    const account = { metadata: { name: "default" } };
    await api.create("/api/v1/namespaces/default/serviceaccounts", account);
  });
  after(() => worker.terminate());

  for (const [what, code, spec] of pods) {
    test(`a Pod with ${what} is answered with ${code}`, async () => {
      const name = what.replaceAll(/[^a-z]+/g, "-");
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
      const reply = await api.create("/api/v1/namespaces/default/pods?dryRun=All", pod);
      assert.equal(reply.code, code, messageOf(reply).slice(0, 1_000));
      const warning = reply.headers.get("warning") ?? "";
      assert.ok(warning.length < 16 * 1024, String(warning.length));
      if (code === 422)
        assert.match(messageOf(reply), /there are more errors than are told here]$/);
      assert.equal((await api.get("/api/v1/namespaces/default")).code, 200);
    });
  }

  test("a Pod's status that defaults make a hundred megabytes of is refused", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const own = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } };
    assert.equal((await api.create(pods, { ...own, spec: podSpec({}) })).code, 201);
    const body = { ...own, status: { containerStatuses: fill(() => ({})) } };
    const reply = await api.send("PUT", `${pods}/p/status`, { body });
    assert.equal(reply.code, 413, messageOf(reply));
    assert.equal((await api.get("/api/v1/namespaces/default")).code, 200);
  });

  for (const [what, path, object] of [
    [
      "a quota of scopes that do not fit",
      "/api/v1/namespaces/default/resourcequotas",
      {
        spec: {
          scopes: fill(() => "BestEffort", half),
          hard: Object.fromEntries(fill((index) => [`hugepages-${index}`, "1"] as const, half)),
        },
      },
    ],
    [
      "a class of empty terms",
      "/apis/storage.k8s.io/v1/storageclasses",
      { provisioner: "x.io/p", allowedTopologies: fill(() => ({})) },
    ],
  ] as const) {
    test(`${what} is refused`, async () => {
      const reply = await api.create(`${path}?dryRun=All`, { metadata: { name: "x" }, ...object });
      assert.equal(reply.code, 422, messageOf(reply).slice(0, 1_000));
      assert.match(messageOf(reply), /there are more errors than are told here]$/);
      assert.equal((await api.get("/api/v1/namespaces/default")).code, 200);
    });
  }
});
