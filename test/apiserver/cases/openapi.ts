// What a server says that its kinds look like: KB 60.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { definition } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";
import { groups, needsNodes } from "./discovery.ts";
import { textOf } from "../text-of.ts";

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

export const openApiCases = casesOf("openapi", openapi);
