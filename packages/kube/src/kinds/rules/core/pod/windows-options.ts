// What only Windows has, and what it has not.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import { flagOf, has, maybeObject, maybeText, objectOf } from "../../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../../object/names.ts";
import type { Place } from "../../place.ts";
import { allContainers } from "./each-container.ts";

const specBytesMax = 64 * 1024;
const domainBytesMax = 256;
const userBytesMax = 104;

const dnsLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const dnsDomain = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;

export function checkWindowsOptions(options: JsonObject | undefined, at: Place): void {
  if (options === undefined) return;
  const name = maybeText(options, "gmsaCredentialSpecName");
  if (name !== undefined) {
    at.child("gmsaCredentialSpecName").invalidWordEach(name, dnsSubdomainProblems(name));
  }
  const spec = maybeText(options, "gmsaCredentialSpec");
  if (spec === "") {
    at.child("gmsaCredentialSpec").invalid(spec, "gmsaCredentialSpec cannot be an empty string");
  } else if (spec !== undefined && byteLength(spec) > specBytesMax) {
    at.child("gmsaCredentialSpec").invalidWord(
      spec,
      "gmsaCredentialSpec size must be under 64 KiB",
    );
  }
  const user = maybeText(options, "runAsUserName");
  if (user !== undefined) checkUserName(user, at.child("runAsUserName"));
}

/** Containers that run as processes of the host: all of a Pod or none, on the host's network. */
export function checkHostProcess(spec: JsonObject, at: Place): void {
  const ofPod = hostProcessOf(spec);
  const containers = allContainers(spec);
  let count = 0;
  for (const { container, list, index } of containers) {
    const own = hostProcessOf(container);
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      at.child(list)
        .item(index)
        .child("securityContext")
        .child("windowsOptions")
        .child("hostProcess")
        .invalid(
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        );
    }
    if (own ?? ofPod ?? false) count += 1;
  }
  if (count === 0) return;
  if (count !== containers.length) {
    at.invalid(
      "",
      "If pod contains any hostProcess containers then all containers must be HostProcess containers",
    );
  }
  if (!flagOf(spec, "hostNetwork")) {
    at.child("hostNetwork").invalid(
      false,
      "hostNetwork must be true if pod contains any hostProcess containers",
    );
  }
}

/** Reports what a Pod for one operating system has of the other's. */
export function checkForeignOptions(spec: JsonObject, at: Place, os: "linux" | "windows"): void {
  if (os === "linux") {
    const detail = "windows options cannot be set for a linux pod";
    const report = (holder: JsonObject, place: Place): void => {
      if (has(objectOf(holder, "securityContext"), "windowsOptions")) {
        place.child("securityContext").child("windowsOptions").forbidden(detail);
      }
    };
    report(spec, at);
    for (const { container, list, index } of allContainers(spec)) {
      report(container, at.child(list).item(index));
    }
    return;
  }
  const detail = "cannot be set for a windows pod";
  const context = maybeObject(spec, "securityContext") ?? {};
  for (const [name, isSpec] of linuxOfPod) {
    const holder = isSpec ? spec : context;
    const isSet =
      name === "hostPID" || name === "hostIPC" ? flagOf(holder, name) : has(holder, name);
    if (!isSet) continue;
    (isSpec ? at : at.child("securityContext")).child(name).forbidden(detail);
  }
  for (const { container, list, index } of allContainers(spec)) {
    const own = maybeObject(container, "securityContext");
    if (own === undefined) continue;
    const place = at.child(list).item(index).child("securityContext");
    for (const name of linuxOfContainer) if (has(own, name)) place.child(name).forbidden(detail);
  }
}

/** What a Windows Pod cannot have: a member of its security context, or of the spec itself. */
const linuxOfPod: readonly (readonly [name: string, isSpec: boolean])[] = [
  ["appArmorProfile", false],
  ["seLinuxOptions", false],
  ["hostUsers", true],
  ["hostPID", true],
  ["hostIPC", true],
  ["seccompProfile", false],
  ["fsGroup", false],
  ["fsGroupChangePolicy", false],
  ["sysctls", false],
  ["shareProcessNamespace", true],
  ["runAsUser", false],
  ["runAsGroup", false],
  ["supplementalGroups", false],
  ["supplementalGroupsPolicy", false],
  ["seLinuxChangePolicy", false],
];

const linuxOfContainer: readonly string[] = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

function hostProcessOf(holder: JsonObject): boolean | undefined {
  const options = maybeObject(objectOf(holder, "securityContext"), "windowsOptions");
  const value = options?.["hostProcess"];
  return typeof value === "boolean" ? value : undefined;
}

function checkUserName(name: string, at: Place): void {
  if (name === "") {
    at.invalidWord(name, "runAsUserName cannot be an empty string");
    return;
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(name)) {
    at.invalidWord(name, "runAsUserName cannot contain control characters");
    return;
  }
  const parts = name.split("\\");
  if (parts.length > 2) {
    at.invalidWord(name, "runAsUserName cannot contain more than one backslash");
    return;
  }
  const user = parts.at(-1) ?? "";
  const domain = parts.length === 2 ? (parts[0] ?? "") : undefined;
  if (domain !== undefined && byteLength(domain) >= domainBytesMax) {
    at.invalidWord(name, "runAsUserName's Domain length must be under 256 characters");
  }
  if (domain !== undefined && !netBios.test(domain) && !dnsDomain.test(domain)) {
    at.invalidWord(name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") at.invalidWord(name, "runAsUserName's User cannot be empty");
  else if (byteLength(user) > userBytesMax) {
    at.invalidWord(name, "runAsUserName's User length must not be longer than 104 characters");
  }
  if (/^[. ]+$/.test(user)) {
    at.invalidWord(name, "runAsUserName's User cannot contain only periods or spaces");
  }
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    at.invalidWord(
      name,
      "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
    );
  }
}
