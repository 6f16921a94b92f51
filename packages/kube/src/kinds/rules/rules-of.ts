// The rules of every built-in kind, by group and kind.

import type { KindRules } from "../kind-rules.ts";
import { appsRules } from "./apps/apps-rules.ts";
import { batchRules } from "./batch/batch-rules.ts";
import { coreRules } from "./core/core-rules.ts";
import {
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
} from "./admissionregistration/policy-rules.ts";
import {
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from "./admissionregistration/webhook-rules.ts";
import { customResourceDefinition } from "./apiextensions/definition-rules.ts";
import { apiService } from "./apiregistration/api-service-rules.ts";
import { tokenRequest } from "./authentication/token-request-rules.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from "./authorization/review-rules.ts";
import { horizontalPodAutoscaler, scale } from "./autoscaling/autoscaler-rules.ts";
import {
  certificateSigningRequest,
  certificateSigningRequestApproval,
} from "./certificates/signing-request-rules.ts";
import { clusterTrustBundle } from "./certificates/trust-bundle-rules.ts";
import { lease, leaseCandidate } from "./coordination/lease-rules.ts";
import { endpointSlice } from "./discovery/endpoint-slice-rules.ts";
import { event } from "./events/event-rules.ts";
import { flowSchema } from "./flowcontrol/flow-schema-rules.ts";
import { priorityLevelConfiguration } from "./flowcontrol/priority-level-rules.ts";
import { storageVersion, storageVersionMigration } from "./internal/storage-version-rules.ts";
import { ingressClass } from "./networking/ingress-class-rules.ts";
import { ingress } from "./networking/ingress-rules.ts";
import { networkPolicy } from "./networking/network-policy-rules.ts";
import { ipAddress, serviceCidr } from "./networking/service-cidr-rules.ts";
import { runtimeClass } from "./node/runtime-class-rules.ts";
import { podDisruptionBudget } from "./policy/disruption-budget-rules.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac/rbac-rules.ts";
import { resourceClaim, resourceClaimTemplate } from "./resource/claim-rules.ts";
import { deviceClass } from "./resource/device-class-rules.ts";
import { resourceSlice } from "./resource/slice-rules.ts";
import { priorityClass } from "./scheduling/priority-class-rules.ts";
import { csiDriver, csiNode } from "./storage/csi-rules.ts";
import {
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
} from "./storage/storage-rules.ts";

/** A table for one API group: rules by kind. */
export type GroupRules = Readonly<Record<string, KindRules>>;

const rules: Readonly<Record<string, GroupRules>> = {
  "": coreRules,
  apps: appsRules,
  "admissionregistration.k8s.io": {
    MutatingAdmissionPolicy: mutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding: mutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration: mutatingWebhookConfiguration,
    ValidatingAdmissionPolicy: validatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding: validatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration: validatingWebhookConfiguration,
  },
  batch: batchRules,
  "apiextensions.k8s.io": { CustomResourceDefinition: customResourceDefinition },
  "apiregistration.k8s.io": { APIService: apiService },
  "authentication.k8s.io": { TokenRequest: tokenRequest },
  "authorization.k8s.io": {
    LocalSubjectAccessReview: localSubjectAccessReview,
    SelfSubjectAccessReview: selfSubjectAccessReview,
    SubjectAccessReview: subjectAccessReview,
  },
  autoscaling: { HorizontalPodAutoscaler: horizontalPodAutoscaler, Scale: scale },
  "certificates.k8s.io": {
    CertificateSigningRequest: certificateSigningRequest,
    "CertificateSigningRequest/approval": certificateSigningRequestApproval,
    ClusterTrustBundle: clusterTrustBundle,
  },
  "coordination.k8s.io": { Lease: lease, LeaseCandidate: leaseCandidate },
  "discovery.k8s.io": { EndpointSlice: endpointSlice },
  "events.k8s.io": { Event: event },
  "flowcontrol.apiserver.k8s.io": {
    FlowSchema: flowSchema,
    PriorityLevelConfiguration: priorityLevelConfiguration,
  },
  "internal.apiserver.k8s.io": { StorageVersion: storageVersion },
  "networking.k8s.io": {
    Ingress: ingress,
    IngressClass: ingressClass,
    IPAddress: ipAddress,
    NetworkPolicy: networkPolicy,
    ServiceCIDR: serviceCidr,
  },
  "node.k8s.io": { RuntimeClass: runtimeClass },
  policy: { PodDisruptionBudget: podDisruptionBudget },
  "rbac.authorization.k8s.io": {
    ClusterRole: clusterRole,
    ClusterRoleBinding: clusterRoleBinding,
    Role: role,
    RoleBinding: roleBinding,
  },
  "resource.k8s.io": {
    DeviceClass: deviceClass,
    ResourceClaim: resourceClaim,
    ResourceClaimTemplate: resourceClaimTemplate,
    ResourceSlice: resourceSlice,
  },
  "scheduling.k8s.io": { PriorityClass: priorityClass },
  "storage.k8s.io": {
    CSIDriver: csiDriver,
    CSINode: csiNode,
    CSIStorageCapacity: csiStorageCapacity,
    StorageClass: storageClass,
    VolumeAttachment: volumeAttachment,
    VolumeAttributesClass: volumeAttributesClass,
  },
  "storagemigration.k8s.io": { StorageVersionMigration: storageVersionMigration },
};

/**
 * The rules by which a subresource is updated, as `prepareForStatusUpdate` and `validateStatusUpdate`: its own, or those
 * of the status.
 */
export function subresourceRulesOf(
  { group, kind }: { readonly group: string; readonly kind: string },
  subresource: string,
): KindRules {
  const own = find(group, `${kind}/${subresource}`);
  return own ?? rulesOf({ group, kind });
}

/** The rules of a kind; none for a kind whose structure says everything. */
export function rulesOf({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): KindRules {
  return find(group, kind) ?? {};
}

function find(group: string, kind: string): KindRules | undefined {
  const ofGroup = Object.hasOwn(rules, group) ? rules[group] : undefined;
  return ofGroup !== undefined && Object.hasOwn(ofGroup, kind) ? ofGroup[kind] : undefined;
}
