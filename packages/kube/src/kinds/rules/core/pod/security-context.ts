// With which rights containers run.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import { trimSpace } from "../../../../go-text/trim-space.ts";
import {
  flagOf,
  has,
  listOf,
  maybeNumber,
  maybeObject,
  maybeText,
  objectOf,
  textOf,
} from "../../../../object/members.ts";
import { checkChoice } from "../../meta/checks.ts";
import type { Place } from "../../place.ts";
import { idProblems } from "../../text-problems.ts";
import { checkDescending } from "../paths.ts";
import { showInternal } from "../../internal-form.ts";
import { profileBytesMax } from "./app-armor.ts";
import { allContainers } from "./each-container.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkSysctls } from "./sysctls.ts";
import { checkWindowsOptions } from "./windows-options.ts";

/** Reports what is wrong with the rights of one container. */
export function checkSecurityContext(
  context: JsonObject,
  at: Place,
  { isHostUsers }: { readonly isHostUsers: boolean },
): void {
  for (const name of ["runAsUser", "runAsGroup"]) checkId(context, at, { name });
  const procMount = maybeText(context, "procMount");
  if (procMount !== undefined) {
    const place = at.child("procMount");
    if (procMount !== "Default" && procMount !== "Unmasked") {
      place.notSupported(procMount, ["Default", "Unmasked"]);
    }
    if (isHostUsers && procMount === "Unmasked") {
      place.invalid(procMount, "`hostUsers` must be false to use `Unmasked`");
    }
  }
  checkSeccompProfile(maybeObject(context, "seccompProfile"), at.child("seccompProfile"));
  if (context["allowPrivilegeEscalation"] === false) {
    if (flagOf(context, "privileged")) {
      at.invalidShown(
        showInternal("core.SecurityContext", context),
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
      );
    }
    for (const capability of listOf(objectOf(context, "capabilities"), "add")) {
      if (capability === "CAP_SYS_ADMIN") {
        at.invalidShown(
          showInternal("core.SecurityContext", context),
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
        );
      }
    }
  }
  checkWindowsOptions(maybeObject(context, "windowsOptions"), at.child("windowsOptions"));
  checkAppArmorProfile(maybeObject(context, "appArmorProfile"), at.child("appArmorProfile"));
}

/** Reports what is wrong with the rights of all containers of a Pod. */
export function checkPodSecurityContext(
  spec: JsonObject,
  at: Place,
  options: PodRuleOptions,
): void {
  const context = objectOf(spec, "securityContext");
  for (const name of ["fsGroup", "runAsUser", "runAsGroup"]) checkId(context, at, { name });
  for (const [index, group] of listOf(context, "supplementalGroups").entries()) {
    const problems = idProblems(Number(group));
    at.child("supplementalGroups").item(index).invalidEach(group, problems);
  }
  if (flagOf(spec, "shareProcessNamespace") && flagOf(spec, "hostPID")) {
    at.child("shareProcessNamespace").invalid(
      true,
      "ShareProcessNamespace and HostPID cannot both be enabled",
    );
  }
  if (has(context, "sysctls")) checkSysctls(spec, at.child("sysctls"), options);
  const choose = (name: string, of: readonly string[]): void => {
    checkChoice(maybeText(context, name), at.child(name), { of, isNeeded: false });
  };
  choose("fsGroupChangePolicy", ["Always", "OnRootMismatch"]);
  checkSeccompProfile(maybeObject(context, "seccompProfile"), at.child("seccompProfile"));
  checkWindowsOptions(maybeObject(context, "windowsOptions"), at.child("windowsOptions"));
  checkAppArmorProfile(maybeObject(context, "appArmorProfile"), at.child("appArmorProfile"));
  choose("supplementalGroupsPolicy", ["Merge", "Strict"]);
  choose(
    "seLinuxChangePolicy",
    options.allowAnySelinuxPolicy ? ["MountOption", "Recursive"] : ["Recursive"],
  );
}

/** Reports what cannot be together with users of the Pod's own. */
export function checkHostUsers(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  if (spec["hostUsers"] !== false) return;
  const detail = "when `hostUsers` is false";
  if (!options.allowHostNetworkInUserNamespace && flagOf(spec, "hostNetwork")) {
    at.child("hostNetwork").forbidden(detail);
  }
  if (flagOf(spec, "hostPID")) at.child("HostPID").forbidden(detail);
  if (flagOf(spec, "hostIPC")) at.child("HostIPC").forbidden(detail);
  if (options.allowDevicesInUserNamespace) return;
  for (const { container, list, index } of allContainers(spec)) {
    if (listOf(container, "volumeDevices").length > 0) {
      at.child(list).item(index).child("volumeDevices").forbidden(detail);
    }
  }
}

function checkAppArmorProfile(profile: JsonObject | undefined, at: Place): void {
  if (profile === undefined) return;
  const [type, file] = [textOf(profile, "type"), maybeText(profile, "localhostProfile")];
  const place = at.child("localhostProfile");
  switch (type) {
    case "Localhost":
      if (file === undefined) place.required("must be set when AppArmor type is Localhost");
      else {
        const trimmed = trimSpace(file);
        if (trimmed !== file) place.invalid(file, "must not be padded with whitespace");
        else if (trimmed === "") place.required("must be set when AppArmor type is Localhost");
        if (byteLength(file) > profileBytesMax) place.tooLong(profileBytesMax);
      }
      return;
    case "RuntimeDefault":
    case "Unconfined":
      if (file !== undefined) {
        place.invalid(file, "can only be set when AppArmor type is Localhost");
      }
      return;
    case "":
      at.child("type").required("type is required when appArmorProfile is set");
      return;
    default:
      at.child("type").notSupported(type, ["Localhost", "RuntimeDefault", "Unconfined"]);
  }
}

function checkSeccompProfile(profile: JsonObject | undefined, at: Place): void {
  if (profile === undefined) return;
  const types = ["Localhost", "RuntimeDefault", "Unconfined"];
  const [type, file] = [textOf(profile, "type"), maybeText(profile, "localhostProfile")];
  if (type === "") at.child("type").required("type is required when seccompProfile is set");
  else if (!types.includes(type)) at.child("type").notSupported(type, types);
  const place = at.child("localhostProfile");
  if (type === "Localhost") {
    if (file === undefined) place.required("must be set when seccomp type is Localhost");
    else checkDescending(file, place);
  } else if (file !== undefined) {
    place.invalidShown(
      showInternal("core.SeccompProfile", profile),
      "can only be set when seccomp type is Localhost",
    );
  }
}

function checkId(context: JsonObject, at: Place, { name }: { readonly name: string }): void {
  const id = maybeNumber(context, name);
  if (id === undefined) return;
  const problems = idProblems(id);
  if (problems.length > 0) at.child(name).invalidEach(context[name] ?? id, problems);
}
