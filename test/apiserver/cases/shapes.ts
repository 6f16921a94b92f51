// How answers are written: Accept, tables, metadata. KB 55 to 58.

import { isJsonArray, isJsonObject, readJson, type JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, definition, deployment, pod, secret, service } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

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

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const review: JsonObject = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { nonResourceAttributes: { path: "/", verb: "get" } },
};

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
    {
      None: "None",
      Metadata: "Metadata",
      Object: "Object",
      Other: "Other",
      unprintable: "%7F%E2%80%A8",
    },
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
    await lab.post(reviews, review, { headers });
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
    await lab.post(reviews, review, { headers });
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
    await lab.mustPatch(`${lab.core("pods", "b")}/status`, { status });
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

export const shapeCases = casesOf("shapes", scripts);
