// What the real server tells of its kinds, beside what we tell of the same.

import assert from "node:assert/strict";

import { readJson, seededRandom, type JsonObject } from "@keelson/base";
import {
  builtinResources,
  customResources,
  Discovery,
  OpenApi,
  Registry,
  type DocumentAnswer,
} from "@keelson/apiserver";
import { ManualClock } from "@keelson/base/testing";
import { loadBuiltinKinds, StatusError } from "@keelson/kube";

import { startOracle, type Oracle } from "./cluster.ts";
import { compare, describeDifference } from "./compare.ts";
import { definitions } from "./discovery-definitions.ts";
import { normaliseDiscovery, normaliseOpenApi } from "./discovery-normalise.ts";
import { trialSettings } from "./differential.ts";
import { versionsOnRequest } from "./every-kind.ts";
import { oracleTest } from "./oracle-test.ts";
import { randomSchema } from "./schema-cases.ts";
import { createKind, customGroup } from "./schema-differential.ts";
import { isEstablished } from "./is-established.ts";
import { until } from "../tools/until.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Kinds that the oracle has only when it is asked for them. */
const onlyOurs: ReadonlySet<string> = new Set(versionsOnRequest);

const kinds = await loadBuiltinKinds();

interface Asked {
  readonly path: string;
  readonly accept?: string;
  readonly ifNoneMatch?: string;
}

/** Our documents for the kinds that the oracle has. */
class Ours {
  readonly registry = new Registry();
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;

  constructor(oracle: Oracle) {
    const shared = builtinResources(kinds).filter(
      ({ group, version }) => !onlyOurs.has(`${group}/${version}`),
    );
    this.registry.put("built-in", shared);
    const { registry } = this;
    const { port } = new URL(oracle.url);
    this.#discovery = new Discovery({ registry, serverAddress: () => `192.0.2.1:${port}` });
    this.#openApi = new OpenApi({ registry, kinds, clock: new ManualClock() });
  }

  answer({ path, accept = "application/json", ifNoneMatch }: Asked): DocumentAnswer | undefined {
    const [plain = "", query] = path.split("?");
    const hash = query === undefined ? undefined : (new URLSearchParams(query).get("hash") ?? "");
    const request = { path: plain, accept, ifNoneMatch, hash };
    try {
      return this.#discovery.answer(request) ?? this.#openApi.answer(request);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { status: error.status.code ?? 0, headers: {}, body: new Uint8Array() };
    }
  }

  json(asked: Asked): JsonObject {
    const answer = this.answer(asked);
    assert.equal(answer?.status, 200, asked.path);
    return JSON.parse(Buffer.from(answer.body).toString()) as JsonObject;
  }
}

async function askOracle(
  oracle: Oracle,
  { path, accept, ifNoneMatch }: Asked,
  signal: AbortSignal,
) {
  const headers = {
    ...(accept === undefined ? {} : { accept }),
    ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
  };
  return oracle.client.send({ path, headers }, signal);
}

/** Gathers what differs, so that one run shows everything. */
class Differences {
  readonly #lines: string[] = [];
  count = 0;

  add(title: string, oracle: JsonObject, ours: JsonObject): void {
    this.count += 1;
    const found = compare(oracle, ours);
    for (const difference of found.slice(0, 20)) {
      this.#lines.push(`${title}: ${describeDifference(difference).slice(0, 400)}`);
    }
  }

  assertNone(): void {
    assert.deepEqual(this.#lines.slice(0, 60), []);
  }
}

async function compareDiscovery(oracle: Oracle, ours: Ours, signal: AbortSignal) {
  const differences = new Differences();
  const read = async (asked: Asked): Promise<JsonObject> => {
    const { text } = await askOracle(oracle, asked, signal);
    return JSON.parse(text) as JsonObject;
  };
  const groups = (await read({ path: "/apis" })) as unknown as {
    groups: { name: string; versions: { groupVersion: string }[] }[];
  };
  const documents: Asked[] = [
    ...["/api", "/apis", "/api/", "/apis/", "/api/v1", "/api/v1/"].map((path) => ({ path })),
    ...["/api", "/apis"].map((path) => ({ path, accept: aggregated })),
    ...groups.groups.flatMap(({ name, versions }) => [
      { path: `/apis/${name}` },
      ...versions.map(({ groupVersion }) => ({ path: `/apis/${groupVersion}` })),
    ]),
  ];
  for (const asked of documents) {
    const title = `${asked.path} ${asked.accept ?? ""}`;
    differences.add(
      title,
      normaliseDiscovery(await read(asked)),
      normaliseDiscovery(ours.json(asked)),
    );
  }
  return differences;
}

async function compareOpenApi(oracle: Oracle, ours: Ours, signal: AbortSignal) {
  const differences = new Differences();
  const read = async (path: string): Promise<JsonObject> => {
    const { text } = await oracle.client.send({ path }, signal);
    return JSON.parse(text) as JsonObject;
  };
  const index = (document: JsonObject): string[] =>
    Object.keys(document["paths"] as JsonObject)
      .filter((name) => !name.includes("openid"))
      .sort();
  const names = index(await read("/openapi/v3"));
  assert.deepEqual(index(ours.json({ path: "/openapi/v3" })), names);
  for (const name of names) {
    const path = `/openapi/v3/${name}`;
    const document = normaliseOpenApi(ours.json({ path }));
    differences.add(path, normaliseOpenApi(await read(path)), document);
  }
  differences.add(
    "/openapi/v2",
    normaliseOpenApi(await read("/openapi/v2")),
    normaliseOpenApi(ours.json({ path: "/openapi/v2" })),
  );
  return differences;
}

oracleTest(
  "discovery and OpenAPI of the built-in kinds are those of the real server",
  async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const ours = new Ours(oracle);
    const discovery = await compareDiscovery(oracle, ours, t.signal);
    discovery.assertNone();
    const openApi = await compareOpenApi(oracle, ours, t.signal);
    openApi.assertNone();
    t.diagnostic(`${discovery.count} documents of discovery, ${openApi.count} of OpenAPI`);
  },
);

oracleTest("formats, names and paths are answered as the real server does", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const ours = new Ours(oracle);
  const yaml = aggregated.replace("json", "yaml");
  const asked: Asked[] = [
    { path: "/apis", accept: aggregated },
    { path: "/apis/", accept: aggregated },
    { path: "/apis", accept: yaml },
    { path: "/apis", accept: aggregated.replace("v=v2", "v=v2beta1") },
    { path: "/apis", accept: `${aggregated};profile=nopeer` },
    { path: "/apis", accept: `${aggregated},application/json` },
    { path: "/apis", accept: `${aggregated.replace("v=v2", "v=v3")},application/json` },
    { path: "/apis", accept: "application/yaml" },
    { path: "/apis", accept: "*/*" },
    { path: "/apis", accept: "text/html" },
    { path: "/apis/apps", accept: "application/yaml" },
    { path: "/apis/apps/v1", accept: aggregated },
    { path: "/version" },
    { path: "/version/" },
    { path: "/openapi/v2" },
    { path: "/openapi/v2", accept: "application/yaml" },
    { path: "/openapi/v3/apis/apps/v1" },
    { path: "/openapi/v3/apis/apps/v1", accept: "*/*" },
    { path: "/openapi/v3/apis/apps/v1", accept: "text/html" },
    { path: "/openapi/v3/apis/apps/v1?hash=abc" },
    { path: "/openapi/v3/apis/nope/v1" },
    { path: "/openapi/v3/" },
  ];
  const shown = ["content-type", "cache-control", "vary"];
  const pick = (headers: Readonly<Record<string, unknown>>, status: number): JsonObject =>
    Object.fromEntries(
      shown
        .filter((name) => headers[name] !== undefined && status < 400)
        // Compression is decided above us.
        .map((name) => [name, String(headers[name]).replace("Accept-Encoding, ", "")]),
    );
  const differences: string[] = [];
  for (const one of asked) {
    const theirs = await askOracle(oracle, one, t.signal);
    const mine = ours.answer(one);
    const expected = { status: theirs.status, ...pick(theirs.headers, theirs.status) };
    const actual = {
      status: mine?.status ?? 404,
      ...pick(mine?.headers ?? {}, mine?.status ?? 404),
    };
    // A redirect has no body of ours.
    if (theirs.status === 301) delete (expected as Record<string, unknown>)["content-type"];
    for (const difference of compare(expected, actual)) {
      differences.push(`${one.path} ${one.accept ?? ""}: ${describeDifference(difference)}`);
    }
    const etag = theirs.headers.etag;
    assert.equal(mine?.headers["etag"] === undefined, etag === undefined, one.path);
    if (etag === undefined || theirs.status !== 200) continue;
    // Each side is asked again with its own name for the content.
    const again = await askOracle(oracle, { ...one, ifNoneMatch: etag }, t.signal);
    const ownEtag = mine?.headers["etag"] ?? "";
    const ourAgain = ours.answer({ ...one, ifNoneMatch: ownEtag });
    assert.deepEqual([ourAgain?.status, ourAgain?.body.length], [again.status, 0], one.path);
    assert.match(ownEtag, /^"[0-9A-F]{128}"$/);
  }
  assert.deepEqual(differences, []);

  const { text } = await oracle.client.send({ path: "/version" }, t.signal);
  const version = JSON.parse(text) as JsonObject;
  const own = ours.json({ path: "/version" });
  assert.deepEqual(Object.keys(own), Object.keys(version));
  assert.equal(own["gitVersion"], `${version["gitVersion"] as string}+keelson`);
  assert.deepEqual([own["major"], own["minor"]], [version["major"], version["minor"]]);
});

oracleTest("discovery and OpenAPI of custom kinds are those of the real server", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const ours = new Ours(oracle);
  for (const body of definitions) {
    const sent = { method: "POST", path: definitionsPath, body } as const;
    const { status, text } = await oracle.client.send(sent, t.signal);
    assert.equal(status, 201, text);
  }
  const established = await until(async () => {
    const { body } = await oracle.client.send({ path: definitionsPath }, t.signal);
    const { items } = body as { items: JsonObject[] };
    const isReady = items.every(isEstablished);
    return isReady && items.length === definitions.length ? items : undefined;
  }, t.signal);
  const resources = established.flatMap(customResources);
  ours.registry.put("custom", resources);
  const versions = new Set(resources.map(({ group, version }) => `apis/${group}/${version}`));

  // The real server publishes in its own time, each document by a loop of its own.
  await until(async () => {
    const read = async (asked: Asked): Promise<string> =>
      (await askOracle(oracle, asked, t.signal)).text;
    const whole = await read({ path: "/apis", accept: aggregated });
    for (const { group, version, plural } of resources) {
      const ofGroup = await read({ path: `/apis/${group}` });
      const ofVersion = await read({ path: `/apis/${group}/${version}` });
      if (!ofGroup.includes(`"${group}/${version}"`)) return false;
      if (![ofVersion, whole].every((text) => text.includes(`"${plural}"`))) return false;
    }
    return true;
  }, t.signal);
  await until(async () => {
    const { text } = await oracle.client.send({ path: "/openapi/v3" }, t.signal);
    const { paths } = JSON.parse(text) as { paths: JsonObject };
    if (![...versions].every((version) => version in paths)) return false;
    const shapes = await oracle.client.send(
      { path: "/openapi/v3/apis/shapes.example.com/v1" },
      t.signal,
    );
    const whole = await oracle.client.send({ path: "/openapi/v2" }, t.signal);
    const documents = established.flatMap(customResources).map(({ group, version, plural }) => ({
      path: `/apis/${group}/${version}/`,
      plural,
    }));
    return (
      shapes.text.includes("/boxes") &&
      documents.every(({ path, plural }) => new RegExp(`${path}[^"]*${plural}"`).test(whole.text))
    );
  }, t.signal);

  const discovery = await compareDiscovery(oracle, ours, t.signal);
  discovery.assertNone();
  const openApi = await compareOpenApi(oracle, ours, t.signal);
  openApi.assertNone();
  t.diagnostic(`${discovery.count} documents of discovery, ${openApi.count} of OpenAPI`);
});

oracleTest("schemas made at random are published as the real server publishes them", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const ours = new Ours(oracle);
  const { seed, count } = trialSettings(120);
  const { client } = oracle;
  const perKind = 30;
  let fields = 0;
  for (let round = 0; round * perKind < count; round += 1) {
    const random = seededRandom(`${seed}/publish/${round}`);
    const properties = Object.fromEntries(
      Array.from({ length: perKind }, (_, index) => [
        `f${index}`,
        randomSchema(random, 3, { extensions: true }),
      ]),
    );
    const kind = await createKind(client, `kind${round}`, properties, t.signal);
    fields += Object.keys(kind.fields).length;
  }
  const { text } = await client.send({ path: definitionsPath }, t.signal);
  const { items } = readJson(text) as { items: JsonObject[] };
  const resources = items.flatMap(customResources);
  ours.registry.put("custom", resources);
  const names = resources.map(({ kind }) => `com.example.differential.v1.${kind}"`);
  const path = `/openapi/v3/apis/${customGroup}/v1`;
  const published = await until(async () => {
    const [v3, v2] = await Promise.all(
      [path, "/openapi/v2"].map((one) => client.send({ path: one }, t.signal)),
    );
    const isThere = names.every((name) => v3?.text.includes(name) && v2?.text.includes(name));
    return isThere ? { v3: v3?.text ?? "", v2: v2?.text ?? "" } : undefined;
  }, t.signal);
  const differences = new Differences();
  const asJson = (whole: string): JsonObject => normaliseOpenApi(JSON.parse(whole) as JsonObject);
  differences.add(`seed ${seed} v3`, asJson(published.v3), normaliseOpenApi(ours.json({ path })));
  const whole = { path: "/openapi/v2" };
  differences.add(`seed ${seed} v2`, asJson(published.v2), normaliseOpenApi(ours.json(whole)));
  t.diagnostic(`${fields} schemas, seed ${seed}`);
  differences.assertNone();
});
