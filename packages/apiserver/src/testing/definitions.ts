// Custom kinds that tests define.

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { type Api } from "./api.ts";

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A definition of the group example.com, whose only version says this besides. */
export function definition(plural: string, kind: string, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: { type: "object", properties: { replicas: { type: "integer", default: 1 } } },
                status: { type: "object", properties: { replicas: { type: "integer" } } },
              },
            },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          ...more,
        },
      ],
    },
  };
}

/** Widgets in two versions, of which the second is to say this. */
export function twoVersions(second: JsonObject): JsonObject {
  const { spec, ...rest } = definition("widgets", "Widget") as { spec: { versions: JsonObject[] } };
  const [first = {}] = spec.versions;
  const other = { ...first, name: "v2", storage: false, ...second };
  return { ...rest, spec: { ...spec, versions: [first, other] } };
}

/** Creates a definition and waits until its objects are served. */
export async function serve(api: Api, crd: JsonObject): Promise<void> {
  const created = await api.create(definitions, crd);
  if (created.code !== 201) throw new Error(created.text);
  const { spec } = crd as unknown as {
    spec: { group: string; names: { plural: string }; versions: { name: string }[] };
  };
  for (const { name } of spec.versions) {
    const path = `/apis/${spec.group}/${name}/${spec.names.plural}`;
    await until(async () => (await api.get(path)).code === 200, `${path} is served`);
  }
}
