// How answers are written: Accept, tables, metadata, discovery, OpenAPI. KB 55 to 60.

import { isJsonArray, isJsonObject, readJson, type Json, type JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { configMap, definition, deployment, pod, secret, service } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";
import { textOf } from "../text-of.ts";

const accepts = [
  "",
  "*/*",
  "application/*",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "text/html",
  "text/plain, */*",
  "application/json;q=0.1, application/yaml;q=0.9",
  "application/yaml, application/json",
  "application/xml, application/json",
  "application/xml",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=Table;v=v2;g=meta.k8s.io",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=Nothing;v=v1;g=meta.k8s.io",
  "application/json;as=Nothing;v=v1;g=meta.k8s.io,application/json",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/yaml;as=Table;v=v1;g=meta.k8s.io",
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/json;pretty=1",
  "application/json;charset=utf-8",
  "application/cbor",
  "application/cbor, application/json",
  "application/json;as=Table",
  "garbage",
  "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
  "application/vnd.kubernetes.protobuf,application/json",
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
];

const discoveryV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const scripts: Record<string, Script> = {
  ...casesFor(
    Object.fromEntries(accepts.map((accept) => [accept || "nothing", accept])),
    "Accept %",
    async (lab, accept) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      const headers = { accept };
      await lab.get(lab.core("configmaps", "a"), { headers });
      await lab.get(`${lab.core("configmaps")}?fieldSelector=metadata.name%3Da`, { headers });
      await lab.get(lab.core("configmaps", "none"), { headers });
      await lab.post(lab.core("configmaps"), configMap("b"), { headers });
      await lab.delete(lab.core("configmaps", "b"), undefined, { headers });
    },
  ),
  ...casesFor(
    Object.fromEntries(accepts.slice(0, 14).map((accept) => [accept || "nothing", accept])),
    "Accept for a custom resource: %",
    async (lab, accept) => {
      const group = `s-${lab.id}.example.com`;
      await createKind(lab, definition({ group, kind: "Thing" }));
      const path = lab.group(`${group}/v1`, "things");
      await lab.create(path, {
        apiVersion: `${group}/v1`,
        kind: "Thing",
        metadata: { name: "a" },
        x: 1,
      });
      await lab.get(`${path}/a`, { headers: { accept } });
      await lab.get(path, { headers: { accept } });
    },
  ),
  pretty: async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    for (const [query, agent] of [
      ["", "curl/8"],
      ["?pretty=true", "x"],
      ["?pretty=0", "curl/8"],
      ["", "Mozilla/5.0"],
      ["", "Wget/1"],
      ["", "kubectl"],
    ] as const) {
      const { text } = await lab.statusOf({
        path: `${lab.core("configmaps", "a")}${query}`,
        headers: { "user-agent": agent },
      });
      lab.note("is pretty", text.startsWith("{\n"));
      lab.note("ends", JSON.stringify(text.slice(-2)));
    }
  },
  ...casesFor(
    { None: "None", Metadata: "Metadata", Object: "Object", Other: "Other" },
    "rows with objects: %",
    async (lab, include) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
      await lab.get(`${lab.core("configmaps", "a")}?includeObject=${include}`, { headers });
      await lab.get(`${lab.core("configmaps")}?includeObject=${include}`, { headers });
    },
  ),
  "rows of what a write answers": async (lab) => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    await lab.post(lab.core("pods"), pod("p"), { headers });
    await lab.patch(
      "merge",
      lab.core("pods", "p"),
      { metadata: { labels: { a: "b" } } },
      { headers },
    );
    await lab.delete(lab.core("pods", "p"), undefined, { headers });
    await lab.post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { nonResourceAttributes: { path: "/", verb: "get" } },
      },
      { headers },
    );
    await lab.get(lab.core("pods", "none"), { headers });
    await lab.get("/api/v1", { headers });
  },
  ...casesFor(
    {
      "a page": "text/html",
      "anything of an application": "application/*",
      "a table": "application/json;as=Table;v=v1;g=meta.k8s.io",
      metadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    },
    "documents as %",
    async (lab, accept) => {
      for (const path of ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"]) {
        await lab.get(path, { headers: { accept } });
      }
      const { status, text } = await lab.quietly({ path: "/version", headers: { accept } });
      lab.note("version", status === 200 ? status : readJson(text));
      lab.note("in lines", text.includes("\n  "));
    },
  ),
  "what nobody keeps, as metadata": async (lab) => {
    const headers = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
    await lab.post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { nonResourceAttributes: { path: "/", verb: "get" } },
      },
      { headers },
    );
    const path = `${lab.core("serviceaccounts", "default")}/token`;
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    await lab.post(path, request, { headers });
    const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    await lab.post(path, request, { headers: table });
    await lab.post(`${path}?fieldValidation=Strict`, { ...request, x: 1 });
    await lab.post(`${path}?fieldManager=me`, { ...request, x: 1 });
  },
  "watches in formats that there are not": async (lab) => {
    for (const accept of ["text/html", "application/*", "application/yaml"]) {
      await lab.get(`${lab.core("configmaps")}?watch=1&timeoutSeconds=1`, { headers: { accept } });
    }
  },
  "metadata of what a write answers": async (lab) => {
    const headers = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
    await lab.post(lab.core("configmaps"), configMap("a"), { headers });
    await lab.patch("merge", lab.core("configmaps", "a"), { data: { b: "1" } }, { headers });
    await lab.delete(lab.core("configmaps", "a"), undefined, { headers });
  },
  "rows of pods in many states": async (lab) => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    await lab.create(lab.core("pods"), pod("a"));
    await lab.create(lab.core("pods"), pod("b", { nodeName: "n" }));
    const status = {
      phase: "Running",
      podIP: "10.0.0.1",
      podIPs: [{ ip: "10.0.0.1" }],
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        {
          name: "main",
          ready: true,
          restartCount: 3,
          image: "i",
          imageID: "",
          state: { running: { startedAt: "2020-01-01T00:00:00Z" } },
        },
      ],
    };
    await lab.must({
      method: "PATCH",
      path: `${lab.core("pods", "b")}/status`,
      body: { status },
      headers: { "content-type": "application/merge-patch+json" },
    });
    await lab.get(lab.core("pods"), { headers });
    await lab.create(
      lab.core("services"),
      service("s", { type: "LoadBalancer", clusterIP: "10.96.44.44" }),
    );
    await lab.get(lab.core("services"), { headers });
    await lab.create(lab.group("apps/v1", "deployments"), deployment("d"));
    await lab.get(lab.group("apps/v1", "deployments"), { headers });
    await lab.create(lab.core("secrets"), secret("x", {}, { stringData: { password: "hush" } }));
    await lab.get(`${lab.core("secrets")}?includeObject=None`, { headers });
  },
  "printer columns": async (lab) => {
    const group = `c-${lab.id}.example.com`;
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                n: { type: "integer" },
                s: { type: "string" },
                l: { type: "array", items: { type: "string" } },
                t: { type: "string", format: "date-time" },
                b: { type: "boolean" },
              },
            },
          },
        },
        version: {
          additionalPrinterColumns: [
            { name: "Number", type: "integer", jsonPath: ".spec.n" },
            {
              name: "Text",
              type: "string",
              jsonPath: ".spec.s",
              description: "words",
              priority: 1,
            },
            { name: "List", type: "string", jsonPath: ".spec.l" },
            { name: "First", type: "string", jsonPath: ".spec.l[0]" },
            { name: "Since", type: "date", jsonPath: ".spec.t" },
            { name: "Flag", type: "boolean", jsonPath: ".spec.b" },
            { name: "Missing", type: "string", jsonPath: ".spec.zzz" },
          ],
        },
      }),
    );
    const path = lab.group(`${group}/v1`, "things");
    const thing = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name },
      spec,
    });
    await lab.create(
      path,
      thing("a", { n: 3, s: "x", l: ["p", "q"], t: "2001-01-01T00:00:00Z", b: true }),
    );
    await lab.create(path, thing("b", {}));
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { body } = await lab.quietly({ path, headers });
    if (!isJsonObject(body) || !isJsonArray(body["rows"])) {
      lab.note("no table", body);
      return;
    }
    lab.note("columns", body["columnDefinitions"] ?? null);
    lab.note(
      "cells",
      body["rows"]
        .map((row) => (isJsonObject(row) ? (row["cells"] ?? null) : null))
        .map((cells) =>
          isJsonArray(cells) ? cells.map((cell, index) => (index === 5 ? "<age>" : cell)) : cells,
        ),
    );
  },
};

/** What needs a kubelet, and so is not there (KB 5.1, 12). */
const needsNodes = /\/?(attach|exec|log|portforward|proxy)$/;

function resourcesOf(body: Json): Json {
  if (!isJsonObject(body) || !isJsonArray(body["resources"])) return body;
  return [...body["resources"]]
    .map((one) => (isJsonObject(one) ? one : {}))
    .filter((one) => !needsNodes.test(textOf(one["name"])))
    .toSorted((a, b) => (textOf(a["name"]) < textOf(b["name"]) ? -1 : 1));
}

/** What both must serve: the groups of the contract. */
const groups = [
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
      .filter((name) => !name.endsWith("example.com") && name !== "ark.mckinsey.com");
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
        if (!name.endsWith("example.com") && name !== "ark.mckinsey.com")
          lab.note(`group ${name}`, sortedResources(item));
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
    const { headers } = await lab.quietly({ path: "/apis", headers: { accept: discoveryV2 } });
    const again = await lab.quietly({
      path: "/apis",
      headers: { accept: discoveryV2, "if-none-match": headers["etag"] ?? "" },
    });
    lab.note("again", [304, 200].includes(again.status));
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

/** What kubectl looks for in a document of OpenAPI v3. */
async function operations(lab: Lab, groupVersion: string): Promise<void> {
  const at = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
  const { body, status } = await lab.quietly({ path: `/openapi/v3/${at}` });
  lab.note("status", status);
  if (!isJsonObject(body) || !isJsonObject(body["paths"])) return;
  for (const [path, item] of Object.entries(body["paths"]).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    if (path.includes("/watch/") || !isJsonObject(item)) continue;
    if (needsNodes.test(path.replace(/\/\{path\}$/, ""))) continue;
    lab.note(
      path,
      Object.entries(item)
        .filter(([method]) => /^(get|put|post|patch|delete)$/.test(method))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([method, operation]): Json => {
          if (!isJsonObject(operation)) return method;
          const parameters = isJsonArray(operation["parameters"])
            ? operation["parameters"]
                .map((one) => (isJsonObject(one) ? textOf(one["name"]) : ""))
                .sort()
            : [];
          const content =
            isJsonObject(operation["requestBody"]) &&
            isJsonObject(operation["requestBody"]["content"])
              ? Object.keys(operation["requestBody"]["content"]).sort()
              : [];
          return {
            method,
            action: operation["x-kubernetes-action"] ?? null,
            gvk: operation["x-kubernetes-group-version-kind"] ?? null,
            parameters,
            content,
          };
        }),
    );
  }
}

const openapi: Record<string, Script> = {
  ...casesFor(
    Object.fromEntries(
      [
        "v1",
        "apps/v1",
        "batch/v1",
        "rbac.authorization.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "authorization.k8s.io/v1",
      ].map((name) => [name, name]),
    ),
    "operations of %",
    async (lab, name) => await operations(lab, name),
  ),
  ...casesFor<readonly [string, readonly string[]]>(
    {
      v1: [
        "v1",
        [
          "io.k8s.api.core.v1.ConfigMap",
          "io.k8s.api.core.v1.PodSpec",
          "io.k8s.api.core.v1.Container",
          "io.k8s.api.core.v1.ServiceSpec",
          "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        ],
      ],
      "apps/v1": [
        "apps/v1",
        [
          "io.k8s.api.apps.v1.Deployment",
          "io.k8s.api.apps.v1.DeploymentSpec",
          "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
        ],
      ],
    },
    "schemas of %",
    async (lab, [groupVersion, names]) => {
      const at = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
      const { body } = await lab.quietly({ path: `/openapi/v3/${at}` });
      const components =
        isJsonObject(body) && isJsonObject(body["components"])
          ? body["components"]["schemas"]
          : undefined;
      for (const name of names)
        lab.note(name, isJsonObject(components) ? withoutWords(components[name] ?? null) : "none");
    },
  ),
  "the index": async (lab) => {
    // The real server forgets to say that it is JSON.
    const { text } = await lab.quietly({ path: "/openapi/v3" });
    const body = JSON.parse(text) as Json;
    const paths =
      isJsonObject(body) && isJsonObject(body["paths"]) ? Object.keys(body["paths"]) : [];
    lab.note(
      "paths",
      paths
        .filter((path) => groups.some((group) => path === `apis/${group}`) || path === "api/v1")
        .sort(),
    );
    const shape =
      isJsonObject(body) && isJsonObject(body["paths"]) ? body["paths"]["apis/apps/v1"] : null;
    lab.note(
      "url",
      isJsonObject(shape)
        ? textOf(shape["serverRelativeURL"]).replace(/hash=.*/, "hash=…")
        : "none",
    );
  },
  "the old document": async (lab) => {
    const { body, status } = await lab.quietly({ path: "/openapi/v2" });
    lab.note("status", status);
    if (!isJsonObject(body) || !isJsonObject(body["definitions"])) return;
    lab.note("swagger", body["swagger"] ?? null);
    for (const name of ["io.k8s.api.core.v1.ConfigMap", "io.k8s.api.apps.v1.DeploymentSpec"])
      lab.note(name, withoutWords(body["definitions"][name] ?? null));
  },
  "a custom resource": async (lab) => {
    const group = `o-${lab.id}.example.com`;
    const schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          required: ["mode"],
          properties: {
            mode: { type: "string", enum: ["a", "b"], default: "a", description: "which" },
            n: { type: "integer", format: "int32", minimum: 1 },
            any: { "x-kubernetes-int-or-string": true },
            list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
          },
        },
      },
    };
    await createKind(
      lab,
      definition({
        group,
        kind: "Thing",
        schema,
        version: {
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" },
          },
        },
      }),
    );
    await lab
      .until(`/openapi/v3/apis/${group}/v1`, ({ status }) => status === 200)
      .then(() => lab.observations.pop());
    await operations(lab, `${group}/v1`);
    const { body } = await lab.quietly({ path: `/openapi/v3/apis/${group}/v1` });
    const components =
      isJsonObject(body) && isJsonObject(body["components"])
        ? body["components"]["schemas"]
        : undefined;
    const name =
      Object.keys(isJsonObject(components) ? components : {}).find((key) =>
        key.endsWith(".Thing"),
      ) ?? "none";
    lab.note("name", name);
    lab.note("schema", isJsonObject(components) ? withoutWords(components[name] ?? null) : "none");
  },
};

/** Ours has other descriptions, or none. */
function withoutWords(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutWords);
  if (!isJsonObject(value)) return value;
  // A reference beside a description has to be wrapped.
  const { allOf, ...rest } = value;
  const [only, ...others] = isJsonArray(allOf) ? allOf : [];
  if (isJsonObject(only) && others.length === 0) return withoutWords({ ...rest, ...only });
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "description" || typeof inner !== "string")
      .map(([key, inner]): [string, Json] => [key, withoutWords(inner)]),
  );
}

export const shapeCases = [
  ...casesOf("shapes", scripts),
  ...casesOf("discovery", discovery),
  ...casesOf("openapi", openapi),
];
