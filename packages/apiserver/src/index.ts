// The Kubernetes API over HTTP, on a store. docs/differences.md lists where it differs from kube-apiserver.

export { ApiServer, type ApiServerOptions } from "./apiserver.ts";
export type { Authenticated, Authenticator, Credentials } from "./auth/authenticator.ts";
export type { Attributes, Authorizer, Decision } from "./auth/authorizer.ts";
export { anonymous, mastersGroup, type User } from "./auth/user.ts";
export type { Resource } from "./resources/resource.ts";
