// Changes to Pods through endpoints of their own, right and wrong.

import type { Json, JsonObject } from "@keelson/base";

import type { Change, KindCases, UpdateCase } from "../rules-groups/cases.ts";

const c = "spec/containers/0/";
const i = "spec/initContainers/0/";
const e = "spec/ephemeralContainers";

const amounts = (cpu: string, memory: string): JsonObject => ({ cpu, memory });
const requests = (cpu: string, memory: string): JsonObject => ({ requests: amounts(cpu, memory) });
const sized: Change = {
  [`${c}resources`]: { requests: amounts("100m", "1Gi"), limits: amounts("1", "2Gi") },
};
const guaranteed: Change = {
  [`${c}resources`]: { requests: amounts("1", "1Gi"), limits: amounts("1", "1Gi") },
};
const resized = (before: Change, after: Change): UpdateCase => ({ before, after });
const init = (own: JsonObject): Change => ({
  ...sized,
  "spec/initContainers": [{ name: "init", image: "i", ...own }],
});
const running = (own: JsonObject): Readonly<Record<string, Change>> => ({
  status: {
    "status/containerStatuses": [
      {
        name: "c",
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
        state: { running: {} },
        ...own,
      },
    ],
  },
});
const mirror: Change = {
  "spec/nodeName": "n",
  "metadata/annotations/kubernetes.io~1config.mirror": "x",
};
const debug = (own: JsonObject = {}): JsonObject => ({ name: "debug", image: "i", ...own });
const existing = (...list: readonly Json[]): Readonly<Record<string, Change>> => ({
  ephemeralcontainers: { [e]: list },
});

export const podSubresourceCases: KindCases = {
  kind: "/v1/Pod",
  fields: () => ({ spec: { containers: [{ name: "c", image: "i" }] } }),
  resize: [
    {},
    resized(sized, {}),
    resized(sized, { [`${c}resources/requests/cpu`]: "200m" }),
    resized(sized, { [`${c}resources/requests/cpu`]: "0.1" }),
    resized(sized, { [`${c}resources/limits`]: amounts("2", "4Gi") }),
    resized(sized, { [`${c}resources/requests/cpu`]: "3" }),
    resized(sized, { [`${c}resources/requests/cpu`]: "-1" }),
    resized(sized, { [`${c}resources/requests/cpu`]: undefined }),
    resized(sized, { [`${c}resources/requests`]: undefined }),
    resized(sized, { [`${c}resources/limits`]: undefined }),
    resized(sized, { [`${c}resources`]: undefined }),
    resized(sized, { [`${c}resources/requests/ephemeral-storage`]: "1Gi" }),
    resized(sized, { [`${c}resources/limits/example.com~1gpu`]: "1" }),
    resized(
      { ...sized, [`${c}resources/requests/ephemeral-storage`]: "1Gi" },
      { [`${c}resources/requests/ephemeral-storage`]: "2Gi" },
    ),
    resized(
      { ...sized, [`${c}resources/requests/ephemeral-storage`]: "1Gi" },
      { [`${c}resources/requests/ephemeral-storage`]: "1024Mi" },
    ),
    resized({}, sized),
    resized(guaranteed, { [`${c}resources/requests/cpu`]: "500m" }),
    resized(guaranteed, {
      [`${c}resources`]: { requests: amounts("2", "1Gi"), limits: amounts("2", "1Gi") },
    }),
    // Everything else stays as it is.
    resized(sized, { [`${c}image`]: "other", "spec/nodeName": "n", "metadata/labels": { a: "b" } }),
    resized(sized, { [`${c}image`]: "other", [`${c}resources/requests/cpu`]: "300m" }),
    resized(sized, { [`${c}name`]: "d" }),
    resized(sized, { "spec/containers/1": { name: "d", image: "i" } }),
    resized(
      { ...sized, "spec/containers/1": { name: "d", image: "i" } },
      { "spec/containers/1": undefined },
    ),
    resized(
      { ...sized, "spec/containers/1": { name: "d", image: "i" } },
      {
        "spec/containers": [
          { name: "d", image: "i" },
          { name: "c", image: "i" },
        ],
      },
    ),
    resized(sized, { "spec/initContainers": [{ name: "init", image: "i" }] }),
    resized(sized, { "spec/containers/1": { name: "No_", image: "" } }),
    resized(sized, {
      [`${c}resizePolicy`]: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
    }),
    resized(sized, {
      [`${c}resizePolicy`]: [{ resourceName: "gpu", restartPolicy: "Sometimes" }],
    }),
    resized(sized, { [`${c}resizePolicy`]: undefined }),
    resized(
      { ...sized, "spec/resourceClaims": [{ name: "x", resourceClaimName: "y" }] },
      { [`${c}resources/claims`]: [{ name: "x" }] },
    ),
    resized(
      {
        ...sized,
        "spec/resourceClaims": [{ name: "x", resourceClaimName: "y" }],
        [`${c}resources/claims`]: [{ name: "x" }],
      },
      { [`${c}resources/requests/cpu`]: "200m" },
    ),
    resized(init({}), { [`${i}resources`]: requests("1", "1Gi") }),
    resized(init({ resources: requests("1", "1Gi") }), { [`${i}resources/requests/cpu`]: "2" }),
    resized(init({ resources: requests("1", "1Gi") }), { [`${i}resources`]: undefined }),
    resized(init({ resources: requests("1", "1Gi") }), {
      [`${i}resources/requests/ephemeral-storage`]: "2",
    }),
    resized(init({ restartPolicy: "Always", resources: requests("1", "1Gi") }), {
      [`${i}resources/requests/cpu`]: "2",
    }),
    resized(init({ restartPolicy: "Always", resources: requests("1", "1Gi") }), {
      [`${i}resizePolicy`]: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
    }),
    resized(init({ resources: requests("1", "1Gi") }), {
      [`${i}resizePolicy`]: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
    }),
    resized(init({}), { [`${i}name`]: "other" }),
    resized(init({}), { "spec/initContainers": undefined }),
    resized({ ...sized, "spec/os": { name: "windows" } }, { [`${c}resources/requests/cpu`]: "2" }),
    resized({ ...sized, ...mirror }, { [`${c}resources/requests/cpu`]: "200m" }),
    { before: sized, through: running({}), after: { [`${c}resources/requests/cpu`]: "200m" } },
    {
      before: sized,
      through: running({ resources: requests("100m", "1Gi") }),
      after: { [`${c}resources/requests/cpu`]: "200m" },
    },
    // Sizes of the Pod itself.
    resized(sized, { "spec/resources": {} }),
    resized(sized, { "spec/resources": requests("1", "2Gi") }),
    resized({ ...sized, "spec/resources": requests("1", "2Gi") }, { "spec/resources": undefined }),
    resized(
      { ...sized, "spec/resources": requests("1", "2Gi") },
      { "spec/resources/requests/cpu": "2" },
    ),
    resized(
      { ...sized, "spec/resources": requests("1", "2Gi") },
      { "spec/resources/requests/cpu": undefined },
    ),
    resized(
      { ...sized, "spec/resources": requests("1", "2Gi") },
      { "spec/resources/requests/hugepages-2Mi": "2Mi" },
    ),
    resized(
      { ...sized, "spec/resources": { limits: amounts("1", "2Gi") } },
      { "spec/resources/limits": undefined },
    ),
  ],
  ephemeralcontainers: [
    {},
    { [e]: [debug()] },
    { [e]: [debug(), debug({ name: "more", targetContainerName: "c" })] },
    { [e]: [debug(), debug()] },
    { [e]: [debug({ name: "c" })] },
    { [e]: [debug({ name: "No_", image: "" })] },
    { [e]: [debug({ image: " i " })] },
    { [e]: [debug({ targetContainerName: "nobody" })] },
    { [e]: [debug({ resources: requests("1", "1") })] },
    {
      [e]: [debug({ ports: [{ containerPort: 80 }], livenessProbe: { exec: { command: ["x"] } } })],
    },
    { [e]: [debug({ lifecycle: { preStop: { exec: { command: ["x"] } } } })] },
    { [e]: [debug({ lifecycle: { stopSignal: "SIGTERM" } })] },
    { [e]: [debug({ restartPolicy: "Always" })] },
    { [e]: [debug({ volumeMounts: [{ name: "v", mountPath: "/v", subPath: "x" }] })] },
    {
      before: { "spec/volumes": [{ name: "v", emptyDir: {} }] },
      after: { [e]: [debug({ volumeMounts: [{ name: "v", mountPath: "/v", subPath: "x" }] })] },
    },
    // Everything else stays as it is.
    { [e]: [debug()], [`${c}image`]: "other", "metadata/labels": { a: "b" } },
    { before: {}, through: existing(debug()), after: {} },
    { before: {}, through: existing(debug()), after: { [e]: undefined } },
    { before: {}, through: existing(debug()), after: { [e]: [debug({ image: "other" })] } },
    {
      before: {},
      through: existing(debug()),
      after: { [`${e}/0/tty`]: true, [`${e}/0/env`]: [{ name: "a", value: "b" }] },
    },
    { before: {}, through: existing(debug()), after: { [`${e}/-`]: debug({ name: "more" }) } },
    {
      before: {},
      through: existing(debug(), debug({ name: "more" })),
      after: { [e]: [debug({ name: "more" }), debug()] },
    },
    {
      before: {},
      through: existing(debug(), debug({ name: "more" })),
      after: { [e]: [debug({ name: "new" })] },
    },
    { before: mirror, after: { [e]: [debug()] } },
    {
      before: { "spec/os": { name: "windows" } },
      after: { [e]: [debug({ securityContext: { runAsUser: 1 } })] },
    },
  ],
};
