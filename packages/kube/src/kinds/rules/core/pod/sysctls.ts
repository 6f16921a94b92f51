// Settings of the kernel that a Pod asks for.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import { flagOf, objectOf, objectsOf, textOf } from "../../../../object/members.ts";
import type { Place } from "../../place.ts";
import type { PodRuleOptions } from "./pod-options.ts";

const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const form = `^(${segment}[\\./])*${segment}$`;
const pattern = new RegExp(form);

export function checkSysctls(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  const names = new Set<string>();
  const sysctls = objectsOf(objectOf(spec, "securityContext"), "sysctls");
  for (const [index, sysctl] of sysctls.entries()) {
    const name = textOf(sysctl, "name");
    const place = at.item(index).child("name");
    if (name === "") place.required();
    else if (byteLength(name) > 253 || !pattern.test(name)) {
      place.invalid(name, `must have at most 253 characters and match regex ${form}`);
    } else if (names.has(name)) place.duplicate(name);
    const namespace = hostNamespace(name, spec);
    if (!options.allowHostSysctls && namespace !== undefined) {
      place.invalid(name, `may not be specified when '${namespace}' is true`);
    }
    names.add(name);
  }
}

/** Whether the setting would be the host's, because the Pod shares that with it. */
export function isHostSysctl(name: string, spec: JsonObject): boolean {
  return hostNamespace(name, spec) !== undefined;
}

const ipcNames: ReadonlySet<string> = new Set([
  "kernel.sem",
  "kernel.shmall",
  "kernel.shmmax",
  "kernel.shmmni",
  "kernel.shm_rmid_forced",
  "kernel.shm",
  "kernel.msgmax",
  "kernel.msgmnb",
  "kernel.msgmni",
  "kernel.msg",
]);

function hostNamespace(written: string, spec: JsonObject): "hostNetwork" | "hostIPC" | undefined {
  const name = normalised(written);
  const isIpc = ipcNames.has(name) || name.startsWith("fs.mqueue.");
  if (flagOf(spec, "hostNetwork") && name.startsWith("net.")) return "hostNetwork";
  return flagOf(spec, "hostIPC") && isIpc ? "hostIPC" : undefined;
}

/** With dots between the parts; slashes change places with dots if a slash comes first. */
function normalised(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== "/") return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === "/" ? "." : "/"));
}
