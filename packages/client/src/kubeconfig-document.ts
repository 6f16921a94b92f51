// A kubeconfig as it is written: its entries, and what in them would reach beyond it.

import { isJsonArray, isJsonObject, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { textOf } from "./json-parts.ts";

/** A kubeconfig that cannot be used, and why. It never quotes what is secret. */
export class BadKubeconfig extends Error {
  readonly code = "BAD_KUBECONFIG";
  /** Where in it, if that is known: `users[0].user.exec`. */
  readonly field: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly field?: string } = {}) {
    super(message, options);
    this.name = "BadKubeconfig";
    this.field = options.field;
  }
}

/** The named entries of a list: `entriesOf(document, "users", "user")`. */
export function entriesOf(
  document: JsonObject,
  list: string,
  member: string,
): { readonly name: string; readonly value: JsonObject; readonly path: string }[] {
  const entries = memberOf(document, list);
  if (!isJsonArray(entries)) return [];
  return entries.flatMap((entry, index) => {
    if (!isJsonObject(entry)) return [];
    const value = memberOf(entry, member);
    return {
      name: textOf(memberOf(entry, "name")),
      value: isJsonObject(value) ? value : {},
      path: `${list}[${index}].${member}`,
    };
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
  const refuse = (
    what: string,
    { name, value, path }: ReturnType<typeof entriesOf>[number],
    fields: readonly string[],
  ): void => {
    const found = fields.find((field) => (memberOf(value, field) ?? "") !== "");
    if (found === undefined) return;
    throw new BadKubeconfig(`${what} ${name} uses ${found}, which is not allowed here`, {
      field: `${path}.${found}`,
    });
  };
  for (const entry of entriesOf(document, "clusters", "cluster")) {
    refuse("cluster", entry, reachingClusterFields);
  }
  for (const entry of entriesOf(document, "users", "user")) {
    refuse("user", entry, reachingUserFields);
  }
}
