// What a PersistentVolume must be.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  annotationsOf,
  has,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import { dnsLabelProblems, dnsSubdomainProblems, labelNames } from "../../../object/names.ts";
import { checkBasicAmount, showAmount, signOf } from "../amounts.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import { Place } from "../place.ts";
import { checkAccessModes, checkVolumeMode } from "./claim-spec.ts";
import { checkNodeSelector, hasInvalidNodeTerms } from "./node-selectors.ts";
import { checkNoBacksteps } from "./paths.ts";
import * as sources from "./volume-sources.ts";
import { mountOptionsKey } from "./volume-warnings.ts";

interface VolumeSource extends sources.SourceNames {
  readonly check: (source: JsonObject, at: Place, volumeName: string) => void;
}

const both = { members: ["name", "namespace"] };

/** In the order in which they are judged. */
export const volumeSources: readonly VolumeSource[] = [
  { name: "hostPath", check: sources.checkHostPath },
  { name: "gcePersistentDisk", check: sources.checkGceDisk, place: "persistentDisk" },
  { name: "awsElasticBlockStore", check: sources.checkAwsDisk },
  { name: "glusterfs", check: checkGlusterfs },
  { name: "flocker", check: sources.checkFlocker },
  { name: "nfs", check: sources.checkNfs },
  { name: "rbd", check: sources.checkRbd },
  { name: "quobyte", check: sources.checkQuobyte },
  { name: "cephfs", check: sources.checkCephfs, extra: "cephFS" },
  { name: "iscsi", check: checkIscsi },
  {
    name: "cinder",
    check: (source, at) => {
      sources.requireTexts(source, at, ["volumeID"]);
      sources.checkSecretRef(source, at, both);
    },
  },
  { name: "fc", check: sources.checkFc },
  { name: "flexVolume", check: sources.checkFlexVolume },
  { name: "azureFile", check: checkAzureFile },
  { name: "vsphereVolume", check: sources.checkVsphere },
  { name: "photonPersistentDisk", check: sources.checkPhoton },
  { name: "portworxVolume", check: sources.checkPortworx },
  { name: "azureDisk", check: sources.checkAzureDisk },
  { name: "scaleIO", check: sources.checkScaleIo },
  { name: "local", check: checkLocal },
  { name: "storageos", check: (source, at) => sources.checkStorageOs(source, at, both) },
  { name: "csi", check: checkCsi },
];

/** Reports what is wrong with a volume; of its affinity what the old one had may stay. */
export function checkVolume(volume: JsonObject, at: Place, old: JsonObject | undefined): void {
  const spec = objectOf(volume, "spec");
  checkModes(spec, at);
  checkCapacity(objectOf(spec, "capacity"), at.child("capacity"));
  const policy = textOf(spec, "persistentVolumeReclaimPolicy");
  const policies = ["Delete", "Recycle", "Retain"];
  if (policy !== "" && !policies.includes(policy)) {
    at.child("persistentVolumeReclaimPolicy").notSupported(policy, policies);
  }
  checkAffinity(spec, at.child("nodeAffinity"), old && objectOf(old, "spec"));
  const hasAffinity = has(spec, "nodeAffinity");
  checkSource(spec, at, { name: textOf(objectOf(volume, "metadata"), "name"), hasAffinity });
  checkRecycling(spec, at);
  const storageClass = textOf(spec, "storageClassName");
  if (storageClass !== "") {
    at.child("storageClassName").invalidEach(storageClass, dnsSubdomainProblems(storageClass));
  }
  checkVolumeMode(spec, at);
  checkAttributesClass(spec, at);
}

const inline = "in the context of inline volumes";

/** Of a volume that there is no object for: it is a driver's, and says little else. */
export function checkInlineVolume(spec: JsonObject, at: Place): void {
  const detail = `may not be specified ${inline}`;
  if (has(spec, "claimRef")) at.child("claimRef").forbidden(detail);
  if (Object.keys(objectOf(spec, "capacity")).length > 0) at.child("capacity").forbidden(detail);
  if (!has(spec, "csi")) at.child("csi").required(`has to be specified ${inline}`);
  checkModes(spec, at);
  const policy = textOf(spec, "persistentVolumeReclaimPolicy");
  if (policy !== "" && policy !== "Retain") {
    at.child("persistentVolumeReclaimPolicy").forbidden(`may only be Retain ${inline}`);
  }
  if (has(spec, "nodeAffinity")) at.child("nodeAffinity").forbidden(detail);
  checkSource(spec, at, { name: "", hasAffinity: false });
  checkRecycling(spec, at);
  if (textOf(spec, "storageClassName") !== "") at.child("storageClassName").forbidden(detail);
  const mode = maybeText(spec, "volumeMode");
  if (mode !== undefined && mode !== "Filesystem") {
    at.child("volumeMode").forbidden(`may not specify volumeMode other than Filesystem ${inline}`);
  }
}

function checkModes(spec: JsonObject, at: Place): void {
  const modes = textsOf(spec, "accessModes");
  if (modes.length === 0) at.child("accessModes").required();
  checkAccessModes(modes, at.child("accessModes"));
}

function checkRecycling(spec: JsonObject, at: Place): void {
  const isRecycled = textOf(spec, "persistentVolumeReclaimPolicy") === "Recycle";
  const path = textOf(objectOf(spec, "hostPath"), "path");
  if (isRecycled && has(spec, "hostPath") && isRoot(path)) {
    at.child("persistentVolumeReclaimPolicy").forbidden(
      "may not be 'recycle' for a hostPath mount of '/'",
    );
  }
}

function checkAttributesClass(spec: JsonObject, at: Place): void {
  const attributes = maybeText(spec, "volumeAttributesClassName");
  if (attributes === undefined) return;
  const place = at.child("volumeAttributesClassName");
  if (attributes === "") place.required("an empty string is disallowed");
  else place.invalidEach(attributes, dnsSubdomainProblems(attributes));
  if (!has(spec, "csi")) {
    at.child("csi").required("has to be specified when using volumeAttributesClassName");
  }
}

/** Whether nothing is left of a path once it is cleaned. */
function isRoot(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth = Math.max(depth - 1, 0);
    else if (part !== "" && part !== ".") depth += 1;
  }
  return path.startsWith("/") && depth === 0;
}

function checkCapacity(capacity: JsonObject, at: Place): void {
  const names = sortedKeys(capacity);
  if (names.length === 0) at.required();
  if (!has(capacity, "storage") || names.length > 1) {
    if (names.length === 0) at.notSupportedShown("null", ["storage"]);
    else at.notSupported(capacity, ["storage"]);
  }
  for (const name of names) {
    const amount = memberOf(capacity, name) ?? "0";
    checkBasicAmount(amount, at.key(name));
    if (signOf(amount) <= 0) at.key(name).invalid(showAmount(amount), "must be greater than zero");
  }
}

function checkAffinity(spec: JsonObject, at: Place, old: JsonObject | undefined): void {
  const affinity = maybeObject(spec, "nodeAffinity");
  if (affinity === undefined) return;
  const required = maybeObject(affinity, "required");
  if (required === undefined) {
    at.child("required").required("must specify required node constraints");
    return;
  }
  const before = objectOf(objectOf(old ?? {}, "nodeAffinity"), "required");
  const allowInvalidValues = hasInvalidNodeTerms(objectsOf(before, "nodeSelectorTerms"));
  checkNodeSelector(required, at.child("required"), { allowInvalidValues });
}

function checkSource(
  spec: JsonObject,
  at: Place,
  volume: { readonly name: string; readonly hasAffinity: boolean },
): void {
  let count = 0;
  for (const { name, check, place = name, extra = name } of volumeSources) {
    const source = maybeObject(spec, name);
    if (source === undefined) continue;
    // A flex volume is judged even if it is one too many.
    if (count > 0 && name !== "flexVolume") {
      at.child(extra).forbidden("may not specify more than 1 volume type");
      continue;
    }
    count += 1;
    check(source, at.child(place), volume.name);
    if (name === "local" && !volume.hasAffinity) {
      at.child("nodeAffinity").required("Local volume requires node affinity");
    }
  }
  if (count === 0) at.required("must specify a volume type");
}

function checkGlusterfs(source: JsonObject, at: Place): void {
  sources.checkGlusterfs(source, at);
  const namespace = maybeText(source, "endpointsNamespace");
  if (namespace === "") {
    at.child("endpointsNamespace").invalid(
      namespace,
      "if the endpointnamespace is set, it must be a valid namespace name",
    );
  } else if (namespace !== undefined) {
    at.child("endpointsNamespace").invalidEach(namespace, labelNames(namespace));
  }
}

function checkIscsi(source: JsonObject, at: Place, volumeName: string): void {
  const startDetail = "must be valid format";
  sources.requireTexts(source, at, ["targetPortal"]);
  if (sources.isPortalTooLong(volumeName, source)) {
    at.child("targetportal").invalid(textOf(source, "targetPortal"), sources.iscsiTooLong);
  }
  sources.checkIqn(source, at, { startDetail });
  sources.checkSecretRef(source, at, { members: ["name"] });
  const initiator = maybeText(source, "initiatorName");
  if (initiator !== undefined) {
    sources.checkInitiator(initiator, at.child("initiatorname"), { startDetail });
  }
}

function checkAzureFile(source: JsonObject, at: Place): void {
  sources.checkAzureFile(source, at);
  if (maybeText(source, "secretNamespace") === "") at.child("secretNamespace").required();
}

function checkLocal(source: JsonObject, at: Place): void {
  const path = textOf(source, "path");
  if (path === "") at.child("path").required();
  else checkNoBacksteps(path, at.child("path"));
}

function checkCsi(source: JsonObject, at: Place): void {
  checkDriverName(textOf(source, "driver"), at.child("driver"));
  sources.requireTexts(source, at, ["volumeHandle"]);
  for (const name of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
  ]) {
    const secret = maybeObject(source, name);
    if (secret === undefined) continue;
    const place = at.child(name);
    const [own, namespace] = [textOf(secret, "name"), textOf(secret, "namespace")];
    if (own === "") place.child("name").required();
    else place.child("name").invalidEach(own, dnsSubdomainProblems(own));
    if (namespace === "") place.child("namespace").required();
    else place.child("namespace").invalidEach(namespace, dnsLabelProblems(namespace));
  }
}

const withMountOptions: readonly string[] = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk",
];

/** Reports options of mounts for a volume that takes none. */
export function checkMountOptions(volume: JsonObject, at: Place): void {
  const spec = objectOf(volume, "spec");
  if (withMountOptions.some((name) => has(spec, name))) return;
  if (has(annotationsOf(volume), mountOptionsKey)) {
    Place.root("metadata", at.errors)
      .child("annotations")
      .child(mountOptionsKey)
      .forbidden("may not specify mount options for this volume type");
  }
}
