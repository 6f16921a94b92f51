// Informers against writes: what they hold in the end is what a list says.

import { setTimeout as wait } from "node:timers/promises";

import { seededRandom, type Random } from "@keelson/base";

import { createNamespace } from "../create-namespace.ts";
import { configMap, deployment, secret } from "../objects.ts";
import type { Target } from "../target.ts";
import { Caches } from "./caches.ts";

export interface InformerOptions {
  readonly namespace: string;
  readonly writes: number;
}

/** All sorts of caches while somebody writes; then each is compared with a list. */
export async function informerWalk(
  target: Target,
  { namespace, writes }: InformerOptions,
  signal: AbortSignal,
): Promise<void> {
  await createNamespace(target, namespace, signal);
  await using caches = await Caches.start(target, { namespace }, signal);
  await writeAround(target, { namespace, writes, seed: namespace }, signal);
  await caches.assertLevel(signal);
}

/** Objects that are written, and whether an update replaces them or is a merge patch. */
export interface WrittenKind {
  readonly path: string;
  readonly make: (name: string, random: Random) => object;
  readonly isPatched?: boolean;
}

const labels = (random: Random): Record<string, string> => ({
  n: String(random.integer(1_000_000)),
  // The manager answers to these.
  ...(random.integer(4) === 0 ? { reconcile: "yes" } : {}),
});

function builtinIn(namespace: string): readonly WrittenKind[] {
  return [
    {
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      make: (name, random) => configMap(name, { n: "1" }, { labels: labels(random) }),
    },
    {
      path: `/api/v1/namespaces/${namespace}/secrets`,
      make: (name, random) => secret(name, { labels: labels(random) }),
    },
    {
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      make: (name, random) => deployment(name, { replicas: random.integer(100) }),
    },
  ];
}

/** Longer than any trouble lasts. */
const silenceMsMax = 180_000;

/** Creates, updates and deletes a few objects until so many tries were answered. Answers how many of the writes were taken. */
export async function writeAround(
  { client }: Pick<Target, "client">,
  {
    namespace,
    writes,
    seed,
    kinds = builtinIn(namespace),
  }: InformerOptions & { readonly seed: string; readonly kinds?: readonly WrittenKind[] },
  signal: AbortSignal,
): Promise<number> {
  const random = seededRandom(seed);
  let taken = 0;
  let answeredAt = performance.now();
  for (let answered = 0; answered < writes;) {
    const { path, make, isPatched = false } = random.pick(kinds);
    const name = `o-${random.integer(12)}`;
    const send = async (): Promise<number> => {
      switch (random.integer(4)) {
        case 0:
          return (await client.send({ method: "DELETE", path: `${path}/${name}` }, signal)).status;
        case 1:
          return (await client.send({ method: "POST", path, body: make(name, random) }, signal))
            .status;
        default: {
          const headers = { "content-type": "application/merge-patch+json" };
          const update = isPatched
            ? ({ method: "PATCH", headers } as const)
            : { method: "PUT" as const };
          const body = make(name, random);
          return (await client.send({ ...update, path: `${path}/${name}`, body }, signal)).status;
        }
      }
    };
    // While a server restarts connections break, or whoever stands before it says so; that is no write, or one nobody was told of.
    const status = await send().catch(() => 0);
    if (status === 0 || status === 503) {
      if (performance.now() - answeredAt > silenceMsMax) {
        const last = status === 0 ? "no connection" : `status ${status}`;
        throw new Error(`nobody has answered for ${silenceMsMax / 60_000} minutes: ${last}`);
      }
      await wait(50, undefined, { signal });
      continue;
    }
    answered += 1;
    answeredAt = performance.now();
    if (status >= 200 && status < 300) taken += 1;
  }
  return taken;
}
