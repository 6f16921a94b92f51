// Pods that are wrong, one thing at a time.

import type { Json } from "@keelson/base";

import { long, status, type Change, type KindCases } from "../rules-groups/cases.ts";

const c = "spec/containers/0/";

const volume = (source: Readonly<Record<string, Json>>, name = "v"): Change => ({
  "spec/volumes": [{ name, ...source }],
});
const mounted = (source: Readonly<Record<string, Json>>, mount: Json): Change => ({
  ...volume(source),
  [`${c}volumeMounts`]: [mount],
});
const probe = (value: Json): Change => ({ [`${c}livenessProbe`]: value });
const env = (...value: readonly Json[]): Change => ({ [`${c}env`]: value });
const resources = (value: Json): Change => ({ [`${c}resources`]: value });
const security = (value: Json): Change => ({ [`${c}securityContext`]: value });
const podSecurity = (value: Json): Change => ({ "spec/securityContext": value });
const toleration = (value: Json): Change => ({ "spec/tolerations": [value] });
const init = (value: Readonly<Record<string, Json>>): Change => ({
  "spec/initContainers": [{ name: "init", image: "i", ...value }],
});
const projected = (...sources: readonly Json[]): Change => volume({ projected: { sources } });
const nodeAffinity = (...terms: readonly Json[]): Change => ({
  "spec/affinity": {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
    },
  },
});
const podAffinity = (term: Json): Change => ({
  "spec/affinity": {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
  },
});
const spread = (...constraints: readonly Json[]): Change => ({
  "spec/topologySpreadConstraints": constraints,
});
const right = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
const annotation = (key: string, value: string): Change => ({
  "metadata/annotations": { [key]: value },
});

/** What every spec of a Pod is asked, whoever holds it. */
export const podSpecChanges: readonly Change[] = [
  {},
  { "spec/containers": [] },
  { [`${c}name`]: "" },
  { [`${c}name`]: "Not A Name" },
  { [`${c}name`]: "with.dots" },
  { [`${c}name`]: long(64) },
  { [`${c}image`]: "" },
  { "spec/containers/1": { name: "c", image: "i" } },
  { [`${c}terminationMessagePolicy`]: "Nothing" },
  { [`${c}imagePullPolicy`]: "Sometimes" },
  { "spec/restartPolicy": "Perhaps" },
  { "spec/dnsPolicy": "Mine" },
  { "spec/dnsPolicy": "None" },
  { "spec/dnsPolicy": "None", "spec/dnsConfig": { searches: ["x"] } },
  { "spec/dnsConfig": { nameservers: ["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"] } },
  { "spec/dnsConfig": { nameservers: ["x", "01.2.3.4", "::ffff:1.2.3.4", "2001:DB8::0"] } },
  { "spec/dnsConfig": { nameservers: ["2001:DB8::0"] } },
  { "spec/dnsConfig": { searches: ["Not.Right", "_x.y", ".", "a.", ""] } },
  { "spec/dnsConfig": { searches: Array.from({ length: 33 }, (_, i) => `s${i}`) } },
  { "spec/dnsConfig": { searches: Array.from({ length: 9 }, (_, i) => `${long(250)}${i}`) } },
  { "spec/dnsConfig": { options: [{ value: "x" }] } },
  { "spec/nodeSelector": { "a/b/c": "not a value!" } },
  { "spec/nodeSelector": { "beta.kubernetes.io/os": "linux" } },
  { "spec/serviceAccountName": "Not_Right" },
  { "spec/nodeName": "Not_Right" },
  { "spec/activeDeadlineSeconds": 0 },
  { "spec/activeDeadlineSeconds": 3_000_000_000 },
  { "spec/activeDeadlineSeconds": -(2n ** 53n) - 1n },
  { "spec/hostname": "Not.Right" },
  { "spec/subdomain": "a.b" },
  { "spec/priorityClassName": "Not_Right" },
  { "spec/runtimeClassName": "Not_Right" },
  { "spec/preemptionPolicy": "Sometimes" },
  { "spec/terminationGracePeriodSeconds": -1 },
  // One at a time: the real server goes through maps in any order.
  { "spec/overhead": { cpu: "-1" } },
  { "spec/overhead": { nonsense: "1" } },
  { "spec/overhead": { memory: "1500m" } },
  { "spec/os": { name: "plan9" } },
  { "spec/os": { name: "" } },
  { "spec/os": { name: "linux" }, ...podSecurity({ windowsOptions: { hostProcess: false } }) },
  { "spec/os": { name: "linux" }, ...security({ windowsOptions: {} }) },
  {
    "spec/os": { name: "windows" },
    "spec/hostPID": true,
    "spec/hostIPC": true,
    "spec/hostUsers": true,
    "spec/shareProcessNamespace": false,
    ...podSecurity({
      seLinuxOptions: {},
      fsGroup: 1,
      runAsUser: 1,
      sysctls: [{ name: "a", value: "b" }],
      supplementalGroups: [1],
      seccompProfile: { type: "Unconfined" },
    }),
    ...security({ privileged: true, runAsUser: 3, capabilities: {} }),
  },
  { "spec/hostAliases": [{ ip: "x", hostnames: ["Not_Right"] }] },
  { "spec/hostAliases": [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }, { ip: "::0001" }] },
  { "spec/imagePullSecrets": [{ name: "a" }, { name: "a" }, {}] },
  { "spec/readinessGates": [{ conditionType: "not right" }] },
  { "spec/schedulingGates": [{ name: "a" }, { name: "a" }, { name: "no t" }] },
  { "spec/schedulingGates": [{ name: "a" }], "spec/nodeName": "n" },
  { "spec/hostnameOverride": "Not_Right" },
  { "spec/hostnameOverride": "right", "spec/hostNetwork": true, "spec/setHostnameAsFQDN": true },
  { "spec/hostnameOverride": long(65) },
  // Ports.
  { [`${c}ports`]: [{ containerPort: 0 }] },
  { [`${c}ports`]: [{ containerPort: 70000, hostPort: -1 }] },
  { [`${c}ports`]: [{ containerPort: 1, protocol: "HTTP" }] },
  { [`${c}ports`]: [{ containerPort: 1, name: "Not--right-" }] },
  {
    [`${c}ports`]: [
      { containerPort: 1, name: "123" },
      { containerPort: 2, name: long(16) },
    ],
  },
  {
    [`${c}ports`]: [
      { containerPort: 1, name: "a" },
      { containerPort: 2, name: "a" },
    ],
  },
  {
    [`${c}ports`]: [
      { containerPort: 1, hostPort: 5 },
      { containerPort: 2, hostPort: 5 },
    ],
  },
  {
    [`${c}ports`]: [
      { containerPort: 1 },
      { containerPort: 1, hostPort: 4 },
      { containerPort: 1, hostIP: "1.2.3.4" },
      { containerPort: 1, hostIP: "1.2.3.4", hostPort: 4 },
    ],
  },
  { "spec/hostNetwork": true, [`${c}ports`]: [{ containerPort: 1, hostPort: 2 }] },
  { "spec/hostNetwork": true, [`${c}ports`]: [{ containerPort: 1 }] },
  // Variables.
  env({ value: "x" }),
  env({ name: "a=b" }, { name: "\u00e9" }, { name: "right one" }),
  env({ name: "A", value: "1" }, { name: "A", value: "2" }, { name: "A", value: "$(A)x" }),
  env({ name: "A", valueFrom: {} }),
  env({ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.nothing" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.host" } } }),
  env({ name: "A", valueFrom: { fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['no t']" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['A b']" } } }),
  env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } }),
  env({ name: "A", valueFrom: { resourceFieldRef: { resource: "" } } }),
  env({ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.nothing" } } }),
  env({ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "3" } } }),
  env({ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "3m" } } }),
  env({
    name: "A",
    valueFrom: { resourceFieldRef: { resource: "requests.hugepages-1Mi", divisor: "3m" } },
  }),
  env({ name: "A", valueFrom: { configMapKeyRef: { name: "Not_R", key: "" } } }),
  env({ name: "A", valueFrom: { secretKeyRef: { name: "", key: "a/b" } } }),
  env({ name: "A", valueFrom: { secretKeyRef: { name: "x", key: "..x" } } }),
  env({
    name: "A",
    valueFrom: { secretKeyRef: { name: "x", key: "k" }, configMapKeyRef: { name: "x", key: "k" } },
  }),
  env({ name: "A", valueFrom: { fileKeyRef: { key: "", volumeName: "", path: "" } } }),
  env({ name: "A", valueFrom: { fileKeyRef: { key: "a=", volumeName: "X", path: "../a" } } }),
  {
    ...volume({ secret: { secretName: "s" } }),
    ...env({ name: "A", valueFrom: { fileKeyRef: { key: "a", volumeName: "v", path: "a" } } }),
  },
  { [`${c}envFrom`]: [{}] },
  { [`${c}envFrom`]: [{ prefix: "a=", configMapRef: { name: "" } }] },
  { [`${c}envFrom`]: [{ secretRef: { name: "No" }, configMapRef: { name: "x" } }] },
  // Probes and lifecycles.
  probe({}),
  probe({ exec: {} }),
  probe({ exec: { command: ["a"] }, httpGet: { port: 1 } }),
  probe({ httpGet: { path: "/", port: 0 } }),
  probe({ httpGet: { path: "/", port: "Not--right" } }),
  probe({ httpGet: { path: "/", port: 70000, scheme: "FTP" } }),
  probe({ httpGet: { path: "/", port: 1, httpHeaders: [{ name: "X_Y", value: "z" }] } }),
  probe({ tcpSocket: { port: -1 } }),
  probe({ grpc: { port: 0 } }),
  probe({ exec: { command: ["a"] }, successThreshold: 2 }),
  probe({
    exec: { command: ["a"] },
    initialDelaySeconds: -1,
    periodSeconds: -2,
    timeoutSeconds: -3,
  }),
  probe({ exec: { command: ["a"] }, terminationGracePeriodSeconds: 0 }),
  {
    [`${c}readinessProbe`]: { exec: { command: ["a"] }, terminationGracePeriodSeconds: 4 },
    [`${c}startupProbe`]: { exec: { command: ["a"] }, successThreshold: 3, failureThreshold: -1 },
  },
  { [`${c}lifecycle`]: { postStart: {}, preStop: { exec: { command: [] } } } },
  { [`${c}lifecycle`]: { preStop: { sleep: { seconds: 100 } } } },
  { [`${c}lifecycle`]: { preStop: { sleep: { seconds: -1 } } } },
  { [`${c}lifecycle`]: { stopSignal: "SIGKILL" } },
  // Volumes and mounts.
  volume({ emptyDir: {} }, ""),
  volume({ emptyDir: {} }, "Not.Right"),
  volume({ emptyDir: { sizeLimit: "-1" } }),
  { "spec/volumes": [{ name: "v" }, { name: "v", emptyDir: {} }, { name: "v", emptyDir: {} }] },
  volume({ emptyDir: {}, hostPath: { path: "/x" }, cephfs: {}, downwardAPI: {} }),
  volume({ hostPath: { path: "" } }),
  volume({ hostPath: { path: "/a/../b", type: "Nothing" } }),
  volume({ gitRepo: { repository: "", directory: "/a/.." } }),
  volume({ gcePersistentDisk: { pdName: "", partition: 300 } }),
  volume({ awsElasticBlockStore: { volumeID: "", partition: -1 } }),
  volume({ secret: { secretName: "", defaultMode: 1000 } }),
  volume({ secret: { secretName: "s", items: [{ key: "", path: "/a", mode: -1 }] } }),
  volume({ configMap: { name: "", items: [{ key: "a", path: "..a" }] } }),
  volume({
    configMap: {
      name: "m",
      items: [
        { key: "a", path: "a" },
        { key: "b", path: "a/b" },
      ],
    },
  }),
  volume({ nfs: { server: "", path: "a" } }),
  volume({ iscsi: { targetPortal: "", iqn: "", lun: 300, chapAuthDiscovery: true } }),
  volume({ iscsi: { targetPortal: "a", iqn: "iqn.x", lun: 0, initiatorName: "abc" } }),
  volume({
    iscsi: { targetPortal: long(80), iqn: "eui.0123456789ABCDEF", lun: 0, initiatorName: "naa.x" },
  }),
  volume({ glusterfs: { endpoints: "", path: "" } }),
  volume({ flocker: {} }),
  volume({ flocker: { datasetName: "a/b", datasetUUID: "u" } }),
  volume({ persistentVolumeClaim: { claimName: "" } }),
  volume({ rbd: { monitors: [], image: "" } }),
  volume({ cinder: { volumeID: "", secretRef: {} } }),
  volume({ cephfs: { monitors: [] } }),
  volume({ quobyte: { registry: "", volume: "" } }),
  volume({ quobyte: { registry: "a,b:1", volume: "v" } }),
  volume({ quobyte: { registry: "a:1", volume: "v", tenant: long(65) } }),
  volume({ downwardAPI: { defaultMode: 4096, items: [{ path: "" }] } }),
  volume({
    downwardAPI: {
      items: [
        { path: "a", fieldRef: { fieldPath: "spec.nodeName" } },
        { path: "b", resourceFieldRef: { resource: "limits.cpu" } },
        {
          path: "/c",
          mode: -4,
          fieldRef: { fieldPath: "metadata.name" },
          resourceFieldRef: { resource: "limits.cpu", containerName: "c" },
        },
      ],
    },
  }),
  volume({ fc: {} }),
  volume({ fc: { targetWWNs: ["a"], wwids: ["b"], lun: 256 } }),
  volume({ fc: { targetWWNs: ["a"] } }),
  volume({ flexVolume: { driver: "", options: { "a.k8s.io/x": "y" } } }),
  volume({ azureFile: { secretName: "", shareName: "" } }),
  volume({ azureDisk: { diskName: "", diskURI: "", cachingMode: "No", kind: "Managed" } }),
  volume({ azureDisk: { diskName: "d", diskURI: "x", kind: "Shared" } }),
  volume({ vsphereVolume: { volumePath: "" } }),
  volume({ photonPersistentDisk: { pdID: "" } }),
  volume({ portworxVolume: { volumeID: "" } }),
  volume({ storageos: { volumeName: "", volumeNamespace: "No", secretRef: {} } }),
  volume({ scaleIO: { gateway: "", system: "", secretRef: null } }),
  volume({ csi: { driver: "", nodePublishSecretRef: {} } }),
  volume({ csi: { driver: `No_${long(70)}`, nodePublishSecretRef: { name: "No" } } }),
  volume({ ephemeral: {} }),
  volume({
    ephemeral: {
      volumeClaimTemplate: { metadata: { name: "x", labels: { "a b": "c" } }, spec: {} },
    },
  }),
  volume({ image: { reference: "", pullPolicy: "Perhaps" } }),
  projected({}),
  projected({ secret: { name: "" }, configMap: { name: "m", items: [{ key: "", path: "" }] } }),
  projected(
    { secret: { name: "s", items: [{ key: "k", path: "a" }] } },
    { configMap: { name: "m", items: [{ key: "k", path: "a" }] } },
    { downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "metadata.name" } }] } },
  ),
  projected({ serviceAccountToken: { path: "", expirationSeconds: 3 } }),
  projected({ serviceAccountToken: { path: "/x", expirationSeconds: 5_000_000_000 } }),
  projected({ clusterTrustBundle: { name: "x", path: "p" } }),
  mounted({ emptyDir: {} }, { name: "", mountPath: "" }),
  mounted({ emptyDir: {} }, { name: "other", mountPath: "/x" }),
  {
    ...volume({ emptyDir: {} }),
    [`${c}volumeMounts`]: [
      { name: "v", mountPath: "/x", subPath: "/a" },
      { name: "v", mountPath: "/x", subPath: "../a", subPathExpr: "b/.." },
    ],
  },
  mounted({ emptyDir: {} }, { name: "v", mountPath: "/x", mountPropagation: "Bidirectional" }),
  mounted({ emptyDir: {} }, { name: "v", mountPath: "/x", mountPropagation: "Nothing" }),
  mounted({ emptyDir: {} }, { name: "v", mountPath: "/x", recursiveReadOnly: "Nothing" }),
  mounted(
    { emptyDir: {} },
    {
      name: "v",
      mountPath: "/x",
      recursiveReadOnly: "Enabled",
      mountPropagation: "HostToContainer",
    },
  ),
  {
    ...volume({ emptyDir: {} }),
    [`${c}volumeDevices`]: [
      { name: "v", devicePath: "/dev/x" },
      { name: "v", devicePath: "/dev/x" },
      { name: "", devicePath: "" },
      { name: "w", devicePath: "/a/../b" },
    ],
    [`${c}volumeMounts`]: [{ name: "v", mountPath: "/dev/x" }],
  },
  // Resources.
  resources({ limits: { cpu: "-1" } }),
  resources({ limits: { nothing: "1" } }),
  resources({ limits: { "not right/x": "1" } }),
  resources({ limits: { "requests.x.y/z": "1" } }),
  resources({ limits: { storage: "1" } }),
  resources({ requests: { cpu: "2" }, limits: { cpu: "1" } }),
  resources({ requests: { memory: "1500m" }, limits: { "ephemeral-storage": "100m" } }),
  resources({ requests: { "example.com/gpu": "1" } }),
  resources({ requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } }),
  resources({ limits: { "example.com/gpu": "500m" } }),
  resources({ limits: { "hugepages-2Mi": "3Mi" } }),
  resources({ limits: { "hugepages-x": "3Mi", cpu: "1" } }),
  resources({ claims: [{ name: "" }, { name: "a" }, { name: "a" }, { name: "b", request: "No" }] }),
  { "spec/resourceClaims": [{ name: "" }] },
  {
    "spec/resourceClaims": [
      { name: "a", resourceClaimName: "x", resourceClaimTemplateName: "y" },
      { name: "a", resourceClaimName: "No_" },
      { name: "No", resourceClaimTemplateName: "No_" },
    ],
  },
  { "spec/resources": { limits: { cpu: "1", storage: "1" }, claims: [{ name: "a" }] } },
  {
    "spec/resources": { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1" } },
    ...resources({ requests: { cpu: "2" }, limits: { cpu: "3" } }),
  },
  { [`${c}resizePolicy`]: [{ resourceName: "disk", restartPolicy: "Now" }] },
  {
    [`${c}resizePolicy`]: [
      { resourceName: "cpu", restartPolicy: "RestartContainer" },
      { resourceName: "cpu", restartPolicy: "" },
    ],
  },
  // Rights.
  security({ runAsUser: -1, runAsGroup: 3_000_000_000 }),
  security({ procMount: "Nothing" }),
  security({ procMount: "Unmasked" }),
  security({ seccompProfile: { type: "" } }),
  security({ seccompProfile: { type: "Nothing", localhostProfile: "x" } }),
  security({ seccompProfile: { type: "Localhost" } }),
  security({ seccompProfile: { type: "Localhost", localhostProfile: "/../x" } }),
  security({ seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" } }),
  security({ appArmorProfile: { type: "" } }),
  security({ appArmorProfile: { type: "Nothing" } }),
  security({ appArmorProfile: { type: "Localhost" } }),
  security({ appArmorProfile: { type: "Localhost", localhostProfile: " x" } }),
  security({ appArmorProfile: { type: "Localhost", localhostProfile: "x\u0085" } }),
  security({ appArmorProfile: { type: "Localhost", localhostProfile: "\ufeff" } }),
  security({ appArmorProfile: { type: "Localhost", localhostProfile: "" } }),
  security({ appArmorProfile: { type: "Unconfined", localhostProfile: "x" } }),
  security({ privileged: true, allowPrivilegeEscalation: false }),
  security({ capabilities: { add: ["CAP_SYS_ADMIN"] }, allowPrivilegeEscalation: false }),
  security({ windowsOptions: { gmsaCredentialSpecName: "No_", gmsaCredentialSpec: "" } }),
  security({ windowsOptions: { runAsUserName: "" } }),
  security({ windowsOptions: { runAsUserName: "a\\b\\c" } }),
  security({ windowsOptions: { runAsUserName: "\\x" } }),
  security({ windowsOptions: { runAsUserName: "a.b..c\\..." } }),
  security({ windowsOptions: { runAsUserName: `d\\${long(105)}` } }),
  security({ windowsOptions: { runAsUserName: "a/b" } }),
  security({ windowsOptions: { hostProcess: true } }),
  {
    ...podSecurity({ windowsOptions: { hostProcess: true } }),
    ...security({ windowsOptions: { hostProcess: false } }),
  },
  podSecurity({ fsGroup: -1, runAsUser: -2, runAsGroup: -3, supplementalGroups: [1, -4] }),
  podSecurity({ fsGroupChangePolicy: "Never", supplementalGroupsPolicy: "No" }),
  podSecurity({ seLinuxChangePolicy: "MountOption" }),
  podSecurity({ sysctls: [{ name: "" }, { name: "A.b" }, { name: "a.b" }, { name: "a.b" }] }),
  { ...podSecurity({ sysctls: [{ name: "net.a", value: "1" }] }), "spec/hostNetwork": true },
  { ...podSecurity({ sysctls: [{ name: "kernel/sem", value: "1" }] }), "spec/hostIPC": true },
  podSecurity({ seccompProfile: { type: "Nothing" }, appArmorProfile: { type: "Nothing" } }),
  { "spec/hostPID": true, "spec/shareProcessNamespace": true },
  { "spec/hostUsers": false, "spec/hostNetwork": true, "spec/hostPID": true, "spec/hostIPC": true },
  {
    "spec/hostUsers": false,
    ...volume({ persistentVolumeClaim: { claimName: "x" } }),
    [`${c}volumeDevices`]: [{ name: "v", devicePath: "/x" }],
  },
  // Where it runs.
  nodeAffinity(),
  nodeAffinity({}),
  nodeAffinity({ matchExpressions: [{ key: "", operator: "Nothing" }] }),
  nodeAffinity({ matchExpressions: [{ key: "a", operator: "In" }] }),
  nodeAffinity({ matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] }),
  nodeAffinity({ matchExpressions: [{ key: "a", operator: "Gt", values: ["b", "c!"] }] }),
  nodeAffinity({ matchFields: [{ key: "a", operator: "Gt", values: ["b"] }] }),
  nodeAffinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["No_", "b"] }] }),
  nodeAffinity({ matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }] }),
  {
    "spec/affinity": {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 0, preference: { matchExpressions: [{ key: "a b", operator: "Exists" }] } },
          {
            weight: 1,
            preference: { matchExpressions: [{ key: "a", operator: "In", values: ["!"] }] },
          },
        ],
      },
    },
  },
  {
    "spec/affinity": {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            preference: { matchExpressions: [{ key: "a", operator: "In", values: ["!"] }] },
          },
        ],
      },
    },
  },
  podAffinity({ topologyKey: "" }),
  podAffinity({ topologyKey: "a b", namespaces: ["No_"] }),
  podAffinity({
    topologyKey: "a",
    labelSelector: { matchExpressions: [{ key: "a", operator: "?" }] },
  }),
  podAffinity({
    topologyKey: "a",
    labelSelector: { matchLabels: { "a b": "c!" } },
    namespaceSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["!"] }] },
  }),
  podAffinity({ topologyKey: "a", matchLabelKeys: ["x"] }),
  podAffinity({
    topologyKey: "a",
    labelSelector: {},
    matchLabelKeys: ["x", "a b"],
    mismatchLabelKeys: ["x"],
  }),
  {
    "metadata/labels": { x: "y" },
    ...podAffinity({
      topologyKey: "a",
      labelSelector: { matchLabels: { x: "1" } },
      matchLabelKeys: ["x"],
    }),
  },
  {
    "spec/affinity": {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 101, podAffinityTerm: { topologyKey: "zone" } },
        ],
      },
    },
  },
  toleration({ operator: "Equal" }),
  toleration({ key: "a b", operator: "Nothing" }),
  toleration({ key: "a", operator: "Exists", value: "x" }),
  toleration({ key: "a", value: "x!" }),
  toleration({ key: "a", operator: "Exists", effect: "Nothing" }),
  toleration({ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 4 }),
  toleration({ key: "a", operator: "Lt", value: "5" }),
  spread({ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Nothing" }),
  spread(right, right),
  spread({ ...right, minDomains: 0, whenUnsatisfiable: "ScheduleAnyway" }),
  spread({ ...right, nodeAffinityPolicy: "No", nodeTaintsPolicy: "No" }),
  spread({ ...right, matchLabelKeys: ["a"] }),
  spread({ ...right, matchLabelKeys: ["a b"], labelSelector: { matchLabels: { "a b": "c" } } }),
  spread({ ...right, labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
  spread({ ...right, topologyKey: "failure-domain.beta.kubernetes.io/zone", labelSelector: {} }),
  // Containers before the others.
  init({}),
  init({ name: "c" }),
  init({ name: "", lifecycle: {}, livenessProbe: {}, readinessProbe: {}, startupProbe: {} }),
  init({ restartPolicy: "Perhaps" }),
  init({ restartPolicy: "Always", livenessProbe: {} }),
  init({ restartPolicyRules: [{ action: "Restart" }] }),
  init({ resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }),
  init({
    ports: [
      { containerPort: 1, hostPort: 2 },
      { containerPort: 3, hostPort: 2 },
    ],
  }),
  {
    [`${c}restartPolicy`]: "Never",
    [`${c}restartPolicyRules`]: [
      { action: "Nothing", exitCodes: { operator: "Is", values: [1] } },
      { action: "Restart" },
    ],
  },
  {
    [`${c}restartPolicyRules`]: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }],
  },
  { [`${c}restartPolicy`]: "Nothing" },
  { "spec/ephemeralContainers": [{ name: "e", image: "i" }] },
  {
    "spec/ephemeralContainers": [
      { name: "c", image: " i", targetContainerName: "x", ports: [{ containerPort: 1 }] },
    ],
  },
  // Annotations.
  annotation("controller.kubernetes.io/pod-deletion-cost", "+1"),
  annotation("controller.kubernetes.io/pod-deletion-cost", "3000000000"),
  annotation("scheduler.alpha.kubernetes.io/tolerations", '[{"key":"a b","operator":"No"}]'),
  annotation("scheduler.alpha.kubernetes.io/tolerations", "nothing"),
  ...[
    '{"a":1}',
    "null",
    "[null]",
    "[1]",
    '[{"key":1},"a"]',
    '[{"KEY":"a b","Operator":null,"OPERATOR":"No"}]',
    '[{"operator":[],"key":1}]',
    '[{"operator":"Exists","effect":{}}]',
    ...["1.0", "1e3", '"1"', "9223372036854775808", "-0", "9007199254740993", "null"].map(
      (seconds) => `[{"operator":"Exists","effect":"NoSchedule","tolerationSeconds":${seconds}}]`,
    ),
  ].map((text) => annotation("scheduler.alpha.kubernetes.io/tolerations", text)),
  annotation("seccomp.security.alpha.kubernetes.io/pod", "nothing"),
  annotation("seccomp.security.alpha.kubernetes.io/pod", "localhost/../x"),
  annotation("seccomp.security.alpha.kubernetes.io/pod", "unconfined"),
  annotation("container.seccomp.security.alpha.kubernetes.io/c", "nothing"),
  annotation("container.apparmor.security.beta.kubernetes.io/other", "unconfined"),
  annotation("container.apparmor.security.beta.kubernetes.io/c", "nothing"),
  annotation("container.apparmor.security.beta.kubernetes.io/c", "a\u007f\u2028\u0001\u00ad<é"),
  annotation("container.apparmor.security.beta.kubernetes.io/c", "localhost/\u0085x"),
  annotation("container.apparmor.security.beta.kubernetes.io/c", "localhost/\ufeffx"),
  annotation("container.apparmor.security.beta.kubernetes.io/c", `localhost/${long(4095)}`),
  annotation("container.apparmor.security.beta.kubernetes.io/c", `localhost/${long(4096)}`),
  {
    ...annotation("container.apparmor.security.beta.kubernetes.io/c", "localhost/ x"),
    ...podSecurity({ appArmorProfile: { type: "Unconfined" } }),
  },
  annotation("container.apparmor.security.beta.kubernetes.io/c", "runtime/default"),
  {
    ...annotation("container.apparmor.security.beta.kubernetes.io/c", "runtime/default"),
    ...security({ appArmorProfile: { type: "Unconfined" } }),
  },
  {
    ...annotation("container.apparmor.security.beta.kubernetes.io/c", "runtime/default"),
    ...security({ appArmorProfile: { type: "RuntimeDefault" } }),
  },
  {
    ...annotation("container.apparmor.security.beta.kubernetes.io/c", "runtime/default"),
    ...podSecurity({ appArmorProfile: { type: "RuntimeDefault" } }),
  },
  {
    ...annotation("seccomp.security.alpha.kubernetes.io/pod", "unconfined"),
    ...podSecurity({ seccompProfile: { type: "RuntimeDefault" } }),
  },
  annotation("scheduler.alpha.kubernetes.io/critical-pod", ""),
  annotation("kubernetes.io/config.mirror", "x"),
  {
    ...annotation("kubernetes.io/config.mirror", "x"),
    "spec/nodeName": "n",
    "spec/resourceClaims": [{ name: "a", resourceClaimName: "x" }],
  },
];

const terminated = { name: "c", image: "i", imageID: "", state: { terminated: { exitCode: 0 } } };

export const podCases: KindCases = {
  kind: "/v1/Pod",
  fields: () => ({ spec: { containers: [{ name: "c", image: "i" }] } }),
  create: [
    ...podSpecChanges,
    { [`${c}image`]: " i" },
    { [`${c}image`]: "\u0085i" },
    { [`${c}image`]: "i\ufeff" },
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
    { [`${c}image`]: "other" },
    { [`${c}image`]: "" },
    { [`${c}image`]: " other" },
    { "spec/containers/1": { name: "d", image: "i" } },
    init({}),
    { [`${c}command`]: ["x"] },
    { [`${c}env`]: [{ name: "A", value: "b" }], "spec/hostname": "x" },
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
                { resourceID: "a", health: "No" },
                { resourceID: "a", message: "" },
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
