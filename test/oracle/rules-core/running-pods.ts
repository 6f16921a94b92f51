// Changes to Pods that run, made by chance: other sizes, and containers to look into them.

import type { JsonObject, MutableJsonObject, Random } from "@keelson/base";
import type { BuiltinKinds } from "@keelson/kube";

import type { Change, KindCases, UpdateCase } from "../rules-groups/cases.ts";
import { mutatePart } from "./mutations.ts";

export interface RunningPodStep {
  readonly cases: KindCases;
  readonly operation: "resize" | "ephemeralcontainers";
  readonly change: UpdateCase;
}

const amounts: Readonly<Record<string, readonly string[]>> = {
  cpu: ["100m", "0.1", "1", "1000m", "2"],
  memory: ["1Gi", "1024Mi", "2Gi"],
  "ephemeral-storage": ["1Gi", "2Gi"],
  "example.com/gpu": ["1", "2"],
};
const usual = ["cpu", "memory"];
const policies = ["NotRequired", "RestartContainer"];

const pod: JsonObject = {
  spec: {
    containers: [
      { name: "c", image: "i" },
      { name: "d", image: "i" },
    ],
    initContainers: [
      { name: "init", image: "i" },
      { name: "side", image: "i", restartPolicy: "Always" },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
  },
};
const debug: JsonObject = {
  name: "debug",
  image: "i",
  command: ["x"],
  env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
  volumeMounts: [{ name: "v", mountPath: "/v" }],
  securityContext: { runAsUser: 1, capabilities: { add: ["X"] } },
  targetContainerName: "c",
};

/** A Pod as it is, and what is asked of it. */
export function runningPodStep(kinds: BuiltinKinds, random: Random): RunningPodStep {
  const cases: KindCases = { kind: "/v1/Pod", fields: () => pod };
  if (random.float() < 0.6) return { cases, operation: "resize", change: resize(random) };
  const container = mutatePart(debug, "core.v1.EphemeralContainer", { kinds, random });
  const isThere = random.float() < 0.5;
  const change: UpdateCase = {
    before: {},
    ...(isThere
      ? { through: { ephemeralcontainers: { "spec/ephemeralContainers": [debug] } } }
      : {}),
    after: { "spec/ephemeralContainers": [container] },
  };
  return { cases, operation: "ephemeralcontainers", change };
}

function resize(random: Random): UpdateCase {
  const [before, after]: [Record<string, Change[string]>, Record<string, Change[string]>] = [
    {},
    {},
  ];
  for (const path of ["containers/0", "containers/1", "initContainers/0", "initContainers/1"]) {
    const place = `spec/${path}/resources`;
    const old = random.float() < 0.7 ? resources(random) : {};
    before[place] = old;
    if (random.float() < 0.5) after[place] = changed(old, random);
    if (random.float() < 0.1) {
      const policy = { resourceName: random.pick(usual), restartPolicy: random.pick(policies) };
      (random.float() < 0.5 && path !== "initContainers/0" ? before : after)[
        `spec/${path}/resizePolicy`
      ] = [policy];
    }
  }
  if (random.float() < 0.2) {
    // What a whole Pod may use must cover what its containers ask for.
    before["spec/resources"] = { requests: { cpu: "20", memory: "20Gi" } };
    after["spec/resources"] = random.pick<JsonObject>([
      {},
      { requests: { cpu: "21", memory: "20Gi" } },
      { requests: { cpu: "20000m", memory: "20Gi" } },
      { requests: { cpu: "20" } },
      { requests: { cpu: "20", memory: "20Gi" }, limits: { cpu: "30" } },
    ]);
  }
  const odd = random.float();
  if (odd < 0.04) after["spec/containers/1"] = undefined;
  else if (odd < 0.08) after["spec/containers/0/name"] = "other";
  else if (odd < 0.12) after["spec/nodeSelector"] = { a: "b" };
  return { before, after };
}

/** Limits as high as any request, so that most are right. */
function resources(random: Random): JsonObject {
  const made: MutableJsonObject = {};
  if (random.float() < 0.8) made["requests"] = some(random);
  if (random.float() < 0.3) made["limits"] = { cpu: "4", memory: "4Gi" };
  return made;
}

function some(random: Random): MutableJsonObject {
  const names = random.float() < 0.8 ? usual : [...usual, "ephemeral-storage"];
  const chosen = names.filter(() => random.float() < 0.8);
  return Object.fromEntries(chosen.map((name) => [name, random.pick(amounts[name] ?? ["1"])]));
}

function changed(old: JsonObject, random: Random): JsonObject {
  const dice = random.float();
  if (dice < 0.15) return resources(random);
  const requests = { ...(old["requests"] as JsonObject | undefined) } as MutableJsonObject;
  const name = random.pick(dice < 0.85 ? usual : Object.keys(amounts));
  requests[name] = random.pick(amounts[name] ?? ["1"]);
  return { ...old, requests };
}
