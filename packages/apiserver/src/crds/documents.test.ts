import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemClock, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { migratePostgres, PostgresBackend, Store } from "@keelson/store";

import { Api } from "../testing/api.ts";
import { definition, definitions, serve, twoVersions } from "../testing/definitions.ts";
import { startTestServer } from "../testing/test-server.ts";

const group = "example.com";
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** In which documents a version of a kind of ours is. */
async function documentsWith(
  api: Api,
  { version, plural, kind }: { version: string; plural: string; kind: string },
): Promise<Readonly<Record<string, boolean>>> {
  const has = (text: string, ...parts: readonly string[]): boolean =>
    parts.every((part) => text.includes(part));
  const [groups, ofGroup, ofVersion, all, index, v3, v2] = await Promise.all([
    api.get("/apis"),
    api.get(`/apis/${group}`),
    api.get(`/apis/${group}/${version}`),
    api.send("GET", "/apis", { headers: { accept: aggregated } }),
    api.get("/openapi/v3"),
    api.get(`/openapi/v3/apis/${group}/${version}`),
    api.get("/openapi/v2"),
  ]);
  const path = `/apis/${group}/${version}/${plural}`;
  return {
    "the groups": has(groups.text, `"groupVersion":"${group}/${version}"`),
    "the group": has(ofGroup.text, `"groupVersion":"${group}/${version}"`),
    "the version": has(ofVersion.text, `"name":"${plural}"`),
    "all at once": versionsOf(all.object).includes(`${version}/${plural}`),
    "the index of OpenAPI": has(index.text, `"apis/${group}/${version}"`),
    "OpenAPI v3": has(v3.text, `"${path}"`, `com.example.${version}.${kind}"`),
    "OpenAPI v2": has(v2.text, `"${path}"`, `com.example.${version}.${kind}"`),
  };
}

/** What aggregated discovery has of our group: `v1/widgets`. */
function versionsOf(document: JsonObject): readonly string[] {
  const { items } = document as unknown as {
    items: {
      metadata: { name: string };
      versions: { version: string; resources: { resource: string }[] }[];
    }[];
  };
  return items
    .filter(({ metadata }) => metadata.name === group)
    .flatMap(({ versions }) => versions)
    .flatMap(({ version, resources }) => resources.map(({ resource }) => `${version}/${resource}`));
}

const everywhere = async (...args: Parameters<typeof documentsWith>): Promise<boolean> =>
  Object.values(await documentsWith(...args)).every(Boolean);
const nowhere = async (...args: Parameters<typeof documentsWith>): Promise<boolean> =>
  !Object.values(await documentsWith(...args)).some(Boolean);

suite("documents of custom kinds", () => {
  const widgets = { version: "v1", plural: "widgets", kind: "Widget" };

  test("have a kind as soon as its objects are served, and no longer than that", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    assert.ok(await nowhere(api, widgets));
    await serve(api, definition("widgets", "Widget"));
    // Not eventually: whoever was served one moment ago looks for it here.
    const found = await documentsWith(api, widgets);
    assert.deepEqual(
      Object.entries(found).filter(([, isThere]) => !isThere),
      [],
    );
    await api.delete(`${definitions}/widgets.example.com`);
    const isGone = async (): Promise<boolean> =>
      (await api.get("/apis/example.com/v1/widgets")).code === 404;
    await until(isGone, "its objects are not served");
    const left = await documentsWith(api, widgets);
    assert.deepEqual(
      Object.entries(left).filter(([, isThere]) => isThere),
      [],
    );
  });

  test("KB 60 have those versions of it that are served", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const second = { ...widgets, version: "v2" };
    await serve(api, twoVersions({}));
    for (const isServed of [true, false, true]) {
      const { spec = {} } = twoVersions({ served: isServed });
      await api.merge(`${definitions}/widgets.example.com`, { spec });
      const isThere = isServed ? everywhere : nowhere;
      await until(() => isThere(api, second), `v2 is ${isServed ? "everywhere" : "nowhere"}`);
      assert.ok(await everywhere(api, widgets));
    }
  });

  test("of every replica have it, whichever was told", async (t) => {
    const { url } = await sharedThrowawayPostgres("embedded");
    const schema = "documents";
    await migratePostgres({ url, schema });
    const open = async (): Promise<Store> => {
      const backend = await PostgresBackend.open({ url, schema, clock: systemClock }, t.signal);
      return Store.open({ backend, limits: { compactionEveryMs: undefined } }, t.signal);
    };
    await using first = await open();
    await using second = await open();
    await using one = await startTestServer({ store: first }, t.signal);
    await using other = await startTestServer({ store: second }, t.signal);
    const [here, there] = [new Api(one.url, t.signal), new Api(other.url, t.signal)];
    await serve(here, definition("widgets", "Widget"));
    await until(() => everywhere(there, widgets), "the other replica has it");
    await there.delete(`${definitions}/widgets.example.com`);
    await until(() => nowhere(here, widgets), "this replica has it no longer");
  });
});
