// Where the volumes of a Pod are in its containers.

import type { JsonObject } from "@keelson/base";

import { flagOf, has, maybeText, objectOf, objectsOf, textOf } from "../../../../object/members.ts";
import type { Place } from "../../place.ts";
import { checkDescending, hasBacksteps } from "../paths.ts";
import type { Volumes } from "./volumes.ts";

/** Reports what is wrong with mounts, then with devices. */
export function checkMounts(container: JsonObject, at: Place, volumes: Volumes): void {
  const mounts = objectsOf(container, "volumeMounts");
  const devices = objectsOf(container, "volumeDevices");
  if (mounts.length > 0) {
    const paths = pathsByName(devices, "devicePath");
    checkVolumeMounts(container, at.child("volumeMounts"), { mounts, devices: paths, volumes });
  }
  if (devices.length > 0) {
    const paths = pathsByName(mounts, "mountPath");
    checkDevices(devices, at.child("volumeDevices"), { mounts: paths, volumes });
  }
}

/** Path by name; of two with one name the later counts. */
type Paths = ReadonlyMap<string, string>;

const noPaths: ReadonlySet<string> = new Set();
const nowhere: Paths = new Map();

function pathsByName(items: readonly JsonObject[], path: string): Paths {
  if (items.length === 0) return nowhere;
  return new Map(items.map((item) => [textOf(item, "name"), textOf(item, path)]));
}

function checkVolumeMounts(
  container: JsonObject,
  at: Place,
  {
    mounts,
    devices,
    volumes,
  }: { readonly mounts: readonly JsonObject[]; readonly devices: Paths; readonly volumes: Volumes },
): void {
  const paths = new Set<string>();
  const devicePaths = devices.size === 0 ? noPaths : new Set(devices.values());
  for (const [index, mount] of mounts.entries()) {
    const name = textOf(mount, "name");
    const path = textOf(mount, "mountPath");
    const place = at.item(index);
    if (name === "") place.child("name").required();
    if (!volumes.has(name)) place.child("name").notFound(name);
    if (path === "") place.child("mountPath").required();
    if (paths.has(path)) place.child("mountPath").invalid(path, "must be unique");
    paths.add(path);
    if (devices.has(name)) {
      place.child("name").invalid(name, "must not already exist in volumeDevices");
    }
    if (devicePaths.has(path)) {
      place.child("mountPath").invalid(path, "must not already exist as a path in volumeDevices");
    }
    const subPath = textOf(mount, "subPath");
    if (subPath !== "") checkDescending(subPath, at.child("subPath"));
    const expression = textOf(mount, "subPathExpr");
    if (expression !== "") {
      if (subPath !== "") {
        place
          .child("subPathExpr")
          .invalid(expression, "subPathExpr and subPath are mutually exclusive");
      }
      checkDescending(expression, at.child("subPathExpr"));
    }
    if (has(mount, "mountPropagation")) {
      checkPropagation(mount, at.child("mountPropagation"), {
        isPrivileged: flagOf(objectOf(container, "securityContext"), "privileged"),
      });
    }
    if (has(mount, "recursiveReadOnly")) {
      checkRecursiveReadOnly(mount, at.child("recursiveReadOnly"));
    }
  }
}

const propagations: readonly string[] = ["Bidirectional", "HostToContainer", "None"];

function checkPropagation(
  mount: JsonObject,
  at: Place,
  { isPrivileged }: { readonly isPrivileged: boolean },
): void {
  const propagation = maybeText(mount, "mountPropagation");
  if (propagation === undefined) return;
  if (!propagations.includes(propagation)) at.notSupported(propagation, propagations);
  if (propagation === "Bidirectional" && !isPrivileged) {
    at.forbidden("Bidirectional mount propagation is available only to privileged containers");
  }
}

function checkRecursiveReadOnly(mount: JsonObject, at: Place): void {
  const mode = maybeText(mount, "recursiveReadOnly");
  if (mode === undefined || mode === "Disabled") return;
  if (mode !== "Enabled" && mode !== "IfPossible") {
    at.notSupported(mode, ["Disabled", "Enabled", "IfPossible"]);
    return;
  }
  if (!flagOf(mount, "readOnly")) at.forbidden("may only be specified when readOnly is true");
  const propagation = maybeText(mount, "mountPropagation");
  if (propagation !== undefined && propagation !== "None") {
    at.forbidden("may only be specified when mountPropagation is None or not specified");
  }
}

function checkDevices(
  devices: readonly JsonObject[],
  at: Place,
  { mounts, volumes }: { readonly mounts: Paths; readonly volumes: Volumes },
): void {
  const paths = new Set<string>();
  const names = new Set<string>();
  const mountPaths = new Set(mounts.values());
  for (const [index, device] of devices.entries()) {
    const [name, path] = [textOf(device, "name"), textOf(device, "devicePath")];
    const place = at.item(index);
    const volume = volumes.get(name);
    if (name === "") place.child("name").required();
    if (names.has(name)) place.child("name").invalid(name, "must be unique");
    if (volume === undefined) place.child("name").notFound(name);
    else if (!has(volume, "persistentVolumeClaim") && !has(volume, "ephemeral")) {
      place
        .child("name")
        .invalid(
          name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        );
    }
    if (path === "") place.child("devicePath").required();
    if (paths.has(path)) place.child("devicePath").invalid(path, "must be unique");
    if (path !== "" && hasBacksteps(path)) {
      place.child("devicePath").invalid(path, "can not contain backsteps ('..')");
    } else paths.add(path);
    if (mounts.has(name))
      place.child("name").invalid(name, "must not already exist in volumeMounts");
    if (mountPaths.has(path)) {
      place.child("devicePath").invalid(path, "must not already exist as a path in volumeMounts");
    }
    if (name !== "") names.add(name);
  }
}
