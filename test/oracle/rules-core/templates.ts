// Templates of Pods for cases of workloads.

import type { JsonObject } from "@keelson/base";

import type { Change } from "../rules-groups/cases.ts";
import { podSpecChanges } from "./pod-spec-cases.ts";

export const template = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i" }], ...more },
});
export const selector = { matchLabels: { app: "a" } };
/** Where the template of a workload is. */
export const t = "spec/template/";

/** Some of what is wrong with Pods, in a template: that it is asked at all, and at its place. */
export function inTemplate(path: string, step: number): readonly Change[] {
  return podSpecChanges
    .filter((_, index) => index % step === 1)
    .map((change) =>
      Object.fromEntries(Object.entries(change).map(([own, value]) => [`${path}${own}`, value])),
    );
}
