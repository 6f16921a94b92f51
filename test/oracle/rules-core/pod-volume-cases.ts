// Volumes of Pods, and where containers have them, wrong one thing at a time.

import { long, type Change } from "../rules-groups/cases.ts";
import { container, mounted, projected, volume } from "./pod-changes.ts";

export const podVolumeChanges: readonly Change[] = [
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
  volume({ flexVolume: { driver: "d", options: { "a.kubernetes.\u0130o/x": "y" } } }),
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
    [`${container}volumeMounts`]: [
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
    [`${container}volumeDevices`]: [
      { name: "v", devicePath: "/dev/x" },
      { name: "v", devicePath: "/dev/x" },
      { name: "", devicePath: "" },
      { name: "w", devicePath: "/a/../b" },
    ],
    [`${container}volumeMounts`]: [{ name: "v", mountPath: "/dev/x" }],
  },
];
