#!/usr/bin/env node
// Keeps a sample of what this version makes of a data folder: npm run upgrades:sample. It needs the machine's own PostgreSQL, for pg_dump.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { until } from "../../oracle/until.ts";
import { KeelsonProcess, temporaryFolder } from "../keelson-process.ts";
import { askRest, kubernetesOf, syncedResource, uidAt } from "./look.ts";
import { writeSample, type Facts, type ResourceFact } from "./sample.ts";

const { signal } = new AbortController();

const definition = {
  scope: "Namespaced",
  group: "example.com",
  names: { plural: "boats", singular: "boat", kind: "Boat" },
  versions: [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { sails: { type: "integer" } } } },
        },
      },
    },
  ],
};

const resources = [
  {
    namespace: "default",
    kind: "ConfigMap",
    name: "settings",
    desired_spec: { data: { colour: "red" } },
  },
  {
    namespace: "default",
    kind: "Secret",
    name: "pass",
    desired_spec: { stringData: { word: "open-sesame" } },
  },
  {
    kind: "CustomResourceDefinition",
    api_version: "apiextensions.k8s.io/v1",
    name: "boats.example.com",
    desired_spec: { spec: definition },
  },
  {
    namespace: "default",
    kind: "Boat",
    api_version: "example.com/v1",
    name: "albatross",
    desired_spec: { spec: { sails: 3 } },
  },
];

/** Where these are in the Kubernetes API. */
const paths = [
  "/api/v1/namespaces/default",
  "/api/v1/namespaces/default/configmaps/settings",
  "/api/v1/namespaces/default/secrets/pass",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.com",
  "/apis/example.com/v1/namespaces/default/boats/albatross",
];

await using folder = await temporaryFolder();
await using server = await startThrowawayPostgres({ flavour: "system" });
await using database = await server.createDatabase();
const dataDir = join(folder.path, "data");
await using keelson = new KeelsonProcess(dataDir, {
  flags: ["--database-url", database.url, "--simulate-workloads=false"],
});
const running = await keelson.ready();
const ask = askRest(running, signal);
using kubernetes = await kubernetesOf(running);
const sent = async (method: string, path: string, body: object) => {
  const answer = await ask(method, path, body);
  if (answer.code >= 300) throw new Error(`${path} answered ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const facts: ResourceFact[] = [];
const synced = (id: number) => until(() => syncedResource(ask, id), signal);
for (const resource of resources) {
  const { id } = await sent("POST", "/resources", { cluster_id: "local", ...resource });
  await synced(id);
  if (resource.kind === "ConfigMap") {
    await sent("PUT", `/resources/${id}`, { desired_spec: { data: { colour: "blue" } } });
    await synced(id);
    await sent("PUT", `/resources/${id}`, { revision: 1 });
  }
  facts.push(await until(() => syncedResource(ask, id), signal));
}
const nowhere = {
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "u", user: { token: "token-of-nowhere" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
};
await sent("POST", "/targets", { cluster_id: "nowhere", kubeconfig: nowhere });
const spec = { platform: { type: "gcp" }, dns: { baseDomain: "example.com" } };
const { id, generation } = await sent("POST", "/clusters", { name: "prod", spec });
await sent("PUT", `/clusters/${id}/status`, {
  controller_name: "dns",
  observed_generation: generation,
  conditions: [{ type: "Available", status: "True", reason: "Told", message: "" }],
});
const objects: Record<string, string> = {};
for (const path of paths) objects[path] = await uidAt(kubernetes, path, signal);
await keelson.stop();

const flags = ["--inserts", "--no-owner", "--no-privileges", database.url];
const { stdout } = await promisify(execFile)(join(server.bin, "pg_dump"), flags, {
  maxBuffer: 100_000_000,
});
const kept: Facts = {
  resources: facts,
  target: "nowhere",
  cluster: { id, spec, generation, reported: "dns" },
  objects,
};
// Lines for psql alone are none of SQL's.
const dump = stdout.replaceAll(/^\\.*$/gm, "");
await writeSample(running.version, { dataDir, dump, facts: kept });
