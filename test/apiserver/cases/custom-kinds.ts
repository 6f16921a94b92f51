// Custom kinds as preparation of a case.

import { isJsonObject, type JsonObject } from "@keelson/base";

import type { Lab } from "../lab.ts";
import { textOf } from "../text-of.ts";

/** Creates a definition and waits until its objects are served. What is compared comes afterwards. */
export async function createKind(lab: Lab, definition: JsonObject): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await lab.create(path, definition);
  await served(lab, definition);
}

/** Waits until the first version of a definition is served. */
export async function served(lab: Lab, definition: JsonObject): Promise<void> {
  const spec = definition["spec"];
  if (!isJsonObject(spec) || !isJsonObject(spec["names"])) throw new Error("no definition");
  const version = Array.isArray(spec["versions"])
    ? (spec["versions"][0] as JsonObject)["name"]
    : "v1";
  const path = `/apis/${textOf(spec["group"])}/${textOf(version)}/${textOf(spec["names"]["plural"])}?limit=1`;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { status } = await lab.quietly({ path });
    if (status === 200) return;
    if (performance.now() > deadline) throw new Error(`${path} is not served`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
