// The volumes of a Pod.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import { has, maybeObject, objectOf, objectsOf, textOf } from "../../../../object/members.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  subdomainNames,
} from "../../../../object/names.ts";
import { memberOf } from "../../../../object/member.ts";
import { signOf } from "../../amounts.ts";
import { checkDriverName } from "../../meta/driver-name.ts";
import type { Place } from "../../place.ts";
import { checkClaimTemplate } from "../claim-spec.ts";
import { checkDescending, checkMode } from "../paths.ts";
import * as sources from "../volume-sources.ts";
import { checkDownwardFiles } from "./downward-api.ts";
import { checkKeyFiles } from "./key-files.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkProjected } from "./projected-volume.ts";
import { checkPullPolicy } from "./pull-policy.ts";

/** The sources of a Pod's volumes that are right, by name. */
export type Volumes = ReadonlyMap<string, JsonObject>;

interface VolumeOptions {
  readonly options: PodRuleOptions;
  /** The name of the Pod; empty for a template. */
  readonly podName: string;
}

/** Reports what is wrong with volumes; gives those that are right. */
export function checkVolumes(
  spec: JsonObject,
  at: Place,
  { options, podName }: VolumeOptions,
): Volumes {
  const volumes = objectsOf(spec, "volumes");
  const right = new Map<string, JsonObject>();
  const made = new Set(
    podName === ""
      ? []
      : volumes
          .filter((volume) => has(volume, "ephemeral"))
          .map((volume) => `${podName}-${textOf(volume, "name")}`),
  );
  for (const [index, volume] of volumes.entries()) {
    const place = at.item(index);
    const before = at.errors.length;
    const name = textOf(volume, "name");
    checkSource(volume, place, { options, podName });
    if (name === "") place.child("name").required();
    else place.child("name").invalidEach(name, dnsLabelProblems(name));
    if (right.has(name)) place.child("name").duplicate(name);
    if (at.errors.length === before) right.set(name, volume);
    const claim = maybeObject(volume, "persistentVolumeClaim");
    if (claim !== undefined && made.has(textOf(claim, "claimName"))) {
      place
        .child("persistentVolumeClaim")
        .child("claimName")
        .invalid(
          textOf(claim, "claimName"),
          "must not reference a PVC that gets created for an ephemeral volume",
        );
    }
  }
  return right;
}

type PodSourceCheck = (source: JsonObject, at: Place, options: VolumeOptions) => void;

interface PodSource extends sources.SourceNames {
  readonly check: PodSourceCheck;
}

const podSources: readonly PodSource[] = [
  { name: "emptyDir", check: checkEmptyDir },
  { name: "hostPath", check: sources.checkHostPath },
  { name: "gitRepo", check: checkGitRepo },
  { name: "gcePersistentDisk", check: sources.checkGceDisk, place: "persistentDisk" },
  { name: "awsElasticBlockStore", check: sources.checkAwsDisk },
  { name: "secret", check: checkSecret },
  { name: "nfs", check: sources.checkNfs },
  { name: "iscsi", check: checkIscsi },
  { name: "glusterfs", check: sources.checkGlusterfs },
  { name: "flocker", check: sources.checkFlocker },
  { name: "persistentVolumeClaim", check: checkClaim },
  { name: "rbd", check: sources.checkRbd },
  { name: "cinder", check: checkCinder },
  { name: "cephfs", check: sources.checkCephfs, extra: "cephFS" },
  { name: "quobyte", check: sources.checkQuobyte },
  { name: "downwardAPI", check: checkDownwardApi, extra: "downwarAPI" },
  { name: "fc", check: sources.checkFc },
  { name: "flexVolume", check: sources.checkFlexVolume },
  { name: "configMap", check: checkConfigMap },
  { name: "azureFile", check: sources.checkAzureFile },
  { name: "vsphereVolume", check: sources.checkVsphere },
  { name: "photonPersistentDisk", check: sources.checkPhoton },
  { name: "portworxVolume", check: sources.checkPortworx },
  { name: "azureDisk", check: sources.checkAzureDisk },
  { name: "storageos", check: checkStorageOs },
  { name: "projected", check: (source, at, { options }) => checkProjected(source, at, options) },
  { name: "scaleIO", check: sources.checkScaleIo },
  { name: "csi", check: checkCsi },
  { name: "ephemeral", check: checkEphemeral },
  { name: "image", check: checkImage },
];

const sourceOf: ReadonlyMap<string, PodSource> = new Map(
  podSources.map((source) => [source.name, source]),
);

function checkSource(volume: JsonObject, at: Place, options: VolumeOptions): void {
  const names = Object.keys(volume).filter((name) => sourceOf.has(name) && has(volume, name));
  if (names.length === 0) {
    at.required("must specify a volume type");
    return;
  }
  const found =
    names.length === 1
      ? names.map((name) => sourceOf.get(name))
      : podSources.filter(({ name }) => names.includes(name));
  for (const [index, source] of found.entries()) {
    if (source === undefined) continue;
    const { name, check, place = name, extra = name } = source;
    const value = objectOf(volume, name);
    if (index === 0) check(value, at.child(place), options);
    else at.child(extra).forbidden("may not specify more than 1 volume type");
    const volumeName = textOf(volume, "name");
    if (name === "iscsi" && sources.isPortalTooLong(volumeName, value)) {
      at.child("name").invalid(volumeName, sources.iscsiTooLong);
    }
    if (name === "ephemeral" && index === 0 && options.podName !== "" && volumeName !== "") {
      const claim = `${options.podName}-${volumeName}`;
      for (const problem of subdomainNames(claim)) {
        at.child("name").invalid(volumeName, `PVC name ${quote(claim)}: ${problem}`);
      }
    }
  }
}

function checkEmptyDir(source: JsonObject, at: Place): void {
  const limit = memberOf(source, "sizeLimit");
  if (limit !== undefined && limit !== null && signOf(limit) < 0) {
    at.child("sizeLimit").forbidden("SizeLimit field must be a valid resource quantity");
  }
}

function checkGitRepo(source: JsonObject, at: Place): void {
  sources.requireTexts(source, at, ["repository"]);
  checkDescending(textOf(source, "directory"), at.child("directory"));
}

function checkSecret(source: JsonObject, at: Place): void {
  sources.requireTexts(source, at, ["secretName"]);
  checkMode(source, at, { name: "defaultMode" });
  checkKeyFiles(source, at);
}

function checkConfigMap(source: JsonObject, at: Place): void {
  sources.requireTexts(source, at, ["name"]);
  checkMode(source, at, { name: "defaultMode" });
  checkKeyFiles(source, at);
}

function checkIscsi(source: JsonObject, at: Place): void {
  const startDetail = "must be valid format starting with iqn, eui, or naa";
  sources.requireTexts(source, at, ["targetPortal"]);
  sources.checkIqn(source, at, { startDetail });
  if (has(source, "initiatorName")) {
    sources.checkInitiator(textOf(source, "initiatorName"), at.child("initiatorname"), {
      startDetail,
    });
  }
}

function checkClaim(source: JsonObject, at: Place): void {
  sources.requireTexts(source, at, ["claimName"]);
}

function checkCinder(source: JsonObject, at: Place): void {
  sources.requireTexts(source, at, ["volumeID"]);
  sources.checkSecretRef(source, at, { members: ["name"] });
}

function checkDownwardApi(source: JsonObject, at: Place): void {
  checkMode(source, at, { name: "defaultMode" });
  checkDownwardFiles(source, at);
}

function checkStorageOs(source: JsonObject, at: Place): void {
  sources.checkStorageOs(source, at, { members: ["name"] });
}

function checkCsi(source: JsonObject, at: Place): void {
  checkDriverName(textOf(source, "driver"), at.child("driver"));
  const secret = maybeObject(source, "nodePublishSecretRef");
  if (secret === undefined) return;
  const name = textOf(secret, "name");
  if (name === "") at.child("nodePublishSecretRef").child("name").required();
  else at.child("name").invalidEach(name, dnsSubdomainProblems(name));
}

function checkEphemeral(source: JsonObject, at: Place): void {
  const template = maybeObject(source, "volumeClaimTemplate");
  const place = at.child("volumeClaimTemplate");
  if (template === undefined) place.required();
  else checkClaimTemplate(template, place);
}

function checkImage(source: JsonObject, at: Place, { options }: VolumeOptions): void {
  if (options.isPod) sources.requireTexts(source, at, ["reference"]);
  checkPullPolicy(textOf(source, "pullPolicy"), at.child("pullPolicy"));
}
