// Pods that are wrong, one thing at a time.

import { long, status, type KindCases } from "../rules-groups/cases.ts";
import {
  annotation,
  container,
  init,
  nodeAffinity,
  projected,
  resources,
  right,
  toleration,
  volume,
  spread,
} from "./pod-changes.ts";
import { podSpecChanges } from "./pod-spec-cases.ts";

const terminated = { name: "c", image: "i", imageID: "", state: { terminated: { exitCode: 0 } } };

export const podCases: KindCases = {
  kind: "/v1/Pod",
  fields: () => ({ spec: { containers: [{ name: "c", image: "i" }] } }),
  create: [
    ...podSpecChanges,
    { [`${container}image`]: " i" },
    { [`${container}image`]: "\u0085i" },
    { [`${container}image`]: "i\ufeff" },
    { "metadata/name": "with.dots" },
    { "metadata/name": "Not_Right" },
    projected({ serviceAccountToken: { path: "token" } }),
    {
      "spec/volumes": [
        {
          name: "v",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } },
            },
          },
        },
        { name: "w", persistentVolumeClaim: { claimName: "case-v" } },
      ],
    },
    volume(
      {
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } },
          },
        },
      },
      long(60),
    ),
    {
      ...spread({ ...right, matchLabelKeys: ["a"], labelSelector: {} }),
      "metadata/labels": { a: "b" },
    },
    resources({ requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } }),
    resources({ requests: { cpu: "1" } }),
  ],
  update: [
    {},
    { [`${container}image`]: "other" },
    { [`${container}image`]: "" },
    { [`${container}image`]: " other" },
    { "spec/containers/1": { name: "d", image: "i" } },
    init({}),
    { [`${container}command`]: ["x"] },
    { [`${container}env`]: [{ name: "A", value: "b" }], "spec/hostname": "x" },
    { "spec/volumes": [{ name: "v", emptyDir: {} }] },
    { "spec/nodeName": "other" },
    { "spec/restartPolicy": "Never", "spec/priority": 4 },
    { "spec/activeDeadlineSeconds": 4 },
    { before: { "spec/activeDeadlineSeconds": 4 }, after: { "spec/activeDeadlineSeconds": 5 } },
    {
      before: { "spec/activeDeadlineSeconds": 4 },
      after: { "spec/activeDeadlineSeconds": undefined },
    },
    { before: { "spec/activeDeadlineSeconds": 4 }, after: { "spec/activeDeadlineSeconds": 0 } },
    { before: { "spec/activeDeadlineSeconds": 4 }, after: { "spec/activeDeadlineSeconds": -1 } },
    { "spec/terminationGracePeriodSeconds": 4 },
    {
      before: { "spec/terminationGracePeriodSeconds": -3 },
      after: { "spec/terminationGracePeriodSeconds": 1 },
    },
    toleration({ key: "a", operator: "Exists" }),
    {
      before: toleration({
        key: "a",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 4,
      }),
      after: toleration({
        key: "a",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 5,
      }),
    },
    {
      before: toleration({ key: "a", operator: "Exists" }),
      after: toleration({ key: "b", operator: "Exists" }),
    },
    { "spec/schedulingGates": [{ name: "a" }] },
    {
      before: { "spec/schedulingGates": [{ name: "a" }, { name: "b" }] },
      after: { "spec/schedulingGates": [{ name: "b" }] },
    },
    {
      before: { "spec/schedulingGates": [{ name: "a" }], "spec/nodeSelector": { a: "b" } },
      after: { "spec/nodeSelector": { a: "c" } },
    },
    {
      before: { "spec/schedulingGates": [{ name: "a" }], "spec/nodeSelector": { a: "b" } },
      after: { "spec/nodeSelector": { a: "b", c: "d" } },
    },
    {
      before: {
        "spec/schedulingGates": [{ name: "a" }],
        ...nodeAffinity({ matchExpressions: [{ key: "a", operator: "Exists" }] }),
      },
      after: nodeAffinity({ matchExpressions: [{ key: "b", operator: "Exists" }] }),
    },
    {
      before: {
        "spec/schedulingGates": [{ name: "a" }],
        ...nodeAffinity({ matchExpressions: [{ key: "a", operator: "Exists" }] }),
      },
      after: { "spec/affinity": undefined },
    },
    {
      before: { "spec/schedulingGates": [{ name: "a" }] },
      after: nodeAffinity({ matchExpressions: [{ key: "b", operator: "Exists" }] }),
    },
    annotation("container.apparmor.security.beta.kubernetes.io/c", "unconfined"),
    {
      before: annotation("container.apparmor.security.beta.kubernetes.io/c", "unconfined"),
      after: { "metadata/annotations": {} },
    },
    annotation("kubernetes.io/config.mirror", "x"),
    resources({ requests: { cpu: "1" } }),
    {
      before: resources({ requests: { memory: "1Gi" } }),
      after: resources({ requests: { memory: "1073741824" } }),
    },
    {
      before: { "metadata/labels": { a: "b" } },
      after: { "metadata/labels": { a: "not a value!" } },
    },
  ],
  status: [
    {},
    status({ phase: "Running" }),
    status({ conditions: [{ type: "not right", status: "True" }] }),
    status({ conditions: [{ type: "Ready", status: "True", observedGeneration: -1 }] }),
    status({ observedGeneration: -1 }),
    status({ nominatedNodeName: "Not_Right" }),
    status({ nominatedNodeName: "right" }),
    status({ qosClass: "Guaranteed" }),
    status({ podIP: "x", podIPs: [{ ip: "x" }] }),
    status({ podIP: "1.2.3.4", podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] }),
    status({ podIP: "1.2.3.4", podIPs: [{ ip: "1.2.3.4" }, { ip: "2001:DB8::1" }] }),
    status({ podIP: "x", podIPs: [{ ip: "x" }, { ip: "2001:DB8::1" }] }),
    status({ hostIP: "1.2.3.4", hostIPs: [{ ip: "1.2.3.5" }] }),
    status({ resourceClaimStatuses: [{ name: "x", resourceClaimName: "No_" }, { name: "x" }] }),
    status({ extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: "" } }),
    status({
      extendedResourceClaimStatus: {
        resourceClaimName: "No_",
        requestMappings: [
          { containerName: "c", resourceName: "r", requestName: "No_" },
          { containerName: "d", resourceName: "r", requestName: "a" },
          { containerName: "d", resourceName: "r", requestName: "a" },
        ],
      },
    }),
    status({
      containerStatuses: [
        {
          name: "c",
          image: "i",
          imageID: "",
          user: { linux: { uid: -1, gid: -2, supplementalGroups: [-3] } },
        },
      ],
    }),
    status({
      containerStatuses: [
        {
          name: "c",
          image: "i",
          imageID: "",
          allocatedResourcesStatus: [
            {
              name: "claim:x",
              resources: [
                { resourceID: "<a>", health: "No" },
                { resourceID: "<a>", message: "" },
              ],
            },
            { name: "y" },
          ],
        },
      ],
    }),
    status({
      ephemeralContainerStatuses: [
        { name: "e", image: "i", imageID: "", allocatedResourcesStatus: [{ name: "x" }] },
      ],
    }),
    status({
      containerStatuses: [
        {
          name: "c",
          image: "i",
          imageID: "",
          volumeMounts: [{ name: "v", mountPath: "/x", volumeStatus: { image: { imageRef: "" } } }],
        },
      ],
    }),
    status({ containerStatuses: [terminated] }),
  ],
};
