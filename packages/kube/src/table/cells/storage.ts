// The cells of storage.

import type { Json } from "@keelson/base";
import { age, at, isDeleted, list, nameOf, orElse, text, texts, type CellsOf } from "./reading.ts";

const modeNames: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function modesText(modes: readonly string[]): string {
  return modeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

/** An optional text; none and empty differ. */
function optional(value: Json | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function classOf(object: Json): string {
  const old = at(object, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class");
  return typeof old === "string" ? old : text(object, "spec", "storageClassName");
}

const persistentVolume: CellsOf = (subject) => {
  const { object } = subject;
  const claim = at(object, "spec", "claimRef");
  return [
    nameOf(subject),
    orElse(text(object, "spec", "capacity", "storage"), "0"),
    modesText(texts(object, "spec", "accessModes")),
    text(object, "spec", "persistentVolumeReclaimPolicy"),
    isDeleted(subject) ? "Terminating" : text(object, "status", "phase"),
    claim === undefined ? "" : `${text(claim, "namespace")}/${text(claim, "name")}`,
    classOf(object),
    optional(at(object, "spec", "volumeAttributesClassName"), "<unset>"),
    text(object, "status", "reason"),
    age(subject),
    optional(at(object, "spec", "volumeMode"), "<unset>"),
  ];
};

const persistentVolumeClaim: CellsOf = (subject) => {
  const { object } = subject;
  const volume = text(object, "spec", "volumeName");
  const isBound = volume !== "";
  return [
    nameOf(subject),
    isDeleted(subject) ? "Terminating" : text(object, "status", "phase"),
    volume,
    isBound ? orElse(text(object, "status", "capacity", "storage"), "0") : "",
    isBound ? modesText(texts(object, "status", "accessModes")) : "",
    classOf(object),
    optional(at(object, "spec", "volumeAttributesClassName"), "<unset>"),
    age(subject),
    optional(at(object, "spec", "volumeMode"), "<unset>"),
  ];
};

const defaultClass = "storageclass.kubernetes.io/is-default-class";
const oldDefaultClass = "storageclass.beta.kubernetes.io/is-default-class";

const storageClass: CellsOf = (subject) => {
  const { object } = subject;
  const annotations = at(object, "metadata", "annotations");
  const isDefault = [defaultClass, oldDefaultClass].some(
    (key) => text(annotations, key) === "true",
  );
  return [
    `${nameOf(subject)}${isDefault ? " (default)" : ""}`,
    text(object, "provisioner"),
    orElse(text(object, "reclaimPolicy"), "Delete"),
    orElse(text(object, "volumeBindingMode"), "Immediate"),
    at(object, "allowVolumeExpansion") === true,
    age(subject),
  ];
};

const csiDriver: CellsOf = (subject) => {
  const spec = at(subject.object, "spec");
  const requests = at(spec, "tokenRequests");
  return [
    nameOf(subject),
    at(spec, "attachRequired") !== false,
    at(spec, "podInfoOnMount") === true,
    at(spec, "storageCapacity") === true,
    requests === undefined
      ? "<unset>"
      : list(spec, "tokenRequests")
          .map((request) => text(request, "audience"))
          .join(","),
    at(spec, "requiresRepublish") === true,
    orElse(texts(spec, "volumeLifecycleModes").join(","), "<none>"),
    age(subject),
  ];
};

const csiNode: CellsOf = (subject) => [
  nameOf(subject),
  list(subject.object, "spec", "drivers").length,
  age(subject),
];

const volumeAttachment: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    text(object, "spec", "attacher"),
    text(object, "spec", "source", "persistentVolumeName"),
    text(object, "spec", "nodeName"),
    at(object, "status", "attached") === true,
    age(subject),
  ];
};

const volumeAttributesClass: CellsOf = (subject) => [
  nameOf(subject),
  text(subject.object, "driverName"),
  age(subject),
];

export const storageCells: Readonly<Record<string, CellsOf>> = {
  "/PersistentVolume": persistentVolume,
  "/PersistentVolumeClaim": persistentVolumeClaim,
  "storage.k8s.io/StorageClass": storageClass,
  "storage.k8s.io/CSIDriver": csiDriver,
  "storage.k8s.io/CSINode": csiNode,
  "storage.k8s.io/VolumeAttachment": volumeAttachment,
  "storage.k8s.io/VolumeAttributesClass": volumeAttributesClass,
};
