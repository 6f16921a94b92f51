// The Kubernetes API over HTTP, on a store. docs/differences.md lists where it differs from kube-apiserver.

export type { Resource } from "./resources/resource.ts";
export { Registry } from "./resources/registry.ts";
export { Mirror } from "./mirror.ts";
export type { Authenticator } from "./auth/authenticator.ts";
export type { Authorizer } from "./auth/authorizer.ts";
export {
  openStandaloneAuth,
  type StandaloneAuth,
  type StandaloneAuthOptions,
} from "./auth/standalone-auth.ts";
export { CertificateFileError } from "./auth/pki/certificate-files.ts";
export { PkiBroken, validityOf, type CertificateValidity } from "./auth/pki/standalone-pki.ts";
export { TokenFileError } from "./auth/token-file.ts";
export { auditLines, type Audit, type FinishedRequest } from "./audit.ts";
