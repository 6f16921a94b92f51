import type { GroupRules } from "../rules-of.ts";
import { bindingRules } from "./binding.ts";
import { configMapRules } from "./config-map.ts";
import { endpointsRules } from "./endpoints.ts";
import { eventRules } from "./event.ts";
import { limitRangeRules } from "./limit-range.ts";
import { namespaceFinalizeRules, namespaceRules } from "./namespace.ts";
import { nodeRules } from "./node.ts";
import { persistentVolumeClaimRules } from "./persistent-volume-claim.ts";
import { persistentVolumeRules } from "./persistent-volume.ts";
import { podTemplateRules } from "./pod-template-rules.ts";
import { podEphemeralContainersRules, podResizeRules } from "./pod/pod-subresources.ts";
import { podRules } from "./pod/pod.ts";
import { replicationControllerRules } from "./replication-controller.ts";
import { resourceQuotaRules } from "./resource-quota.ts";
import { secretRules } from "./secret.ts";
import { serviceAccountRules } from "./service-account.ts";
import { serviceRules } from "./service.ts";

/** The rules of the core group. */
export const coreRules: GroupRules = {
  Binding: bindingRules,
  ConfigMap: configMapRules,
  Endpoints: endpointsRules,
  Event: eventRules,
  LimitRange: limitRangeRules,
  Namespace: namespaceRules,
  "Namespace/finalize": namespaceFinalizeRules,
  Node: nodeRules,
  PersistentVolume: persistentVolumeRules,
  PersistentVolumeClaim: persistentVolumeClaimRules,
  Pod: podRules,
  "Pod/ephemeralcontainers": podEphemeralContainersRules,
  "Pod/resize": podResizeRules,
  PodTemplate: podTemplateRules,
  ReplicationController: replicationControllerRules,
  ResourceQuota: resourceQuotaRules,
  Secret: secretRules,
  Service: serviceRules,
  ServiceAccount: serviceAccountRules,
};
