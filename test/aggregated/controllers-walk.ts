// The host's own controllers at our objects: the deletion of namespaces, and garbage collection across both stores.

import assert from "node:assert/strict";

import { createNamespace } from "../apiserver/create-namespace.ts";
import { configMap } from "../apiserver/objects.ts";
import { untilCollectorKnows, type Collected } from "../apiserver/until-collector-knows.ts";
import { until } from "../tools/until.ts";
import { create, expectStatus, messageOf } from "./asking.ts";
import type { Bed } from "./bed.ts";
import { memory, ownerOf, pathOf } from "./objects.ts";

export async function controllersWalk(bed: Bed, signal: AbortSignal): Promise<void> {
  // It reads once in a while which kinds there are; a new one reads at once.
  await bed.oracle.stopProgram("kube-controller-manager");
  await bed.oracle.startProgram("kube-controller-manager", signal);
  await namespaceGoes(bed, signal);
  await ownersGo(bed, signal);
  await propagation(bed, signal);
}

async function namespaceGoes(bed: Bed, signal: AbortSignal): Promise<void> {
  const { client } = bed.oracle;
  const place = "/api/v1/namespaces/doomed";
  await createNamespace(bed.oracle, "doomed", signal);
  const memories = pathOf("memories", "doomed");
  for (let n = 0; n < 20; n += 1) await create(bed, memories, memory(`m-${n}`), signal);
  const held = memory("held", { finalizers: ["example.com/hold"] });
  await create(bed, memories, held, signal);
  await expectStatus(client, { method: "DELETE", path: place }, 200, signal);

  const request = { method: "POST", path: memories, body: memory("late") } as const;
  // Taken as long as we have not heard of it, and then it is there already.
  const late = await until(
    async () => {
      const answer = await client.send(request, signal);
      return answer.status === 403 && answer;
    },
    signal,
    "something new to be refused",
  );
  assert.equal(
    messageOf(late),
    'memories.ark.mckinsey.com "late" is forbidden: unable to create new content in namespace doomed because it is being terminated',
  );
  const { details } = late.body as { details: { causes: readonly object[] } };
  assert.deepEqual(details.causes, [
    {
      reason: "NamespaceTerminating",
      message: "namespace doomed is being terminated",
      field: "metadata.namespace",
    },
  ]);
  await until(async () => (await namesAt(bed, memories, signal)).join() === "held", signal);
  // Its condition says what is left, and who holds it.
  await until(async () => {
    const { text } = await client.send({ path: place }, signal);
    return /memories\.ark\.mckinsey\.com has 1 resource instances/.test(text);
  }, signal);
  const free = [{ op: "remove", path: "/metadata/finalizers" }];
  const headers = { "content-type": "application/json-patch+json" };
  const path = `${memories}/held`;
  await expectStatus(client, { method: "PATCH", path, body: free, headers }, 200, signal);
  await until(async () => (await client.send({ path: place }, signal)).status === 404, signal);
  assert.equal(
    messageOf(await expectStatus(client, request, 404, signal)),
    'namespaces "doomed" not found',
  );
}

/** One of the host's owns one of ours, and the other way round. */
async function ownersGo(bed: Bed, signal: AbortSignal): Promise<void> {
  const { client } = bed.oracle;
  await createNamespace(bed.oracle, "owned", signal);
  const configMaps = "/api/v1/namespaces/owned/configmaps";
  const memories = pathOf("memories", "owned");
  const theirs = await create(bed, configMaps, configMap("theirs"), signal);
  await create(bed, memories, memory("of-theirs", { owners: [ownerOf(theirs.body)] }), signal);
  const ours = await create(bed, memories, memory("ours"), signal);
  await create(
    bed,
    configMaps,
    configMap("of-ours", {}, { ownerReferences: [{ ...ownerOf(ours.body) }] }),
    signal,
  );
  await create(bed, memories, memory("of-ours", { owners: [ownerOf(ours.body)] }), signal);
  await create(bed, memories, memory("free"), signal);

  await expectStatus(client, { method: "DELETE", path: `${configMaps}/theirs` }, 200, signal);
  await expectStatus(client, { method: "DELETE", path: `${memories}/ours` }, 200, signal);
  await until(async () => {
    const left = [
      ...(await namesAt(bed, configMaps, signal)),
      ...(await namesAt(bed, memories, signal)),
    ];
    return left.join() === "kube-root-ca.crt,free" || left.join() === "free";
  }, signal);
}

/** API-12, by the host's collector: dependents first, or left alone. */
async function propagation(bed: Bed, signal: AbortSignal): Promise<void> {
  const { client } = bed.oracle;
  await createNamespace(bed.oracle, "cascade", signal);
  const memories = pathOf("memories", "cascade");
  const make: Collected["make"] = (name, owners) => memory(name, { owners });
  const send: Collected["send"] = async (request) => await client.send(request, signal);
  for (const [policy, left] of [
    ["Foreground", []],
    ["Orphan", ["child-0", "child-1", "child-2"]],
  ] as const) {
    const parent = await create(bed, memories, memory("parent"), signal);
    const owners = [{ ...ownerOf(parent.body), blockOwnerDeletion: true }];
    for (let n = 0; n < 3; n += 1) {
      await create(bed, memories, memory(`child-${n}`, { owners }), signal);
    }
    await untilCollectorKnows({ namespace: "cascade", collection: memories, make, send }, signal);
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: policy };
    const path = `${memories}/parent`;
    await expectStatus(client, { method: "DELETE", path, body }, 200, signal);
    const names = await until(async () => {
      const present = await namesAt(bed, memories, signal);
      return present.includes("parent") ? undefined : present;
    }, signal);
    assert.deepEqual(names, left, policy);
    const { text } = await expectStatus(client, { path: memories }, 200, signal);
    assert.doesNotMatch(text, /ownerReferences/);
  }
}

async function namesAt({ oracle }: Bed, path: string, signal: AbortSignal): Promise<string[]> {
  const { body } = await expectStatus(oracle.client, { path }, 200, signal);
  const { items } = body as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}
