// A kubeconfig as it is written: its entries, and what in them would reach beyond it.

import { isJsonArray, isJsonObject, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { textOf } from "./json-parts.ts";

/** A kubeconfig that cannot be used, and why. It never quotes what is secret. */
export class BadKubeconfig extends Error {
  readonly code = "BAD_KUBECONFIG";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "BadKubeconfig";
  }
}

/** The named entries of a list: `entriesOf(document, "users", "user")`. */
export function entriesOf(
  document: JsonObject,
  list: string,
  member: string,
): { readonly name: string; readonly value: JsonObject }[] {
  const entries = memberOf(document, list);
  if (!isJsonArray(entries)) return [];
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    const value = memberOf(entry, member);
    return { name: textOf(memberOf(entry, "name")), value: isJsonObject(value) ? value : {} };
  });
}

const reachingClusterFields = ["certificate-authority"];
const reachingUserFields = [
  "client-certificate",
  "client-key",
  "tokenFile",
  "token-file",
  "exec",
  "auth-provider",
];

/** Refuses whatever would make us read a file, run a program or ask somebody else. */
export function refuseReach(document: JsonObject): void {
  const refuse = (place: string, value: JsonObject, fields: readonly string[]): void => {
    const field = fields.find((name) => (memberOf(value, name) ?? "") !== "");
    if (field === undefined) return;
    throw new BadKubeconfig(`${place} uses ${field}, which is not allowed here`);
  };
  for (const { name, value } of entriesOf(document, "clusters", "cluster")) {
    refuse(`cluster ${name}`, value, reachingClusterFields);
  }
  for (const { name, value } of entriesOf(document, "users", "user")) {
    refuse(`user ${name}`, value, reachingUserFields);
  }
}
