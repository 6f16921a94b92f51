// Where volumes come from: what Pods and PersistentVolumes have in common.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { goLowerCase } from "../../../go-text/lower-case.ts";
import {
  flagOf,
  has,
  listOf,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  sortedKeys,
  textOf,
} from "../../../object/members.ts";
import { dnsLabelProblems } from "../../../object/names.ts";
import type { Place } from "../place.ts";
import { rangeProblems } from "../text-problems.ts";
import { checkNoBacksteps } from "./paths.ts";

/** Reports what is wrong with one kind of source. */
type SourceCheck = (source: JsonObject, at: Place) => void;

/** How a source is called. */
export interface SourceNames {
  readonly name: string;
  /** What messages call the place, where they have a name of their own for it. */
  readonly place?: string;
  /** The same, where it is one source too many. */
  readonly extra?: string;
}

/** Members that must not be empty. */
export function requireTexts(source: JsonObject, at: Place, names: readonly string[]): void {
  for (const name of names) if (textOf(source, name) === "") at.child(name).required();
}

export const checkHostPath: SourceCheck = (source, at) => {
  const path = textOf(source, "path");
  if (path === "") {
    at.child("path").required();
    return;
  }
  checkNoBacksteps(path, at.child("path"));
  const type = maybeText(source, "type");
  if (type !== undefined && !hostPathTypes.includes(type)) {
    at.child("type").notSupported(type, hostPathTypes);
  }
};

export const checkGceDisk: SourceCheck = (source, at) => {
  requireTexts(source, at, ["pdName"]);
  checkPartition(source, at);
};

export const checkAwsDisk: SourceCheck = (source, at) => {
  requireTexts(source, at, ["volumeID"]);
  checkPartition(source, at);
};

export const checkNfs: SourceCheck = (source, at) => {
  requireTexts(source, at, ["server", "path"]);
  const path = textOf(source, "path");
  if (!path.startsWith("/")) at.child("path").invalid(path, "must be an absolute path");
};

export const checkGlusterfs: SourceCheck = (source, at) => {
  requireTexts(source, at, ["endpoints", "path"]);
};

export const checkFlocker: SourceCheck = (source, at) => {
  const [name, uuid] = [textOf(source, "datasetName"), textOf(source, "datasetUUID")];
  if (name === "" && uuid === "") at.required("one of datasetName and datasetUUID is required");
  if (name !== "" && uuid !== "") {
    at.invalid("resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.includes("/")) at.child("datasetName").invalid(name, "must not contain '/'");
};

export const checkRbd: SourceCheck = (source, at) => {
  if (listOf(source, "monitors").length === 0) at.child("monitors").required();
  requireTexts(source, at, ["image"]);
};

export const checkCephfs: SourceCheck = (source, at) => {
  if (listOf(source, "monitors").length === 0) at.child("monitors").required();
};

export const checkQuobyte: SourceCheck = (source, at) => {
  const pairs = "must be a host:port pair or multiple pairs separated by commas";
  const registry = textOf(source, "registry");
  if (registry === "") at.child("registry").required(pairs);
  else if (byteLength(textOf(source, "tenant")) >= 65) {
    at.child("tenant").required("must be a UUID and may not exceed a length of 64 characters");
  } else {
    const place = at.child("registry");
    for (const pair of registry.split(",")) if (!isHostPort(pair)) place.invalid(registry, pairs);
  }
  requireTexts(source, at, ["volume"]);
};

export const checkFc: SourceCheck = (source, at) => {
  const names = listOf(source, "targetWWNs");
  const ids = listOf(source, "wwids");
  if (names.length === 0 && ids.length === 0) {
    at.child("targetWWNs").required("must specify either targetWWNs or wwids, but not both");
  }
  if (names.length > 0 && ids.length > 0) {
    at.child("targetWWNs").invalid(
      names,
      "targetWWNs and wwids can not be specified simultaneously",
    );
  }
  if (names.length === 0) return;
  const lun = maybeNumber(source, "lun");
  if (lun === undefined) at.child("lun").required("lun is required if targetWWNs is specified");
  else at.child("lun").invalidEach(lun, rangeProblems(lun, 0, 255));
};

export const checkFlexVolume: SourceCheck = (source, at) => {
  requireTexts(source, at, ["driver"]);
  for (const key of sortedKeys(objectOf(source, "options"))) {
    const domain = `.${goLowerCase(key.split("/", 1)[0] ?? "")}`;
    if (domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io")) {
      at.child("options").key(key).invalid(key, "kubernetes.io and k8s.io namespaces are reserved");
    }
  }
};

export const checkAzureFile: SourceCheck = (source, at) => {
  requireTexts(source, at, ["secretName", "shareName"]);
};

export const checkAzureDisk: SourceCheck = (source, at) => {
  requireTexts(source, at, ["diskName", "diskURI"]);
  const caching = maybeText(source, "cachingMode");
  if (caching !== undefined && !cachingModes.includes(caching)) {
    at.child("cachingMode").notSupported(caching, cachingModes);
  }
  const kind = maybeText(source, "kind");
  if (kind === undefined) return;
  if (!diskKinds.includes(kind)) at.child("kind").notSupported(kind, diskKinds);
  const uri = textOf(source, "diskURI");
  const [prefix, form] =
    kind === "Managed"
      ? ["/subscriptions/", managedUri]
      : [
          "https://",
          "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        ];
  if (!uri.startsWith(prefix)) at.child("diskURI").notSupported(uri, [form]);
};

export const checkVsphere: SourceCheck = (source, at) => {
  requireTexts(source, at, ["volumePath"]);
};

export const checkPhoton: SourceCheck = (source, at) => {
  requireTexts(source, at, ["pdID"]);
};

export const checkPortworx: SourceCheck = (source, at) => {
  requireTexts(source, at, ["volumeID"]);
};

export const checkScaleIo: SourceCheck = (source, at) => {
  requireTexts(source, at, ["gateway", "system", "volumeName"]);
};

/** A secret of a volume: by name, in PersistentVolumes by namespace too. */
export function checkSecretRef(
  source: JsonObject,
  at: Place,
  { members }: { readonly members: readonly string[] },
): void {
  const secret = maybeObject(source, "secretRef");
  if (secret !== undefined) requireTexts(secret, at.child("secretRef"), members);
}

export function checkStorageOs(
  source: JsonObject,
  at: Place,
  { members }: { readonly members: readonly string[] },
): void {
  const name = textOf(source, "volumeName");
  if (name === "") at.child("volumeName").required();
  else at.child("volumeName").invalidEach(name, dnsLabelProblems(name));
  const namespace = textOf(source, "volumeNamespace");
  if (namespace !== "")
    at.child("volumeNamespace").invalidEach(namespace, dnsLabelProblems(namespace));
  checkSecretRef(source, at, { members });
}

/** What iSCSI volumes of Pods and of PersistentVolumes share; the rest comes between, so there are two parts. */
export function checkIqn(
  source: JsonObject,
  at: Place,
  { startDetail }: { readonly startDetail: string },
): void {
  const iqn = textOf(source, "iqn");
  if (iqn === "") at.child("iqn").required();
  else checkInitiator(iqn, at.child("iqn"), { startDetail });
  const lun = numberOf(source, "lun");
  at.child("lun").invalidEach(lun, rangeProblems(lun, 0, 255));
  const needsSecret = flagOf(source, "chapAuthDiscovery") || flagOf(source, "chapAuthSession");
  if (needsSecret && !has(source, "secretRef")) at.child("secretRef").required();
}

/** Reports a name of an iSCSI node that is none. */
export function checkInitiator(
  name: string,
  at: Place,
  { startDetail }: { readonly startDetail: string },
): void {
  const prefix = name.slice(0, 3);
  const isRight = initiatorForms.get(prefix);
  if (isRight === undefined) at.invalid(name, startDetail);
  else if (!isRight(name)) at.invalid(name, "must be valid format");
}

export const iscsiTooLong =
  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

export function isPortalTooLong(name: string, source: JsonObject): boolean {
  return (
    has(source, "initiatorName") && byteLength(`${name}:${textOf(source, "targetPortal")}`) > 64
  );
}

const hostPathTypes: readonly string[] = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const cachingModes: readonly string[] = ["None", "ReadOnly", "ReadWrite"];
const diskKinds: readonly string[] = ["Dedicated", "Managed", "Shared"];
const managedUri =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";

const initiatorForms: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ["iqn", isQualifiedName],
  ["eui", (name) => /^eui.[A-Za-z0-9]{16}$/.test(name)],
  ["naa", (name) => /^naa.[A-Za-z0-9]{32}$/.test(name)],
]);

/** Whether the text ends in `iqn.2001-04.com.example:more`. Read by hand: as a pattern it would begin again at each `iqn`. */
function isQualifiedName(text: string): boolean {
  let start = text.length;
  while (start > 0 && !",;*&$|\t\n\f\r ".includes(text.charAt(start - 1))) start -= 1;
  for (
    let colon = text.indexOf(":", start);
    colon !== -1 && colon < text.length - 1;
    colon = text.indexOf(":", colon + 1)
  ) {
    let from = colon;
    while (from > 0 && /[A-Za-z0-9.-]/.test(text.charAt(from - 1))) from -= 1;
    if (/iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]/.test(text.slice(from, colon))) return true;
  }
  return false;
}

function checkPartition(source: JsonObject, at: Place): void {
  const partition = numberOf(source, "partition");
  if (partition < 0 || partition > 255) {
    at.child("partition").invalid(partition, "must be between 1 and 255, inclusive");
  }
}

/** `host:port`, the host in brackets if it has colons; neither needs to be right. */
function isHostPort(text: string): boolean {
  if (text.startsWith("[")) return /^\[[^[\]]*\]:[^:[\]]*$/.test(text);
  return /^[^:[\]]*:[^:[\]]*$/.test(text);
}
