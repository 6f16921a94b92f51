// A custom kind of things, as preparation of a case.

import type { JsonObject } from "@keelson/base";

import type { Lab } from "../lab.ts";
import { definition } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

export const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const groupOf = (lab: Lab): string => `d-${lab.id}.example.com`;
export const object = (lab: Lab, name: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion: `${groupOf(lab)}/v1`,
  kind: "Thing",
  metadata: { name },
  ...rest,
});

export async function thing(lab: Lab, spec: JsonObject, version: JsonObject = {}): Promise<string> {
  await createKind(
    lab,
    definition({
      group: groupOf(lab),
      kind: "Thing",
      schema: { type: "object", properties: { spec } },
      version,
    }),
  );
  return lab.group(`${groupOf(lab)}/v1`, "things");
}
