// What a data folder is filled with before it is kept: something of every part.

import type { RunFile } from "@keelson/keelson";
import { kubeconfigOf } from "../../tools/kubeconfig.ts";
import { until } from "../../tools/until.ts";
import { askRest } from "../ask-rest.ts";
import { kubernetesOf, syncedResource, uidAt } from "./look.ts";
import type { Facts, ResourceFact } from "./sample.ts";

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

/** Fills what runs, and answers what is to be found in it from then on. */
export async function fill(running: RunFile, signal: AbortSignal): Promise<Facts> {
  const ask = askRest(running, signal);
  using kubernetes = await kubernetesOf(running);
  const sent = async (method: string, path: string, body: object) => {
    const answer = await ask(method, path, body);
    if (answer.code >= 300) throw new Error(`${path} answered ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  const kept: ResourceFact[] = [];
  const synced = (id: number) => until(() => syncedResource(ask, id), signal);
  for (const resource of resources) {
    const { id } = await sent("POST", "/resources", { cluster_id: "local", ...resource });
    await synced(id);
    if (resource.kind === "ConfigMap") {
      await sent("PUT", `/resources/${id}`, { desired_spec: { data: { colour: "blue" } } });
      await synced(id);
      await sent("PUT", `/resources/${id}`, { revision: 1 });
    }
    kept.push(await until(() => syncedResource(ask, id), signal));
  }
  const nowhere = kubeconfigOf({ server: "https://127.0.0.1:1" }, { token: "token-of-nowhere" });
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
  return {
    resources: kept,
    target: "nowhere",
    cluster: { id, spec, generation, reported: "dns" },
    objects,
  };
}
