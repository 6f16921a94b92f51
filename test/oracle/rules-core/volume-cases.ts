// Volumes and claims that are wrong, one thing at a time.

import type { Json } from "@keelson/base";

import { long, status, type Change, type KindCases } from "../rules-groups/cases.ts";

const source = (value: Readonly<Record<string, Json>>): Change => ({
  "spec/hostPath": undefined,
  ...Object.fromEntries(Object.entries(value).map(([name, own]) => [`spec/${name}`, own])),
});
const affinity = (...terms: readonly Json[]): Change => ({
  "spec/nodeAffinity": { required: { nodeSelectorTerms: terms } },
});
const beta = {
  matchExpressions: [{ key: "beta.kubernetes.io/os", operator: "In", values: ["linux"] }],
};
const stable = {
  matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }],
};
const csi = { driver: "a.b", volumeHandle: "h" };

const volume: KindCases = {
  kind: "/v1/PersistentVolume",
  fields: () => ({
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/x" },
    },
  }),
  name: (index) => `volume-${index}`,
  create: [
    {},
    { "metadata/name": "Not_Right" },
    { "spec/accessModes": [] },
    { "spec/accessModes": ["Nothing"] },
    { "spec/accessModes": ["ReadWriteOncePod", "ReadWriteOnce"] },
    { "spec/capacity": undefined },
    { "spec/capacity": { storage: "0" } },
    { "spec/capacity": { storage: "-1" } },
    { "spec/capacity": { cpu: "1" } },
    { "spec/capacity": { storage: "1", cpu: "1" } },
    { "spec/persistentVolumeReclaimPolicy": "Nothing" },
    { "spec/persistentVolumeReclaimPolicy": "Recycle" },
    { "spec/persistentVolumeReclaimPolicy": "Recycle", "spec/hostPath": { path: "/a/.." } },
    { "spec/persistentVolumeReclaimPolicy": "Recycle", "spec/hostPath": { path: "//" } },
    { "spec/nodeAffinity": {} },
    affinity(),
    affinity({ matchExpressions: [{ key: "a", operator: "In", values: ["b!"] }] }),
    affinity(beta),
    { "spec/storageClassName": "Not_Right" },
    { "spec/volumeMode": "Nothing" },
    { "spec/volumeAttributesClassName": "" },
    { "spec/volumeAttributesClassName": "Not_Right" },
    source({}),
    source({
      hostPath: { path: "/x" },
      nfs: { server: "s", path: "/x" },
      flexVolume: { driver: "" },
      csi,
    }),
    source({ hostPath: { path: "/a/../b", type: "Nothing" } }),
    source({ gcePersistentDisk: { pdName: "", partition: 300 } }),
    source({ awsElasticBlockStore: { volumeID: "", partition: -1 } }),
    source({ glusterfs: { endpoints: "", path: "", endpointsNamespace: "" } }),
    source({ glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "No_" } }),
    source({ flocker: {} }),
    source({ nfs: { server: "", path: "x" } }),
    source({ rbd: { monitors: [], image: "" } }),
    source({ quobyte: { registry: "x", volume: "" } }),
    source({ cephfs: { monitors: [] } }),
    source({
      iscsi: { targetPortal: "", iqn: "x", lun: 300, initiatorName: "x", chapAuthSession: true },
    }),
    source({
      iscsi: {
        targetPortal: long(70),
        iqn: "iqn.2020-01.a:b",
        lun: 0,
        initiatorName: "eui.x",
        secretRef: {},
      },
    }),
    source({ cinder: { volumeID: "", secretRef: {} } }),
    source({ fc: { targetWWNs: ["a"] } }),
    source({ flexVolume: { driver: "", options: { "x.kubernetes.io/y": "z" } } }),
    source({ azureFile: { secretName: "", shareName: "", secretNamespace: "" } }),
    source({ vsphereVolume: { volumePath: "" } }),
    source({ photonPersistentDisk: { pdID: "" } }),
    source({ portworxVolume: { volumeID: "" } }),
    source({ azureDisk: { diskName: "", diskURI: "", kind: "Nothing" } }),
    source({ scaleIO: { gateway: "", system: "", volumeName: "" } }),
    source({ local: { path: "" } }),
    { ...source({ local: { path: "/a/.." } }), ...affinity(stable) },
    source({ storageos: { volumeName: "", volumeNamespace: "No_", secretRef: {} } }),
    source({ csi: { driver: "", volumeHandle: "" } }),
    source({
      csi: {
        ...csi,
        controllerPublishSecretRef: {},
        nodeExpandSecretRef: { name: "No_", namespace: "No_" },
      },
    }),
    { "metadata/annotations": { "volume.beta.kubernetes.io/mount-options": "x" } },
    {
      "metadata/annotations": {
        "volume.beta.kubernetes.io/mount-options": "x",
        "volume.beta.kubernetes.io/storage-class": "y",
      },
      ...source({ nfs: { server: "s", path: "/x" } }),
    },
  ],
  update: [
    {},
    { "spec/hostPath/path": "/y" },
    { "spec/hostPath": undefined, "spec/nfs": { server: "s", path: "/x" } },
    { "spec/capacity/storage": "2Gi" },
    { "spec/accessModes": [] },
    { "spec/volumeMode": "Block" },
    { before: affinity(beta), after: affinity(stable) },
    { before: affinity(stable), after: affinity(beta) },
    { before: affinity(beta), after: { "spec/nodeAffinity": undefined } },
    affinity(stable),
    {
      before: source({ csi }),
      after: { "spec/csi/controllerExpandSecretRef": { name: "a", namespace: "b" } },
    },
    {
      before: source({ csi }),
      after: { "spec/csi/nodePublishSecretRef": { name: "a", namespace: "b" } },
    },
    {
      before: { ...source({ csi }), "spec/volumeAttributesClassName": "a" },
      after: { "spec/volumeAttributesClassName": undefined },
    },
    {
      before: { ...source({ csi }), "spec/volumeAttributesClassName": "a" },
      after: { "spec/volumeAttributesClassName": "b" },
    },
    { "metadata/labels": { a: "b!" } },
    { "spec/persistentVolumeReclaimPolicy": "Recycle" },
  ],
  status: [{}, status({ phase: "Available" }), status({ phase: "Nothing", message: "x" })],
};

const claimSource = (value: Json): Change => ({ "spec/dataSource": value });

const claim: KindCases = {
  kind: "/v1/PersistentVolumeClaim",
  fields: () => ({
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  }),
  create: [
    {},
    { "metadata/name": "Not_Right" },
    { "spec/accessModes": [] },
    { "spec/accessModes": ["Nothing", "ReadWriteOncePod", "ReadOnlyMany"] },
    { "spec/selector": { matchLabels: { "a b": "c" } } },
    { "spec/selector": { matchExpressions: [{ key: "a", operator: "Nothing" }] } },
    { "spec/resources": {} },
    { "spec/resources": { requests: { storage: "0" } } },
    { "spec/resources": { requests: { storage: "-1Gi" } } },
    { "spec/resources": { requests: { storage: "1500m" }, limits: { storage: "2500m" } } },
    { "spec/storageClassName": "Not_Right" },
    { "spec/storageClassName": "" },
    { "spec/volumeMode": "Nothing" },
    { "spec/volumeAttributesClassName": "Not_Right" },
    { "spec/volumeAttributesClassName": "" },
    claimSource({ kind: "PersistentVolumeClaim", name: "x" }),
    claimSource({ kind: "PersistentVolumeClaim", name: "" }),
    claimSource({ kind: "Nothing", name: "x" }),
    claimSource({ apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "x" }),
    { "spec/dataSourceRef": { apiGroup: "No_", kind: "", name: "" } },
    { "spec/dataSourceRef": { kind: "Pod", name: "x" } },
    { "spec/dataSourceRef": { apiGroup: "a.b", kind: "C", name: "x", namespace: "y" } },
    {
      "spec/dataSource": { kind: "PersistentVolumeClaim", name: "x" },
      "spec/dataSourceRef": { kind: "PersistentVolumeClaim", name: "y" },
    },
    { "metadata/annotations": { "volume.beta.kubernetes.io/storage-class": "x" } },
  ],
  update: [
    {},
    { "spec/accessModes": ["ReadWriteMany"] },
    { "spec/accessModes": undefined },
    { "spec/resources/requests/storage": "2Gi" },
    { "spec/resources/requests/storage": "1073741824" },
    { "spec/resources/requests/storage": "500Mi" },
    { "spec/volumeName": "v" },
    { before: { "spec/volumeName": "v" }, after: { "spec/volumeName": "w" } },
    { before: { "spec/volumeName": "v" }, after: { "spec/volumeName": undefined } },
    { "spec/storageClassName": "x" },
    { before: { "spec/storageClassName": "x" }, after: { "spec/storageClassName": "y" } },
    { before: { "spec/storageClassName": "x" }, after: { "spec/storageClassName": undefined } },
    { "spec/volumeMode": "Block" },
    { "spec/selector": { matchLabels: { a: "b" } } },
    { "metadata/annotations": { "volume.beta.kubernetes.io/storage-class": "x" } },
    {
      before: { "metadata/annotations": { "volume.beta.kubernetes.io/storage-class": "x" } },
      after: { "spec/storageClassName": "x" },
    },
    { "spec/volumeAttributesClassName": "x" },
    {
      before: claimSource({ kind: "PersistentVolumeClaim", name: "x" }),
      after: claimSource({ kind: "PersistentVolumeClaim", name: "y" }),
    },
    { "metadata/labels": { a: "b!" } },
  ],
  status: [
    {},
    status({ phase: "Bound", capacity: { storage: "1Gi" } }),
    status({ capacity: { storage: "-1" } }),
    status({ allocatedResources: { cpu: "1" } }),
    status({ allocatedResources: { storage: "-1" } }),
    status({ allocatedResourceStatuses: { "not right": "Nothing" } }),
    status({ allocatedResourceStatuses: { storage: "NodeResizePending" } }),
  ],
};

export const volumeCases: readonly KindCases[] = [volume, claim];
