// The user that a ServiceAccount is.

import { dnsLabelProblems, dnsSubdomainProblems } from "@keelson/kube";

const prefix = "system:serviceaccount:";

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** `system:serviceaccount:default:builder`. */
export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${prefix}${namespace}:${name}`;
}

/** The groups that every ServiceAccount of a namespace is in. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** The ServiceAccount of a user's name; undefined if it is none. */
export function parseServiceAccountUser(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(prefix)) return undefined;
  const parts = user.slice(prefix.length).split(":");
  const [namespace = "", name = ""] = parts;
  const isName =
    parts.length === 2 &&
    dnsLabelProblems(namespace).length === 0 &&
    dnsSubdomainProblems(name).length === 0;
  return isName ? { namespace, name } : undefined;
}
