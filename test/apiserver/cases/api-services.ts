// Who serves what: APIServices, KB 59.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { until } from "../../tools/until.ts";
import { casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { definition } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";
import { groups } from "./discovery.ts";
import { groupOf, path as definitions } from "./things.ts";

const services = "/apis/apiregistration.k8s.io/v1/apiservices";
const table = { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };
const discoveryV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const local: Record<string, Script> = {
  "each version of the server has its own": async (lab) => {
    const wanted = ["v1", ...groups].filter((name) => !name.startsWith("apiregistration.k8s.io/"));
    for (const groupVersion of wanted) {
      const [group = "", version] = groupVersion.includes("/")
        ? groupVersion.split("/")
        : ["", groupVersion];
      await lab.until(`${services}/${version}.${group}`, ({ status }) => status === 200);
    }
    await lab.get(`${services}/v1.apps`, table);
    await lab.get(`${services}/v1.apiregistration.k8s.io`);
  },
  "a definition has one for each version that is served": async (lab) => {
    const version = (name: string, isServed: boolean, isStored: boolean) => ({
      name,
      served: isServed,
      storage: isStored,
      schema: { openAPIV3Schema: { type: "object" } },
    });
    const group = groupOf(lab);
    const crd = (isServed: boolean) =>
      definition({
        group,
        kind: "Thing",
        spec: { versions: [version("v1", true, true), version("v2", isServed, false)] },
      });
    await createKind(lab, crd(true));
    await lab.until(`${services}/v1.${group}`, ({ status }) => status === 200);
    await lab.until(`${services}/v2.${group}`, ({ status }) => status === 200);
    await lab.mustPatch(`${definitions}/things.${group}`, { spec: crd(false)["spec"] ?? null });
    await lab.until(`${services}/v2.${group}`, ({ status }) => status === 404);
    await lab.must({ method: "DELETE", path: `${services}/v1.${group}` });
    await lab.until(`${services}/v1.${group}`, ({ status }) => status === 200);
    await lab.must({ method: "DELETE", path: `${definitions}/things.${group}` });
    await lab.until(`${services}/v1.${group}`, ({ status }) => status === 404);
  },
};

/** Of the aggregated document only our group: others come and go. */
async function shown(lab: Lab, group: string): Promise<Json> {
  const { body } = await lab.quietly({ path: "/apis", headers: { accept: discoveryV2 } });
  const items = isJsonObject(body) && isJsonArray(body["items"]) ? body["items"] : [];
  return items.filter((item) => JSON.stringify(item).includes(`"${group}"`));
}

/** What a dead one does to discovery keeps the controllers of a real server from their work: a server of its own, please. */
const dead: Record<string, Script> = {
  "one that leads nowhere is stale, and unavailable": async (lab) => {
    const group = groupOf(lab);
    await lab.post(services, {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: "v1",
        groupPriorityMinimum: 1_000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { name: "gone", namespace: lab.ns, port: 443 },
      },
    });
    await lab.until(`${services}/v1.${group}`, ({ text }) => text.includes('"False"'));
    await lab.until(`/apis/${group}`, ({ status }) => status === 200);
    const isShown = async () => {
      const items = await shown(lab, group);
      return isJsonArray(items) && items.length > 0 && items;
    };
    lab.note("in discovery", await until(isShown, lab.signal, "discovery to show it"));
    const { body } = await lab.quietly({ path: "/apis" });
    const all = isJsonObject(body) && isJsonArray(body["groups"]) ? body["groups"] : [];
    lab.note(
      "among the groups",
      all.filter((one) => isJsonObject(one) && one["name"] === group),
    );
    for (const path of ["", "/", "/things", `/namespaces/${lab.ns}/things/a`, "/things/a/status"]) {
      await lab.get(`/apis/${group}/v1${path}`);
    }
    await lab.post(`/apis/${group}/v1/things`, {});
    const somebody = await lab.as({ name: "somebody", groups: [] });
    await somebody.get(`/apis/${group}/v1/things`);
    await lab.get(`/apis/${group}/v2`);
    await lab.get(`/apis/${group}/v2/things`);
    await lab.get(`${services}/v1.${group}`, table);
    await lab.must({ method: "DELETE", path: `${services}/v1.${group}` });
    await lab.until(`/apis/${group}`, ({ status }) => status === 404);
    await lab.until(`/apis/${group}/v1/things`, ({ status }) => status === 404);
    const isHidden = async () => {
      const items = await shown(lab, group);
      return isJsonArray(items) && items.length === 0;
    };
    await until(isHidden, lab.signal, "discovery to show it no longer");
  },
};

export const apiServiceCases = casesOf("api services", local);
export const deadApiServiceCases = casesOf("api services", dead);
