// The Ark kinds as CustomResourceDefinitions of a real cluster.

import { arkDefinitions } from "@keelson/apiserver";

import type { Oracle } from "../oracle/cluster.ts";
import { until } from "../tools/until.ts";
import { expectStatus } from "./asking.ts";

/** Defines them and waits until the cluster serves each. */
export async function establishDefinitions({ client }: Oracle, signal: AbortSignal): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const body of arkDefinitions()) {
    await expectStatus(client, { method: "POST", path, body }, 201, signal);
  }
  for (const { spec } of arkDefinitions()) {
    const { group, versions, names } = spec as unknown as {
      group: string;
      versions: readonly { name: string }[];
      names: { plural: string };
    };
    const collection = `/apis/${group}/${versions[0]?.name ?? ""}/${names.plural}`;
    await until(
      async () => (await client.send({ path: collection }, signal)).status === 200,
      signal,
    );
  }
}
