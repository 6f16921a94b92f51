// Two managers of controller-runtime, one lease: one works, and when it ends the other goes on.

import assert from "node:assert/strict";

import { until } from "../../tools/until.ts";
import { createNamespace } from "../create-namespace.ts";
import { configMap } from "../objects.ts";
import type { Target } from "../target.ts";
import { Commands } from "./commands.ts";

export async function managerWalk(
  target: Target,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const { client } = target;
  const commands = new Commands(target);
  await createNamespace(target, namespace, signal);
  const create = async (name: string): Promise<void> => {
    const body = configMap(name, { a: "1", b: "2" }, { labels: { reconcile: "yes" } });
    const { status, text } = await client.send(
      { method: "POST", path: `/api/v1/namespaces/${namespace}/configmaps`, body },
      signal,
    );
    assert.equal(status, 201, text);
  };
  const seen = async (name: string): Promise<void> => {
    await until(async () => {
      const { body } = await client.send(
        { path: `/api/v1/namespaces/${namespace}/configmaps/${name}` },
        signal,
      );
      return (
        (body as { metadata: { annotations?: Record<string, string> } }).metadata.annotations?.[
          "keelson.dev/seen"
        ] === "2"
      );
    }, signal);
  };
  // Whoever loses its lease ends: a machine that stands still for seconds must not take it. Who is told to end gives it back.
  const flags = [`-cluster=${target.kubeconfig}`, `-namespace=${namespace}`, "-lease=40s"];
  await using first = commands.start("manager", flags, signal);
  await first.until(/^leading$/);
  await create("one");
  await seen("one");

  await using second = commands.start("manager", flags, signal);
  await second.until(/^started$/);
  first.kill("SIGTERM");
  await second.until(/^leading$/);
  await create("two");
  await seen("two");

  const lease = await client.send(
    { path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/keelson-test-manager` },
    signal,
  );
  const { spec } = lease.body as { spec: { leaseTransitions: number; renewTime: string } };
  assert.ok(spec.leaseTransitions >= 1, lease.text);
  assert.match(spec.renewTime, /\.\d{6}Z$/);
  await until(async () => {
    const { body } = await client.send(
      { path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events` },
      signal,
    );
    const { items } = body as { items: readonly { reason: string; regarding: { name: string } }[] };
    return ["one", "two"].every((name) =>
      items.some(({ reason, regarding }) => reason === "Reconciled" && regarding.name === name),
    );
  }, signal);
}
