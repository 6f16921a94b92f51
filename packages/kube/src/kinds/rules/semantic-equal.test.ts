import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import structs from "../data/structs.json" with { type: "json" };
import { semanticEqual } from "./semantic-equal.ts";

/** What is compared so, and all that is in it. */
const roots = [
  "apps.v1.DaemonSetSpec",
  "apps.v1.DeploymentSpec",
  "apps.v1.ReplicaSetSpec",
  "apps.v1.StatefulSetSpec",
  "batch.v1.CronJobSpec",
  "batch.v1.JobSpec",
  "core.v1.ConfigMap",
  "core.v1.EndpointSubset",
  "core.v1.PersistentVolumeClaimSpec",
  "core.v1.PersistentVolumeSpec",
  "core.v1.PodSpec",
  "core.v1.ReplicationControllerSpec",
  "core.v1.Secret",
  "core.v1.ServiceSpec",
];

interface Field {
  readonly path: string;
  readonly type: string;
  /** The field with a text in it, in all that it is in. */
  readonly holding: (text: string) => JsonObject;
}

const fields = new Map<string, Field>();
for (const root of roots) gather(root, { path: root, wrap: (inner) => inner });

function gather(
  struct: string,
  { path, wrap }: { readonly path: string; readonly wrap: (inner: JsonObject) => JsonObject },
): void {
  const known = structs as unknown as Readonly<
    Record<
      string,
      { readonly fields?: readonly (readonly [string, number, string, string?])[] } | undefined
    >
  >;
  for (const [member, , type, word] of known[struct]?.fields ?? []) {
    const here = `${struct}.${member}`;
    const plain = type.replace(/^(?:\*|\[\])+/, "");
    const isMap = plain.startsWith("map[string]");
    const element = plain.replace("map[string]", "");
    if (fields.has(here)) continue;
    const holding = (text: string): JsonObject =>
      wrap({ [member]: isMap ? { max: text, capacity: text } : text });
    if (element === "string" || element === "quantity.Quantity") {
      if (!type.startsWith("[]")) fields.set(here, { path: `${path}.${member}`, type, holding });
      continue;
    }
    fields.set(here, { path: "", type: "", holding });
    const isList = type.includes("[]");
    gather(element, {
      path: `${path}.${member}`,
      wrap: (inner) => wrap(word === "inline" ? inner : { [member]: isList ? [inner] : inner }),
    });
  }
}

suite("equality of meaning", () => {
  test("amounts are compared as amounts where the schema has them, and nowhere else", () => {
    const compared = [...fields.values()].filter(({ path }) => path !== "");
    const differing = compared.filter(({ type, holding }) => {
      const isAmount = type.includes("quantity.Quantity");
      return semanticEqual(holding("1Gi"), holding("1024Mi")) !== isAmount;
    });
    assert.deepEqual(
      differing.map(({ path }) => path),
      [],
    );
    const counted = compared.filter(({ type }) => type.includes("quantity.Quantity"));
    assert.ok(counted.length >= 8, "amounts were found");
  });

  test("other amounts are other amounts", () => {
    const holding = (cpu: string): JsonObject => ({ resources: { limits: { cpu } } });
    assert.ok(semanticEqual(holding("1"), holding("1000m")));
    assert.ok(!semanticEqual(holding("1"), holding("2")));
    assert.ok(!semanticEqual(holding("1"), holding("x")));
  });

  test("nothing and null are the same", () => {
    assert.ok(semanticEqual(undefined, null));
    assert.ok(!semanticEqual(undefined, {}));
  });
});
