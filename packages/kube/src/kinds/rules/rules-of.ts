// The rules of every built-in kind, by group and kind.

import type { KindRules } from "../kind-rules.ts";
import { customResourceDefinition } from "./apiextensions/definition-rules.ts";
import { lease, leaseCandidate } from "./coordination/lease-rules.ts";
import { endpointSlice } from "./discovery/endpoint-slice-rules.ts";
import { ingressClass } from "./networking/ingress-class-rules.ts";
import { ingress } from "./networking/ingress-rules.ts";
import { networkPolicy } from "./networking/network-policy-rules.ts";
import { ipAddress, serviceCidr } from "./networking/service-cidr-rules.ts";
import { podDisruptionBudget } from "./policy/disruption-budget-rules.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac/rbac-rules.ts";
import { priorityClass } from "./scheduling/priority-class-rules.ts";

/** A table for one API group: rules by kind. */
export type GroupRules = Readonly<Record<string, KindRules>>;

const rules: Readonly<Record<string, GroupRules>> = {
  "apiextensions.k8s.io": { CustomResourceDefinition: customResourceDefinition },
  "coordination.k8s.io": { Lease: lease, LeaseCandidate: leaseCandidate },
  "discovery.k8s.io": { EndpointSlice: endpointSlice },
  "networking.k8s.io": {
    Ingress: ingress,
    IngressClass: ingressClass,
    IPAddress: ipAddress,
    NetworkPolicy: networkPolicy,
    ServiceCIDR: serviceCidr,
  },
  policy: { PodDisruptionBudget: podDisruptionBudget },
  "rbac.authorization.k8s.io": {
    ClusterRole: clusterRole,
    ClusterRoleBinding: clusterRoleBinding,
    Role: role,
    RoleBinding: roleBinding,
  },
  "scheduling.k8s.io": { PriorityClass: priorityClass },
};

/** The rules of a kind; none for a kind whose structure says everything. */
export function rulesOf({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): KindRules {
  const ofGroup = Object.hasOwn(rules, group) ? rules[group] : undefined;
  return (ofGroup !== undefined && Object.hasOwn(ofGroup, kind) ? ofGroup[kind] : undefined) ?? {};
}
