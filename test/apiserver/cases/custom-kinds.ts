// Custom kinds as preparation of a case.

import type { JsonObject } from "@keelson/base";

import { until } from "../../tools/until.ts";
import type { Lab } from "../lab.ts";

/** Creates a definition and waits until its objects are served. What is compared comes afterwards. */
export async function createKind(lab: Lab, definition: JsonObject): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await lab.create(path, definition);
  await served(lab, definition);
}

/** Waits until every version of a definition that is to be served is. */
export async function served(lab: Lab, definition: JsonObject): Promise<void> {
  const { spec } = definition as unknown as Definition;
  const versions = spec.versions.filter((version) => version.served);
  if (versions.length === 0) throw new Error(`no version of ${spec.names.plural} is to be served`);
  for (const version of versions) {
    const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}?limit=1`;
    const isServed = async () => (await lab.quietly({ path })).status === 200;
    await until(isServed, lab.signal, `${path} to be served`);
  }
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}
