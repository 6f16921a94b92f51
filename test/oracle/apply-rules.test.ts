// Rules of managed fields that generated cases cannot show: times, dry runs, and what a first apply meets.

import assert from "node:assert/strict";

import { isJsonObject, readJson, type Json, type JsonObject } from "@keelson/base";
import { fieldManager, keepTimes, StatusError } from "@keelson/kube";

import { startOracle, type Oracle } from "./cluster.ts";
import { publishedSchemas } from "./differential/openapi-schemas.ts";
import { oracleTest } from "./oracle-test.ts";
import { until } from "../tools/until.ts";

const path = "/api/v1/namespaces/default/configmaps";

interface Write {
  readonly manager: string;
  readonly force?: boolean;
  readonly data: JsonObject;
}

oracleTest("apply changes times only with what they are about", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const schema = (await publishedSchemas(oracle.client, "v1", t.signal)).get("ConfigMap");
  const manager = fieldManager({
    group: "",
    version: "v1",
    kind: "ConfigMap",
    schema,
    empty: { metadata: {} },
  });

  let live: JsonObject | undefined;
  const script: readonly Write[] = [
    { manager: "one", data: { a: "1" } },
    { manager: "one", data: { a: "1" } },
    { manager: "two", data: { a: "1" } },
    { manager: "two", data: { a: "1", b: "2" } },
    { manager: "one", data: {} },
    { manager: "two", data: { a: "2" } },
    { manager: "one", force: true, data: { a: "3" } },
    { manager: "one", force: true, data: { a: "3" } },
  ];
  for (const [index, write] of script.entries()) {
    // Times have seconds: only in another one does a change of time show.
    const second = secondNow();
    await until(() => secondNow() > second, t.signal);
    const config = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "times" },
      data: write.data,
    };
    const real = await apply(oracle, write, config, t.signal);
    const now = newestTime(real) ?? "";
    const before = live;
    const applied = outcomeOf(() => {
      const { object } = manager.apply(before, config, {
        manager: write.manager,
        force: write.force === true,
        now,
      });
      return before === undefined ? object : keepTimes(object, before);
    });
    assert.deepEqual(entriesOf(applied), entriesOf(real), `step ${index}`);
    live = real;
  }
});

function secondNow(): number {
  return Math.floor(Date.now() / 1000);
}

async function apply(
  oracle: Oracle,
  { manager, force }: Write,
  config: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const query = `?fieldManager=${manager}${force === true ? "&force=true" : ""}`;
  const response = await oracle.client.send(
    {
      method: "PATCH",
      path: `${path}/times${query}`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: config,
    },
    signal,
  );
  const body = readJson(response.text);
  assert.ok(isJsonObject(body));
  return body;
}

function outcomeOf(call: () => JsonObject): JsonObject {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return JSON.parse(JSON.stringify(error.status)) as JsonObject;
  }
}

/** The managed fields, or the message of a refusal. */
function entriesOf(object: JsonObject): Json | undefined {
  if (object["kind"] === "Status") return object["message"];
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata["managedFields"] : undefined;
}

function newestTime(object: JsonObject): string | undefined {
  const entries = entriesOf(object);
  if (!Array.isArray(entries)) return undefined;
  return (entries as readonly JsonObject[])
    .map(({ time }) => (typeof time === "string" ? time : ""))
    .sort()
    .at(-1);
}
