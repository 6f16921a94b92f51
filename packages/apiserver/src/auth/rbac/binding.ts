// Who is given a role.

import type { JsonObject } from "@keelson/base";
import { quote } from "@keelson/kube";

import { objectAt, objectsAt, textAt } from "../../fields.ts";
import { serviceAccountUser } from "../service-account-name.ts";
import type { User } from "../user.ts";

/** A user, group or ServiceAccount, as bindings name them. */
export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export interface RoleRef {
  readonly apiGroup: string;
  /** `Role` or `ClusterRole`; anything else leads nowhere. */
  readonly kind: string;
  readonly name: string;
}

/** A RoleBinding, or a ClusterRoleBinding: its namespace is empty. */
export interface Binding {
  readonly name: string;
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

export function readBinding(object: JsonObject): Binding {
  const metadata = objectAt(object, "metadata");
  return {
    name: textAt(metadata, "name"),
    namespace: textAt(metadata, "namespace"),
    roleRef: readRoleRef(object),
    subjects: objectsAt(object, "subjects").map(readSubject),
  };
}

export function readRoleRef(binding: JsonObject): RoleRef {
  const roleRef = objectAt(binding, "roleRef");
  return {
    apiGroup: textAt(roleRef, "apiGroup"),
    kind: textAt(roleRef, "kind"),
    name: textAt(roleRef, "name"),
  };
}

/** The name of the user or group that a subject stands for; undefined if it stands for nobody. */
export function holderOf(
  { kind, name, namespace }: Subject,
  bindingNamespace: string,
): { readonly is: "user" | "group"; readonly name: string } | undefined {
  switch (kind) {
    case "User":
      return { is: "user", name };
    case "Group":
      return { is: "group", name };
    case "ServiceAccount": {
      const home = namespace === "" ? bindingNamespace : namespace;
      if (home === "") return undefined;
      return { is: "user", name: serviceAccountUser({ namespace: home, name }) };
    }
    default:
      return undefined;
  }
}

/** The first subject of a binding that is the user; undefined if none is. */
export function firstSubjectOf({ subjects, namespace }: Binding, user: User): Subject | undefined {
  return subjects.find((subject) => {
    const holder = holderOf(subject, namespace);
    if (holder === undefined) return false;
    return holder.is === "user" ? holder.name === user.name : user.groups.includes(holder.name);
  });
}

/** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`. */
export function describeGrant(binding: Binding, subject: Subject): string {
  const { name, namespace, roleRef } = binding;
  const source =
    namespace === ""
      ? `ClusterRoleBinding ${quote(name)}`
      : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  const role = `${roleRef.kind} ${quote(roleRef.name)}`;
  return `${source} of ${role} to ${describeSubject(subject, namespace)}`;
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== "ServiceAccount") return `${kind} ${quote(name)}`;
  return `${kind} ${quote(`${name}/${namespace === "" ? bindingNamespace : namespace}`)}`;
}

function readSubject(subject: JsonObject): Subject {
  return {
    kind: textAt(subject, "kind"),
    name: textAt(subject, "name"),
    namespace: textAt(subject, "namespace"),
  };
}
