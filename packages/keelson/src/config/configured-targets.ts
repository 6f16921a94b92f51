// `targets:` of the configuration file: clusters that the operator of this server names. Unlike what REST takes, a
// kubeconfig here may be a file, name files and run plugins.

import { dirname, resolve } from "node:path";
import { isMap } from "./file-values.ts";
import type { Problem } from "./given.ts";

export interface ConfiguredTarget {
  readonly clusterId: string;
  /** A file, or the text of a kubeconfig. */
  readonly kubeconfig: { readonly file: string } | { readonly text: string };
  readonly context: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly paused: boolean | undefined;
}

const known = ["cluster_id", "kubeconfig", "context", "labels", "paused"];

/** Reads the list, and tells everything that is wrong with it. Relative paths are relative to the file. */
export function readTargets(
  value: unknown,
  path: string,
): { readonly targets: readonly ConfiguredTarget[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const wrong = (place: string, message: string): undefined => {
    problems.push({ field: `${place} in ${path}`, message });
  };
  if (!Array.isArray(value)) {
    wrong("targets", "must be a list of targets");
    return { targets: [], problems };
  }
  const targets = value.flatMap((entry: unknown, index) => {
    const place = `targets[${index}]`;
    if (!isMap(entry)) return wrong(place, "must be a map with cluster_id and kubeconfig") ?? [];
    for (const name of Object.keys(entry)) {
      if (!known.includes(name)) wrong(`${place}.${name}`, "is no part of a target");
    }
    const clusterId = entry["cluster_id"];
    if (typeof clusterId !== "string" || !clusterIdPattern.test(clusterId)) {
      return (
        wrong(
          `${place}.cluster_id`,
          "must be 1 to 100 letters, digits, '.', '_' and '-', with a letter or digit at both ends",
        ) ?? []
      );
    }
    const kubeconfig = kubeconfigOf(entry["kubeconfig"], dirname(path));
    if (kubeconfig === undefined) {
      return wrong(`${place}.kubeconfig`, "must be a path, or a kubeconfig as a map") ?? [];
    }
    const { context, labels, paused } = entry;
    if (context !== undefined && typeof context !== "string") {
      wrong(`${place}.context`, "must be a text");
    }
    if (labels !== undefined && !isTexts(labels))
      wrong(`${place}.labels`, "must be pairs of texts");
    if (paused !== undefined && typeof paused !== "boolean") {
      wrong(`${place}.paused`, "must be true or false");
    }
    return {
      clusterId,
      kubeconfig,
      context: typeof context === "string" ? context : undefined,
      labels: isTexts(labels) ? labels : undefined,
      paused: typeof paused === "boolean" ? paused : undefined,
    };
  });
  const names = targets.map(({ clusterId }) => clusterId);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) wrong("targets", `names ${twice} twice`);
  return { targets, problems };
}

const clusterIdPattern = /^(?=.{1,100}$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

function kubeconfigOf(value: unknown, folder: string): ConfiguredTarget["kubeconfig"] | undefined {
  if (isMap(value)) return { text: JSON.stringify(value) };
  if (typeof value !== "string" || value === "") return undefined;
  return value.includes("\n") ? { text: value } : { file: resolve(folder, value) };
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isMap(value) && Object.values(value).every((text) => typeof text === "string");
}
