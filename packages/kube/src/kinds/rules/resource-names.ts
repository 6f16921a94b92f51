// Names of resources: cpu, memory, `hugepages-2Mi`, `example.com/gpu`.

import { labelKeyProblems } from "../../object/names.ts";
import type { Place } from "./place.ts";

const containerResources: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

const integerResources: ReadonlySet<string> = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

const quotaResources: ReadonlySet<string> = new Set([
  ...integerResources,
  ...containerResources,
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
]);

export function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

/** Whether Kubernetes itself knows the resource: no domain, or its own. */
export function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith("requests.")) return false;
  return labelKeyProblems(`requests.${name}`).length === 0;
}

/** Whether more of it may be promised than there is. */
export function isOvercommitAllowed(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** Whether it is counted, not measured. */
export function isWhole(name: string): boolean {
  return integerResources.has(name) || isExtended(name);
}

/** A resource that a quota can limit. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isQuotaHugePages(name);
}

/** Reports a name that is no resource's. Where it is a plain text to Go, the message shows it as one. */
export function checkResourceName(
  name: string,
  at: Place,
  { isPlain = false }: { readonly isPlain?: boolean } = {},
): void {
  const problems = labelKeyProblems(name);
  if (isPlain) at.invalidEach(name, problems);
  else at.invalidWordEach(name, problems);
  if (problems.length > 0 || name.includes("/")) return;
  if (name !== "storage" && !quotaResources.has(name) && !isQuotaHugePages(name)) {
    at.invalidWord(name, "must be a standard resource type or fully qualified");
  }
}

/** Reports a name that no resource of a container has. */
export function checkContainerResourceName(
  name: string,
  at: Place,
  options: { readonly isPlain?: boolean } = {},
): void {
  if (containerResources.has(name)) return;
  checkResourceName(name, at, options);
  if (!name.includes("/")) {
    if (!isHugePages(name)) at.invalidWord(name, "must be a standard resource for containers");
  } else if (!isNative(name) && !isExtended(name)) {
    at.invalidWord(name, "doesn't follow extended resource name standard");
  }
}

/** Reports a name that no resource of a whole Pod has. */
export function checkPodResourceName(name: string, at: Place): void {
  const before = at.errors.length;
  checkResourceName(name, at);
  if (at.errors.length > before) return;
  if (name === "cpu" || name === "memory" || isHugePages(name)) return;
  at.notSupported(name, ["cpu", "hugepages-", "memory"]);
}

function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith("requests.hugepages-");
}
