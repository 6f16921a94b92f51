// The Kubernetes API over HTTP, on a store. docs/differences.md lists where it differs from kube-apiserver.

export { ApiServer, type ApiServerOptions, type Identity } from "./apiserver.ts";
export { DatabaseAway } from "./bootstrap/patience.ts";
export { refuseWrongFiles, StandaloneServer, type StandaloneOptions } from "./standalone.ts";
export { auditLines, type Audit, type FinishedRequest } from "./audit.ts";
export { AggregatedServer, type AggregatedOptions } from "./aggregated/aggregated.ts";
export { HostUnavailable, type Host, type TokenVerdict } from "./aggregated/host.ts";
export { BadHostTrust } from "./aggregated/host-trust.ts";
export type { NamespacePhase, Namespaces } from "./admission/namespace-lifecycle.ts";
export { OtherKeys } from "./auth/pki/common-keys.ts";
export { CertificateFileError } from "./auth/pki/certificate-files.ts";
export { KubeconfigFileError, refuseForeignKubeconfig } from "./auth/pki/kubeconfig.ts";
export { PkiBroken } from "./auth/pki/standalone-pki.ts";
export { TokenFileError } from "./auth/token-file.ts";
export type { Authenticated, Authenticator, Credentials } from "./auth/authenticator.ts";
export type { Attributes, Authorizer, Decision } from "./auth/authorizer.ts";
export { anonymous, mastersGroup, type User } from "./auth/user.ts";
export type { Resource } from "./resources/resource.ts";
export { Registry } from "./resources/registry.ts";
export { Mirror } from "./mirror.ts";
export { Discovery, type DiscoveryOptions } from "./discovery/discovery.ts";
export type { DocumentAnswer, DocumentRequest } from "./discovery/document.ts";
export { OpenApi, type OpenApiOptions } from "./openapi/openapi.ts";
export { builtinResources } from "./resources/builtin-resource.ts";
export { customResources, declaredResources } from "./resources/custom-resource.ts";
export type { AdmissionPlugin, AdmissionRequest } from "./admission/admission.ts";
export { arkAdmission, type ArkAdmissionOptions } from "./ark/admission/ark-admission.ts";
export {
  arkLookup,
  storedValues,
  type ArkLookup,
  type ClusterValues,
} from "./ark/admission/lookup.ts";
export { ModelHosts, type ModelHostsOptions } from "./ark/admission/model-hosts.ts";
export { arkGroup } from "./ark/ark-group.ts";
export { arkDefinitions, arkResources } from "./ark/ark-kinds.ts";
