// Changes of a Pod's spec, in a word each.

import type { Json } from "@keelson/base";

import type { Change } from "../rules-groups/cases.ts";

export const container = "spec/containers/0/";

export const volume = (source: Readonly<Record<string, Json>>, name = "v"): Change => ({
  "spec/volumes": [{ name, ...source }],
});
export const mounted = (source: Readonly<Record<string, Json>>, mount: Json): Change => ({
  ...volume(source),
  [`${container}volumeMounts`]: [mount],
});
export const probe = (value: Json): Change => ({ [`${container}livenessProbe`]: value });
export const env = (...value: readonly Json[]): Change => ({ [`${container}env`]: value });
export const resources = (value: Json): Change => ({ [`${container}resources`]: value });
export const security = (value: Json): Change => ({ [`${container}securityContext`]: value });
export const podSecurity = (value: Json): Change => ({ "spec/securityContext": value });
export const toleration = (value: Json): Change => ({ "spec/tolerations": [value] });
export const init = (value: Readonly<Record<string, Json>>): Change => ({
  "spec/initContainers": [{ name: "init", image: "i", ...value }],
});
export const projected = (...sources: readonly Json[]): Change =>
  volume({ projected: { sources } });
export const nodeAffinity = (...terms: readonly Json[]): Change => ({
  "spec/affinity": {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
    },
  },
});
export const podAffinity = (term: Json): Change => ({
  "spec/affinity": {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
  },
});
export const spread = (...constraints: readonly Json[]): Change => ({
  "spec/topologySpreadConstraints": constraints,
});
export const right = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
export const annotation = (key: string, value: string): Change => ({
  "metadata/annotations": { [key]: value },
});
