// Roles and bindings in memory, by who holds them: what RBAC knows, kept current.

import { append, type JsonObject } from "@keelson/base";
import { quote } from "@keelson/kube";

import type { Attributes, Decision } from "../authorizer.ts";
import { objectAt, textAt } from "../../fields.ts";
import { mastersGroup, type User } from "../user.ts";
import {
  describeGrant,
  firstSubjectOf,
  holderOf,
  readBinding,
  type Binding,
  type RoleRef,
  type Subject,
} from "./binding.ts";
import { readRules, type PolicyRule } from "./policy-rule.ts";
import { RuleIndex } from "./rule-index.ts";

export type RbacKind = "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding";

/** The rules that somebody has somewhere, and what kept others from being found. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** What bindings refer to and is not there. */
  readonly missing: readonly RoleRef[];
}

/**
 * All roles and bindings. A request is judged by the bindings of its user and groups alone, so that the number of the
 * others does not count. Where several bindings allow it, any of them is named.
 */
export class RbacRules {
  readonly #roles = new Map<string, RuleIndex>();
  readonly #clusterRoles = new Map<string, RuleIndex>();
  readonly #bindings = new Map<string, Binding>();
  readonly #cluster = new Holders();
  readonly #namespaces = new Map<string, Holders>();
  /** The answer that names a subject of a binding: its text costs more than the decision. */
  readonly #decisions = new WeakMap<Subject, Decision>();

  /** Takes in an object as it is now. */
  set(kind: RbacKind, object: JsonObject): void {
    const metadata = objectAt(object, "metadata");
    const name = textAt(metadata, "name");
    const namespace = textAt(metadata, "namespace");
    switch (kind) {
      case "Role":
        this.#roles.set(`${namespace}/${name}`, new RuleIndex(readRules(object)));
        return;
      case "ClusterRole":
        this.#clusterRoles.set(name, new RuleIndex(readRules(object)));
        return;
      case "RoleBinding":
      case "ClusterRoleBinding":
        this.delete(kind, namespace, name);
        this.#bind(readBinding(object));
    }
  }

  delete(kind: RbacKind, namespace: string, name: string): void {
    switch (kind) {
      case "Role":
        this.#roles.delete(`${namespace}/${name}`);
        return;
      case "ClusterRole":
        this.#clusterRoles.delete(name);
        return;
      case "RoleBinding":
      case "ClusterRoleBinding": {
        const binding = this.#bindings.get(`${namespace}/${name}`);
        if (binding === undefined) return;
        this.#bindings.delete(`${namespace}/${name}`);
        const holders = namespace === "" ? this.#cluster : this.#namespaces.get(namespace);
        holders?.remove(binding);
        if (namespace !== "" && holders?.isEmpty === true) this.#namespaces.delete(namespace);
      }
    }
  }

  authorize(user: User, attributes: Attributes): Decision {
    if (user.groups.includes(mastersGroup)) return allowed;
    const namespace = attributes.isResource ? attributes.namespace : "";
    const inNamespace = namespace === "" ? undefined : this.#namespaces.get(namespace);
    const binding =
      this.#grantOf(this.#cluster, user, attributes) ??
      (inNamespace === undefined ? undefined : this.#grantOf(inNamespace, user, attributes));
    if (binding !== undefined) return this.#allowedBy(binding, user);
    const missing = this.#missingFor(user, inNamespace);
    if (missing.length === 0) return denied;
    return { isAllowed: false, reason: `RBAC: ${joinErrors(missing.map(missingRole))}` };
  }

  /** Everything a user holds in a namespace, the whole cluster's included; only that with an empty one. */
  rulesFor(user: User, namespace: string): HeldRules {
    const rules: PolicyRule[] = [];
    const missing: RoleRef[] = [];
    const inNamespace = namespace === "" ? undefined : this.#namespaces.get(namespace);
    for (const holders of [this.#cluster, inNamespace]) {
      for (const binding of holders?.bindingsOf(user) ?? []) {
        const role = this.#roleOf(binding);
        if (role === undefined) missing.push(binding.roleRef);
        else append(rules, role.rules);
      }
    }
    return { rules, missing };
  }

  /** The rules of a role that is referred to from a namespace; undefined if there is none. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roleOf({ roleRef, namespace })?.rules;
  }

  #bind(binding: Binding): void {
    const { namespace, name } = binding;
    this.#bindings.set(`${namespace}/${name}`, binding);
    if (namespace === "") {
      this.#cluster.add(binding);
      return;
    }
    const holders = this.#namespaces.get(namespace) ?? new Holders();
    this.#namespaces.set(namespace, holders);
    holders.add(binding);
  }

  /** The roles of the user's bindings that are not there: asked on each refusal, and almost always none. */
  #missingFor(user: User, inNamespace: Holders | undefined): readonly RoleRef[] {
    const missing: RoleRef[] = [];
    for (const holders of [this.#cluster, inNamespace]) {
      for (const binding of holders?.bindingsOf(user) ?? []) {
        if (this.#roleOf(binding) === undefined) missing.push(binding.roleRef);
      }
    }
    return missing;
  }

  #allowedBy(binding: Binding, user: User): Decision {
    const subject = firstSubjectOf(binding, user);
    if (subject === undefined) return allowed;
    const known = this.#decisions.get(subject);
    if (known !== undefined) return known;
    const reason = `RBAC: allowed by ${describeGrant(binding, subject)}`;
    const decision: Decision = { isAllowed: true, reason };
    this.#decisions.set(subject, decision);
    return decision;
  }

  #grantOf(holders: Holders, user: User, attributes: Attributes): Binding | undefined {
    const found = this.#firstGrant(holders.ofUser(user.name), attributes);
    if (found !== undefined) return found;
    for (const group of user.groups) {
      const binding = this.#firstGrant(holders.ofGroup(group), attributes);
      if (binding !== undefined) return binding;
    }
    return undefined;
  }

  #firstGrant(
    bindings: Iterable<Binding> | undefined,
    attributes: Attributes,
  ): Binding | undefined {
    if (bindings === undefined) return undefined;
    for (const binding of bindings) {
      if (this.#roleOf(binding)?.allows(attributes) === true) return binding;
    }
    return undefined;
  }

  #roleOf({ roleRef, namespace }: Pick<Binding, "roleRef" | "namespace">): RuleIndex | undefined {
    if (roleRef.kind === "ClusterRole") return this.#clusterRoles.get(roleRef.name);
    return roleRef.kind === "Role" ? this.#roles.get(`${namespace}/${roleRef.name}`) : undefined;
  }
}

/** Several errors in one text: each once, in brackets if there is more than one. */
export function joinErrors(errors: readonly string[]): string {
  const unique = [...new Set(errors)];
  return unique.length === 1 ? (unique[0] ?? "") : `[${unique.join(", ")}]`;
}

/** Why a role was not found, in the words of the authoriser. */
export function missingRole({ kind, name }: RoleRef): string {
  if (kind !== "Role" && kind !== "ClusterRole") {
    return `unsupported role reference kind: ${quote(kind)}`;
  }
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${quote(name)} not found`;
}

const allowed: Decision = { isAllowed: true, reason: "" };
const denied: Decision = { isAllowed: false, reason: "" };

/** The bindings of one namespace, or of the cluster, by the users and groups in them. */
class Holders {
  readonly #users = new Map<string, Set<Binding>>();
  readonly #groups = new Map<string, Set<Binding>>();

  get isEmpty(): boolean {
    return this.#users.size === 0 && this.#groups.size === 0;
  }

  ofUser(name: string): ReadonlySet<Binding> | undefined {
    return this.#users.get(name);
  }

  ofGroup(name: string): ReadonlySet<Binding> | undefined {
    return this.#groups.get(name);
  }

  /** Each binding once. */
  bindingsOf({ name, groups }: User): ReadonlySet<Binding> {
    const all = new Set(this.#users.get(name));
    for (const group of groups) {
      for (const binding of this.#groups.get(group) ?? []) all.add(binding);
    }
    return all;
  }

  add(binding: Binding): void {
    for (const [table, name] of this.#placesOf(binding)) {
      const same = table.get(name);
      if (same === undefined) table.set(name, new Set([binding]));
      else same.add(binding);
    }
  }

  remove(binding: Binding): void {
    for (const [table, name] of this.#placesOf(binding)) {
      const same = table.get(name);
      same?.delete(binding);
      if (same?.size === 0) table.delete(name);
    }
  }

  *#placesOf({ subjects, namespace }: Binding): Generator<[Map<string, Set<Binding>>, string]> {
    for (const subject of subjects) {
      const holder = holderOf(subject, namespace);
      if (holder === undefined) continue;
      yield [holder.is === "user" ? this.#users : this.#groups, holder.name];
    }
  }
}
