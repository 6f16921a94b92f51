// The resources that tests of the API write, and the shortest way to do it.

import assert from "node:assert/strict";
import type { FleetRest } from "./fleet-rest.ts";

export const web = {
  cluster_id: "prod",
  namespace: "shop",
  kind: "Deployment",
  name: "web",
  desired_spec: { metadata: { labels: { app: "web" } }, spec: { replicas: 1 } },
};

export async function create(it: FleetRest, changes: object = {}): Promise<number> {
  const { code, body } = await it.ask("POST", "/resources", { ...web, ...changes });
  assert.equal(code, 201, JSON.stringify(body));
  return body.id as number;
}

export const replicas = (count: number) => ({ desired_spec: { spec: { replicas: count } } });

/** The global resource that tests write. */
export const settings = {
  namespace: "default",
  kind: "ConfigMap",
  name: "settings",
  desired_spec: { data: { a: "1" } },
};

/** What else a ConfigMap may be wanted to hold. */
export const data = (a: string) => ({ desired_spec: { data: { a } } });
