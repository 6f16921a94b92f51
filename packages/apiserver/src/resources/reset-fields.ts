// What a write to an endpoint of a built-in kind cannot change, and so nobody owns through it.

import { apiVersionOf, FieldSet, type BuiltinKind } from "@keelson/kube";

type Path = readonly string[];

const metadata: Path = ["metadata"];
const spec: Path = ["spec"];
const status: Path = ["status"];

/** By group, kind and endpoint, where it is not what most kinds do. */
const special: Readonly<Record<string, readonly Path[]>> = {
  "certificates.k8s.io/CertificateSigningRequest": [spec, status],
  "certificates.k8s.io/CertificateSigningRequest/status": [spec, ["status", "conditions"]],
  "certificates.k8s.io/CertificateSigningRequest/approval": [spec, ["status", "certificate"]],
  "/Namespace/finalize": [status],
  "/Pod/status": [spec, ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]],
  "/Pod/ephemeralcontainers": [],
  "/Pod/resize": [],
  "apps/Deployment/status": [spec, ["metadata", "labels"]],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy/status": [spec, metadata],
  "apiregistration.k8s.io/APIService/status": [spec, metadata],
  "flowcontrol.apiserver.k8s.io/FlowSchema/status": [spec, metadata],
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration/status": [spec, metadata],
  "internal.apiserver.k8s.io/StorageVersion/status": [spec, metadata],
  "networking.k8s.io/ServiceCIDR/status": [spec, metadata],
  "resource.k8s.io/ResourceClaim/status": [spec, metadata],
  "storage.k8s.io/VolumeAttachment/status": [spec, metadata],
  "storagemigration.k8s.io/StorageVersionMigration/status": [spec, metadata],
};

/** By `apiVersion`; undefined where nothing is reset. */
export function resetFieldsOf(
  kind: BuiltinKind,
  subresource: string,
): ReadonlyMap<string, FieldSet> | undefined {
  const paths = pathsOf(kind, subresource);
  return paths.length === 0 ? undefined : new Map([[apiVersionOf(kind), FieldSet.of(...paths)]]);
}

function pathsOf({ group, kind, subresources }: BuiltinKind, subresource: string): readonly Path[] {
  const key = `${group}/${kind}${subresource === "" ? "" : `/${subresource}`}`;
  const found = Object.hasOwn(special, key) ? special[key] : undefined;
  if (found !== undefined) return found;
  if (subresource === "status") return [spec];
  return subresource === "" && subresources.some(({ name }) => name === "status") ? [status] : [];
}
