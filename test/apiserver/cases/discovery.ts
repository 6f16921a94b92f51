// Which kinds a server says that it has, and what else it says of itself: KB 59.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { until } from "../../tools/until.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import { definition } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";
import { textOf } from "../text-of.ts";

const discoveryV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Groups that only we have: kinds of our own, and what other cases define. */
function isOurs(group: string): boolean {
  return group.endsWith("example.com") || ["ark.mckinsey.com", "platform.internal"].includes(group);
}

/** What needs a kubelet, and so is not there (KB 5.1, 12). */
export const needsNodes = /\/?(attach|exec|log|portforward|proxy)$/;

function resourcesOf(body: Json): Json {
  if (!isJsonObject(body) || !isJsonArray(body["resources"])) return body;
  return [...body["resources"]]
    .map((one) => (isJsonObject(one) ? one : {}))
    .filter((one) => !needsNodes.test(textOf(one["name"])))
    .toSorted((a, b) => (textOf(a["name"]) < textOf(b["name"]) ? -1 : 1));
}

/** What both must serve: the groups of the contract. */
export const groups = [
  "apps/v1",
  "batch/v1",
  "autoscaling/v1",
  "autoscaling/v2",
  "networking.k8s.io/v1",
  "policy/v1",
  "rbac.authorization.k8s.io/v1",
  "storage.k8s.io/v1",
  "coordination.k8s.io/v1",
  "discovery.k8s.io/v1",
  "events.k8s.io/v1",
  "scheduling.k8s.io/v1",
  "apiextensions.k8s.io/v1",
  "apiregistration.k8s.io/v1",
  "authentication.k8s.io/v1",
  "authorization.k8s.io/v1",
  "certificates.k8s.io/v1",
  "admissionregistration.k8s.io/v1",
  "flowcontrol.apiserver.k8s.io/v1",
  "node.k8s.io/v1",
  "resource.k8s.io/v1",
];

const discovery: Record<string, Script> = {
  "the core group": async (lab) => {
    const { body } = await lab.quietly({ path: "/api/v1" });
    lab.note("resources", resourcesOf(body));
  },
  ...casesFor(
    Object.fromEntries(groups.map((group) => [group, group])),
    "the group %",
    async (lab, group) => {
      const { body, headers } = await lab.quietly({ path: `/apis/${group}` });
      lab.note("type", headers["content-type"] ?? "");
      lab.note("resources", resourcesOf(body));
      await lab.get(`/apis/${group.split("/")[0]}`);
    },
  ),
  "the versions of the core": async (lab) => {
    const { body } = await lab.quietly({ path: "/api" });
    if (isJsonObject(body))
      lab.note("api", { kind: body["kind"] ?? null, versions: body["versions"] ?? null });
    lab.note("trailing", (await lab.quietly({ path: "/api/" })).status);
  },
  "groups in their order": async (lab) => {
    const { body } = await lab.quietly({ path: "/apis" });
    const found = isJsonObject(body) && isJsonArray(body["groups"]) ? body["groups"] : [];
    const names = found
      .map((group) => (isJsonObject(group) ? textOf(group["name"]) : ""))
      .filter((name) => !isOurs(name));
    lab.note("groups", names);
    lab.note(
      "preferred",
      found
        .filter(isJsonObject)
        .filter(({ name }) => names.includes(textOf(name)))
        .map(({ name, preferredVersion, versions }) => [
          name ?? null,
          preferredVersion ?? null,
          versions ?? null,
        ]),
    );
  },
  "all at once": async (lab) => {
    for (const path of ["/api", "/apis"]) {
      const { body, headers, status } = await lab.quietly({
        path,
        headers: { accept: discoveryV2 },
      });
      lab.note("head", [
        status,
        headers["content-type"] ?? "",
        headers["etag"] === undefined ? "no etag" : "etag",
        headers["vary"] ?? "",
      ]);
      const items =
        isJsonObject(body) && isJsonArray(body["items"]) ? body["items"].filter(isJsonObject) : [];
      for (const item of items) {
        const name = isJsonObject(item["metadata"]) ? textOf(item["metadata"]["name"]) : "";
        if (!isOurs(name)) lab.note(`group ${name}`, sortedResources(item));
      }
    }
  },
  "all at once, asked in other ways": async (lab) => {
    for (const accept of [
      "application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList,application/json",
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
      "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList",
      `${discoveryV2};profile=nopeer`,
      "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
    ]) {
      const { status, headers } = await lab.quietly({ path: "/apis", headers: { accept } });
      lab.note(accept, [status, headers["content-type"] ?? ""]);
    }
  },
  "an ETag is honoured": async (lab) => {
    const headers = { accept: discoveryV2 };
    const first = await lab.quietly({ path: "/apis", headers });
    const other = await lab.quietly({
      path: "/apis",
      headers: { ...headers, "if-none-match": '"another"' },
    });
    lab.note("of another", other.status);
    // Other cases change what there is: whoever is told of a change asks again with the new name.
    let etag = first.headers["etag"] ?? "";
    const again = await until(async () => {
      const asked = { ...headers, "if-none-match": etag };
      const answer = await lab.quietly({ path: "/apis", headers: asked });
      const isSame = answer.status !== 200 || answer.headers["etag"] === etag;
      etag = answer.headers["etag"] ?? "";
      return isSame && answer;
    }, lab.signal);
    lab.note("again", again.status);
  },
  "a group comes and goes with its definition": async (lab) => {
    const group = `g-${lab.id}.example.com`;
    await lab.get(`/apis/${group}`);
    await lab.get(`/apis/${group}/v1`);
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        version: { subresources: { status: {} } },
        spec: {
          names: {
            plural: "things",
            singular: "thing",
            kind: "Thing",
            listKind: "ThingList",
            shortNames: ["th"],
            categories: ["all"],
          },
        },
      }),
    );
    await lab.until(`/apis/${group}`, ({ status }) => status === 200);
    await lab.until(`/apis/${group}/v1`, ({ status }) => status === 200);
    await lab.must({
      method: "DELETE",
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`,
    });
    await lab.until(`/apis/${group}`, ({ status }) => status === 404);
    await lab.until(`/apis/${group}/v1`, ({ status }) => status === 404);
    await lab.until(`/apis/${group}/v1/things`, ({ status }) => status === 404);
  },
  "version and health": async (lab) => {
    const { body } = await lab.quietly({ path: "/version" });
    if (isJsonObject(body)) {
      lab.note("numbers", [
        body["major"] ?? null,
        body["minor"] ?? null,
        textOf(body["gitVersion"]).split("+")[0] ?? "",
      ]);
      lab.note(
        "members",
        Object.keys(body)
          .filter((key) => !key.startsWith("emulation") && !key.startsWith("minCompat"))
          .sort(),
      );
    }
    for (const path of ["/healthz", "/livez", "/readyz", "/livez/ping", "/healthz?exclude=etcd"]) {
      const { status, text, headers } = await lab.quietly({ path });
      lab.note(path, [status, text, headers["content-type"] ?? ""]);
    }
    const verbose = await lab.quietly({ path: "/livez?verbose" });
    lab.note("verbose", [
      verbose.status,
      verbose.text.split("\n").at(0) ?? "",
      verbose.text.trim().split("\n").at(-1) ?? "",
    ]);
  },
};

function withoutNodes(resource: Json): Json {
  if (!isJsonObject(resource) || !isJsonArray(resource["subresources"])) return resource;
  const subresources = resource["subresources"].filter(
    (one) => !isJsonObject(one) || !needsNodes.test(textOf(one["subresource"])),
  );
  const { subresources: _, ...rest } = resource;
  return subresources.length === 0 ? rest : { ...rest, subresources };
}

function sortedResources(item: JsonObject): Json {
  if (!isJsonArray(item["versions"])) return item;
  const versions = item["versions"].map((version): Json => {
    if (!isJsonObject(version) || !isJsonArray(version["resources"])) return version;
    const byName = (one: Json): string => (isJsonObject(one) ? textOf(one["resource"]) : "");
    return {
      ...version,
      resources: version["resources"]
        .map(withoutNodes)
        .toSorted((a, b) => (byName(a) < byName(b) ? -1 : 1)),
    };
  });
  return { ...item, versions };
}

export const discoveryCases = casesOf("discovery", discovery);
