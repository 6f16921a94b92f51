// Talking to any Kubernetes API: kubeconfigs and credentials that rotate, requests with deadlines, retries and rate
// limits, kinds by discovery, server-side apply, and a reflector that keeps a copy of a collection and never goes
// silent. Every refusal is a `StatusError` with the server's own words; every call can be cancelled.

export type { Answer, Call, Caller, CallOptions, StreamCall } from "./caller.ts";
export { Client, type ClientOptions, type RequestPoint } from "./client.ts";
export {
  fixedCredentials,
  type Access,
  type Credential,
  type Credentials,
  type TlsIdentity,
} from "./credentials.ts";
export {
  ClientBusy,
  ConnectionFailed,
  DeadlineExceeded,
  GroupUnavailable,
  hasCode,
  hasReason,
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  isTransient,
  retryAfterMsOf,
  UnexpectedAnswer,
  UnknownKind,
} from "./errors.ts";
export { Kinds, type Resource } from "./kinds.ts";
export { loadKubeconfig, type KubeconfigOptions, type KubeconfigSource } from "./kubeconfig.ts";
export { BadKubeconfig } from "./kubeconfig-document.ts";
export {
  keyOf,
  refOf,
  refOfKey,
  type DynamicObject,
  type KubeObject,
  type Metadata,
  type ObjectKind,
  type ObjectRef,
  type OwnerReference,
} from "./object.ts";
export { environmentProxy, type EnvironmentProxies } from "./proxy.ts";
export { usualRateLimit, type Priority, type RateLimit } from "./rate-limiter.ts";
export {
  ResourceClient,
  type ApplyOptions,
  type DeleteOptions,
  type List,
  type ListOptions,
  type Patch,
  type ReadOptions,
  type Selection,
  type WriteOptions,
} from "./resource-client.ts";
export { isLater, laterOf } from "./resource-version.ts";
export type { HttpRequest, Method, TransportLimits } from "./transport.ts";
export { openWatch, type WatchEvent, type WatchRequest } from "./watch.ts";
export {
  collectionOf,
  type Collection,
  type CollectionOptions,
  type CollectionWatch,
} from "./reflector/collection.ts";
export type { Mirror } from "./reflector/mirror.ts";
export {
  runReflector,
  usualReflectorLimits,
  type ReflectorLimits,
  type ReflectorOptions,
  type ReflectorState,
} from "./reflector/reflector.ts";
