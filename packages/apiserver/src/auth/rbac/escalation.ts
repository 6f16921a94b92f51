// Nobody hands out rights that they do not have (KB 65): asked before a role or a binding is written.

import { isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { failures, memberOf, quote, type GroupResource } from "@keelson/kube";

import { nameOf } from "../../object-metadata.ts";
import type { Authorizer, ResourceAttributes } from "../authorizer.ts";
import { objectAt, objectsAt } from "../../fields.ts";
import { mastersGroup, type User } from "../user.ts";
import { readRoleRef, type RoleRef } from "./binding.ts";
import { describeRules, quoteList, uncoveredRules } from "./covers.ts";
import { readRules, type PolicyRule } from "./policy-rule.ts";
import { joinErrors, missingRole, type RbacRules } from "./rbac-rules.ts";

export interface EscalationCheck {
  readonly user: User;
  /** The request, as it was authorised. */
  readonly attributes: ResourceAttributes;
  /** The Role, RoleBinding, ClusterRole or ClusterRoleBinding to be written. */
  readonly object: JsonObject;
  /** What it replaces; undefined on creation. */
  readonly old: JsonObject | undefined;
}

export interface EscalationDependencies {
  readonly rules: RbacRules;
  readonly authorizer: Authorizer;
}

/**
 * Throws a 403 if writing the object would give somebody rights that the user lacks and may not give either, and
 * a 404 where a binding refers to a role that is not there. Other resources pass.
 */
export async function checkEscalation(
  check: EscalationCheck,
  dependencies: EscalationDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { user, attributes, object, old } = check;
  if (attributes.group !== rbacGroup || attributes.subresource !== "") return;
  if (user.groups.includes(mastersGroup)) return;
  switch (attributes.resource) {
    case "roles":
    case "clusterroles":
      return await checkRole(check, dependencies, signal);
    case "rolebindings":
    case "clusterrolebindings": {
      if (old !== undefined && isHousekeeping(object, old)) return;
      return await checkBinding(check, dependencies, signal);
    }
  }
}

const rbacGroup = "rbac.authorization.k8s.io";

const everything: readonly PolicyRule[] = [
  rule({ apiGroups: ["*"], resources: ["*"] }),
  rule({ nonResourceURLs: ["*"] }),
];

async function checkRole(
  { user, attributes, object, old }: EscalationCheck,
  { rules, authorizer }: EscalationDependencies,
  signal: AbortSignal,
): Promise<void> {
  const escalate: ResourceAttributes = { ...attributes, verb: "escalate", version: "*" };
  const { isAllowed } = await authorizer.authorize(user, escalate, signal);
  if (isAllowed || (old !== undefined && isHousekeeping(object, old))) return;
  const name = nameOf(object);
  const excess = excessOf(rules, { user, attributes }, readRules(object));
  if (excess !== undefined) throw failures.forbidden(about(attributes), name, excess);
  if (!isAggregated(object) && (old === undefined || !isAggregated(old))) return;
  if (excessOf(rules, { user, attributes }, everything) !== undefined) {
    const why = "must have cluster-admin privileges to use the aggregationRule";
    throw failures.forbidden(about(attributes), name, why);
  }
}

async function checkBinding(
  { user, attributes, object }: EscalationCheck,
  { rules, authorizer }: EscalationDependencies,
  signal: AbortSignal,
): Promise<void> {
  const roleRef = readRoleRef(object);
  const { namespace } = attributes;
  const role = roleResource(roleRef);
  if (role !== undefined) {
    const bind: ResourceAttributes = {
      isResource: true,
      verb: "bind",
      group: roleRef.apiGroup,
      version: "*",
      resource: role.resource,
      subresource: "",
      namespace,
      name: roleRef.name,
    };
    const { isAllowed } = await authorizer.authorize(user, bind, signal);
    if (isAllowed) return;
  }
  const granted = rules.rulesOf(roleRef, namespace);
  if (granted === undefined) {
    if (role === undefined) throw failures.unexplained(missingRole(roleRef));
    throw failures.notFound(about(attributes), roleRef.name);
  }
  const excess = excessOf(rules, { user, attributes }, granted);
  if (excess === undefined) return;
  const name = nameOf(object);
  throw failures.forbidden(about(attributes), name, excess);
}

/** What `wanted` has beyond the rights of the user, as the refusal says it; undefined if nothing. */
function excessOf(
  rules: RbacRules,
  { user, attributes }: Pick<EscalationCheck, "user" | "attributes">,
  wanted: readonly PolicyRule[],
): string | undefined {
  const held = rules.rulesFor(user, attributes.namespace);
  const uncovered = uncoveredRules(held.rules, wanted);
  if (uncovered.length === 0) return undefined;
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`;
  const list = describeRules(uncovered).join("\n");
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${list}`;
  if (held.missing.length === 0) return text;
  const errors = held.missing.map((roleRef) =>
    roleResource(roleRef) === undefined
      ? missingRole(roleRef)
      : failures.notFound(about(attributes), roleRef.name).message,
  );
  return `${text}; resolution errors: [${joinErrors(errors)}]`;
}

/** What the request is about. The real server blames it even for a role that it does not find. */
function about({ resource }: ResourceAttributes): GroupResource {
  return { group: rbacGroup, resource };
}

function roleResource({ kind }: RoleRef): GroupResource | undefined {
  if (kind === "ClusterRole") return { group: rbacGroup, resource: "clusterroles" };
  return kind === "Role" ? { group: rbacGroup, resource: "roles" } : undefined;
}

function isAggregated(role: JsonObject): boolean {
  return objectsAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors").length > 0;
}

/** Whether only that changes which the garbage collector must be able to change. */
export function isHousekeeping(object: JsonObject, old: JsonObject): boolean {
  return jsonEqual(withoutHousekeeping(object), withoutHousekeeping(old));
}

function withoutHousekeeping(object: JsonObject): Json {
  const metadata = memberOf(object, "metadata");
  if (!isJsonObject(metadata)) return object;
  const {
    ownerReferences: _,
    finalizers: __,
    managedFields: ___,
    selfLink: ____,
    ...rest
  } = metadata;
  return { ...object, metadata: rest };
}

function rule(part: Partial<PolicyRule>): PolicyRule {
  const none: readonly string[] = [];
  return {
    verbs: ["*"],
    apiGroups: none,
    resources: none,
    resourceNames: none,
    nonResourceURLs: none,
    ...part,
  };
}
