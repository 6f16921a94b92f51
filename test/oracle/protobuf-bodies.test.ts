import assert from "node:assert/strict";
import { suite } from "node:test";

import { jsonEqual, readJson, writeJson, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec } from "@keelson/kube";
import { loadKindExamples } from "@keelson/kube/testing";
import { startOracle } from "./cluster.ts";
import { oracleTest } from "./oracle-test.ts";

const type = "application/vnd.kubernetes.protobuf";

suite("protobuf against the oracle", () => {
  oracleTest("it takes our bytes, and we read its own, for every kind", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const { client } = oracle;
    const kinds = await loadBuiltinKinds();
    const examples = await loadKindExamples();
    const codec = new ProtobufCodec(kinds);
    let made = 0;
    let read = 0;
    for (const kind of kinds.all) {
      const example = examples[`${kind.group}/${kind.version}/${kind.kind}`];
      if (example === undefined) continue;
      const { namespace } = (example.sent["metadata"] ?? {}) as { namespace?: string };
      const prefix = kind.group === "" ? "/api" : `/apis/${kind.group}`;
      if (namespace !== undefined) {
        const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
        await client.send({ method: "POST", path: "/api/v1/namespaces", body }, t.signal);
      }
      const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
      const collection = `${prefix}/${kind.version}${where}/${kind.plural}`;
      const bytes = Buffer.from(codec.encode(example.sent));
      const headers = { "content-type": type };
      const byBytes = await client.send(
        { method: "POST", path: `${collection}?dryRun=All`, body: bytes, headers },
        t.signal,
      );
      const byJson = await client.send(
        { method: "POST", path: `${collection}?dryRun=All`, body: example.sent },
        t.signal,
      );
      if (byJson.status !== 201) continue; // Not served unless asked for.
      assert.equal(byBytes.status, 201, `${kind.kind} ${byBytes.text}`);
      assert.ok(
        jsonEqual(timeless(byBytes.text), timeless(byJson.text)),
        `${kind.kind}\n${byBytes.text}\n${byJson.text}`,
      );
      made++;
      const [asBytes, asJson] = await Promise.all([
        client.send({ path: collection, headers: { accept: type } }, t.signal),
        client.send({ path: collection }, t.signal),
      ]);
      const decoded = codec.decode(asBytes.bytes);
      const items = (list: JsonObject): Json => list["items"] ?? [];
      const theirs = items(readJson(asJson.text) as JsonObject);
      assert.ok(
        jsonEqual(items(decoded), theirs),
        `${kind.kind}\n${writeJson(items(decoded))}\n${writeJson(theirs)}`,
      );
      read += (theirs as Json[]).length;
    }
    t.diagnostic(`${made} kinds written, ${read} objects in lists read`);
    assert.ok(made > 55);
  });
});

/** Without what the server makes up anew for each request. */
function timeless(text: string): Json {
  const stable = text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "uid")
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, "time")
    .replaceAll(/"clusterIPs?":(?:\[[^\]]*\]|"[^"]*")/g, '"ip":0');
  const { metadata, ...rest } = readJson(stable) as JsonObject;
  // A list that was sent empty is not there in protobuf: nobody owns it then.
  const { managedFields: _owned, ...named } = metadata as JsonObject;
  return { ...rest, metadata: named };
}
