// What the operator is told: where the services are, and how apps are named and routed.

import type { RealmAdminOptions } from "../keycloak/realm-admin.ts";
import type { NamingOptions } from "../names/names.ts";
import type { BucketAdminOptions } from "../s3/bucket-admin.ts";
import type { PreviewSettings } from "../previews/preview-namespace.ts";
import type { DatabaseSettings } from "../steps/database-step.ts";
import type { SearchSettings } from "../steps/search-step.ts";
import type { RedisEndpoint } from "../steps/service-endpoints.ts";
import type { StoreSettings } from "../steps/storage-variables.ts";
import type { WorkloadSettings } from "../workload/workload.ts";

export interface OperatorSettings extends NamingOptions, WorkloadSettings {
  /** Where the Lease is, and the Secrets that are the operator's. */
  readonly namespace: string;
  /** How many apps are worked on at once. */
  readonly concurrency: number;
  /** How previews are kept apart; as usual where nothing is said. */
  readonly previews?: Partial<PreviewSettings>;
  readonly database: DatabaseSettings & {
    /** The administrator's URL as it is now; left out: no database is configured. */
    readonly adminUrl?: ((signal: AbortSignal) => Promise<string>) | undefined;
  };
  /** Left out: no object storage is configured. */
  readonly storage?:
    | (StoreSettings & {
        /** Left out: what the SDK finds in the environment, in files or as the role of the pod. */
        readonly keys?: BucketAdminOptions["keys"];
        /** The Secret of the operator's namespace with the keys of apps. */
        readonly appS3Secret?: string | undefined;
      })
    | undefined;
  readonly auth: {
    /** Where Keycloak is as it is now; left out: none is configured. */
    readonly access?: RealmAdminOptions["access"] | undefined;
    /** Where browsers find it. */
    readonly publicUrl: string;
  };
  /** Left out: none is configured. */
  readonly redis?: RedisEndpoint | undefined;
  readonly search?: SearchSettings | undefined;
}
