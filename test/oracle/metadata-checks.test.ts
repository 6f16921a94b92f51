// How often the real server says that something is wrong with the metadata of an update: each kind in its way.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, metadataChecks, type BuiltinKind } from "@keelson/kube";

import { oracleTest, sharedLaboratory, type Answer, type Laboratory } from "./differential.ts";
import { everyKind } from "./every-kind.ts";
import { minimalObjects, type MinimalObject } from "./kinds/minimal-objects.ts";
import { apiVersionOf, collectionPath } from "./kinds/paths.ts";
import { until } from "../tools/until.ts";

const namespace = "lab-0";
/** The metadata of every update is judged as a whole, and by what has changed. */
const checksOfAll = 2;

suite("metadata of updates against the oracle", () => {
  const open = sharedLaboratory({ flags: everyKind });

  oracleTest("a wrong label is told of as often as the real server does", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const ours: Record<string, number> = {};
    const oracle: Record<string, number> = {};
    for (const [index, [name, minimal]] of Object.entries(minimalObjects).entries()) {
      const [group = "", version = "", kindName = ""] = name.split("/");
      const kind = kinds.find({ group, version, kind: kindName });
      assert.ok(kind !== undefined, name);
      const path = await create(laboratory, { kind, minimal, index }, t.signal);
      for (const subresource of ["", "status", "approval"]) {
        if (subresource !== "" && !kind.subresources.some((one) => one.name === subresource)) {
          continue;
        }
        const count = await causesOfLabel(laboratory, { path, subresource }, t.signal);
        // Most subresources leave the labels as they are.
        if (subresource !== "" && count === 0) continue;
        oracle[`${name} ${subresource}`] = count;
        ours[`${name} ${subresource}`] = checksOfAll + metadataChecks(kind, subresource).length;
      }
      await laboratory.send({ method: "DELETE", path }, t.signal);
    }
    assert.deepEqual(ours, oracle);
  });
});

/** Creates the least that the kind takes, and says where it is. */
async function create(
  laboratory: Laboratory,
  {
    kind,
    minimal,
    index,
  }: {
    readonly kind: BuiltinKind;
    readonly minimal: MinimalObject;
    readonly index: number;
  },
  signal: AbortSignal,
): Promise<string> {
  const name = minimal.name?.(index) ?? `labelled-${index}`;
  const fields = typeof minimal.fields === "function" ? minimal.fields(name) : minimal.fields;
  const body = JSON.parse(
    JSON.stringify({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name, ...(kind.isNamespaced ? { namespace } : {}) },
      ...fields,
    }).replaceAll("NAMESPACE", namespace),
  ) as Json;
  const collection = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
  await laboratory.must({ method: "POST", path: collection, body }, signal);
  return `${collection}/${encodeURIComponent(name)}`;
}

/** How many causes a refusal has because of one wrong label. */
async function causesOfLabel(
  laboratory: Laboratory,
  { path, subresource }: { readonly path: string; readonly subresource: string },
  signal: AbortSignal,
): Promise<number> {
  const attempt = async (): Promise<Answer | undefined> => {
    const old = objectOf(await laboratory.must({ path }, signal));
    const metadata = objectOf(old["metadata"] ?? {});
    const labels = { ...objectOf(metadata["labels"] ?? {}), a: "b c" };
    const body = { ...old, metadata: { ...metadata, labels } };
    const endpoint = subresource === "" ? path : `${path}/${subresource}`;
    const answer = await laboratory.send({ method: "PUT", path: endpoint, body }, signal);
    return answer.status === 409 ? undefined : answer;
  };
  const { body } = await until(attempt, signal, `a change of ${path} that nobody forestalls`);
  const causes = objectOf(objectOf(body ?? {})["details"] ?? {})["causes"] ?? [];
  assert.ok(isJsonArray(causes));
  return causes.filter((cause) => objectOf(cause)["field"] === "metadata.labels").length;
}

function objectOf(value: Json): JsonObject {
  assert.ok(isJsonObject(value), JSON.stringify(value));
  return value;
}
