// How often the real server says what is wrong with the metadata of an update. Every kind is judged twice, by its metadata and by
// the change to it; then by its own rules, which look again, each in their way. A message says each problem once, its causes say all.

/** A look at all of the metadata, or at what an update may change in it. */
export type MetadataCheck = "whole" | "changes";

/** What the own rules of a kind look at on an update of the object itself (`""`), or through a subresource. */
export function metadataChecks(
  kind: { readonly group: string; readonly kind: string },
  subresource: string,
): readonly MetadataCheck[] {
  const table = subresource === "" ? ofObjects : ofSubresources;
  return table.get(`${kind.group}/${kind.kind}`) ?? usual;
}

const usual: readonly MetadataCheck[] = ["changes"];

const ofSubresources = new Map<string, readonly MetadataCheck[]>([
  ...of(["whole", "changes"], { "certificates.k8s.io": ["CertificateSigningRequest"] }),
  ...of([], {
    batch: ["CronJob"],
    "internal.apiserver.k8s.io": ["StorageVersion"],
    policy: ["PodDisruptionBudget"],
  }),
]);

const ofObjects = new Map<string, readonly MetadataCheck[]>([
  ...of(["whole", "changes"], {
    "": [
      "ConfigMap",
      "Endpoints",
      "Namespace",
      "Node",
      "PersistentVolumeClaim",
      "Pod",
      "Secret",
      "ServiceAccount",
    ],
    "apiregistration.k8s.io": ["APIService"],
    apps: ["ControllerRevision"],
    batch: ["Job"],
    "certificates.k8s.io": ["CertificateSigningRequest", "ClusterTrustBundle"],
    "networking.k8s.io": ["IPAddress", "Ingress", "IngressClass"],
    "node.k8s.io": ["RuntimeClass"],
    "rbac.authorization.k8s.io": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
    "resource.k8s.io": ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate"],
    "storage.k8s.io": ["CSIStorageCapacity", "StorageClass", "VolumeAttributesClass"],
    "storagemigration.k8s.io": ["StorageVersionMigration"],
  }),
  ...of(["whole"], {
    "": ["LimitRange"],
    "admissionregistration.k8s.io": [
      "MutatingAdmissionPolicy",
      "MutatingAdmissionPolicyBinding",
      "MutatingWebhookConfiguration",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
      "ValidatingWebhookConfiguration",
    ],
    "discovery.k8s.io": ["EndpointSlice"],
    "flowcontrol.apiserver.k8s.io": ["FlowSchema", "PriorityLevelConfiguration"],
    "storage.k8s.io": ["CSINode", "VolumeAttachment"],
  }),
  ...of(["whole", "whole"], { "": ["PersistentVolume"] }),
  ...of([], {
    "": ["Event"],
    "internal.apiserver.k8s.io": ["StorageVersion"],
    policy: ["PodDisruptionBudget"],
  }),
]);

function of(
  looks: readonly MetadataCheck[],
  kinds: Readonly<Record<string, readonly string[]>>,
): [string, readonly MetadataCheck[]][] {
  return Object.entries(kinds).flatMap(([group, names]) =>
    names.map((name): [string, readonly MetadataCheck[]] => [`${group}/${name}`, looks]),
  );
}
