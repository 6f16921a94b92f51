// Applications and preview environments. An operator watches both kinds in any cluster, and gives each app its
// schema, buckets, login realm, workload, routes and autoscaling; each pull request the same, apart and for a while.

export type { ApplicationSpec, ApplicationStatus, Environment } from "./kinds/application.ts";
export { platformDefinitions } from "./kinds/definitions.ts";
export { platformGroup } from "./kinds/platform-group.ts";
export type { PreviewSpec, PreviewStatus } from "./kinds/preview-environment.ts";
export type { Condition, Owned, OwnedKind, Phase } from "./kinds/status.ts";
export type { Ledger } from "./ownership/ledger.ts";
export type { CallPoint, OnCall } from "./steps/call-point.ts";
export { StepError, type StepReason } from "./steps/step-error.ts";
export type { App } from "./app.ts";
export { adminUrlFromSecret, type AdminSecretOptions } from "./aws/admin-secret.ts";
export { childOf, fieldManager, type Child } from "./children/child.ts";
export { Children, type ChildrenOptions } from "./children/children.ts";
export { isApplied } from "./children/is-applied.ts";
export { namesOf, type Named, type Names, type NamingOptions } from "./names/names.ts";
export { workloadOf, type WorkloadSettings } from "./workload/workload.ts";
export { expiresAtMs, refreshAnnotation, type Aging } from "./previews/expiry.ts";
export { expiryReader, runExpiry, type ExpiryOptions } from "./previews/expiry-loop.ts";
export {
  cleanupNamespace,
  reconcileNamespace,
  type NamespaceOutcome,
  type NamespaceStep,
} from "./previews/namespace-step.ts";
export { parentRef, previewApp, type Parent } from "./previews/preview-app.ts";
export { previewFinding, type PreviewFacts } from "./previews/preview-finding.ts";
export { usualPreviewSettings, type PreviewSettings } from "./previews/preview-namespace.ts";
export { previewLabel, sharedVariables, type SharedVariables } from "./previews/secret-copies.ts";
export { conditionsOf, type Finding, type Findings } from "./status/conditions.ts";
export { phaseOf, type PhaseFacts } from "./status/phase.ts";
export { deploymentFinding, ingressFinding } from "./status/rollout.ts";
export { applySqlFiles, MigrationFailed, type SqlFile } from "./sql/sql-files.ts";
export type { StatementPoint } from "./sql/session.ts";
export { DatabaseAdmin, type DatabaseAdminOptions } from "./sql/database-admin.ts";
export {
  cleanupDatabase,
  reconcileDatabase,
  type DatabaseChildren,
  type DatabaseOutcome,
  type DatabaseSettings,
  type DatabaseStep,
} from "./steps/database-step.ts";
export { happeningReasons, typeOfHappening, type HappeningReason } from "./operator/happenings.ts";
export { Operator, operatorElectionTimes, type OperatorOptions } from "./operator/operator.ts";
export type { OperatorSettings } from "./operator/settings.ts";
export { BucketAdmin, type BucketAdminOptions } from "./s3/bucket-admin.ts";
export {
  cleanupStorage,
  prepareStorage,
  reconcileStorage,
  type StorageChildren,
  type StorageOutcome,
  type StorageSettings,
  type StorageStep,
} from "./steps/storage-step.ts";
export type { KeycloakAccess } from "./keycloak/keycloak.ts";
export { RealmAdmin, type RealmAdminOptions } from "./keycloak/realm-admin.ts";
export {
  cleanupAuth,
  prepareAuth,
  reconcileAuth,
  type AuthOutcome,
  type AuthSettings,
  type AuthStep,
} from "./steps/auth-step.ts";
export {
  cleanupRedis,
  reconcileRedis,
  type RedisOutcome,
  type RedisStep,
} from "./steps/redis-step.ts";
export {
  cleanupSearch,
  reconcileSearch,
  type SearchOutcome,
  type SearchSettings,
  type SearchStep,
} from "./steps/search-step.ts";
export { redisVariables, searchUrl, type RedisEndpoint } from "./steps/service-endpoints.ts";
