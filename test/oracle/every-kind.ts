/**
 * Versions of the generic control plane that the real server serves only when it is asked to: not on by default, or not yet in
 * a stable version.
 */
export const versionsOnRequest = [
  "coordination.k8s.io/v1beta1",
  "certificates.k8s.io/v1beta1",
  "internal.apiserver.k8s.io/v1alpha1",
  "storagemigration.k8s.io/v1beta1",
] as const;

const features = ["ClusterTrustBundle", "StorageVersionMigrator"];

/** Flags under which the real server serves every kind that we do. */
export const everyKind: readonly string[] = [
  `--runtime-config=${on(versionsOnRequest)}`,
  `--feature-gates=${on(features)}`,
];

function on(names: readonly string[]): string {
  return names.map((name) => `${name}=true`).join(",");
}
