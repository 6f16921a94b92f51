// The services outside the cluster, as far as they are configured, for as long as this process leads.

import type { Clock, Random } from "@keelson/base";

import { RealmAdmin } from "../keycloak/realm-admin.ts";
import { BucketAdmin } from "../s3/bucket-admin.ts";
import { DatabaseAdmin } from "../sql/database-admin.ts";
import type { OnCall } from "../steps/call-point.ts";
import type { OperatorSettings } from "./settings.ts";

export interface Services extends AsyncDisposable {
  readonly database: DatabaseAdmin | undefined;
  readonly buckets: BucketAdmin | undefined;
  readonly realms: RealmAdmin | undefined;
}

export function openServices(
  settings: OperatorSettings,
  {
    onCall,
    clock,
    random,
  }: { readonly onCall: OnCall; readonly clock: Clock; readonly random: Random },
): Services {
  const { adminUrl } = settings.database;
  const database =
    adminUrl === undefined
      ? undefined
      : new DatabaseAdmin({
          // It may be asked for outside, too: of AWS, or of a file that is somewhere else.
          adminUrl: async (signal) => {
            const call = { service: "sql", name: "adminUrl" } as const;
            await onCall({ ...call, when: "before" });
            const url = await adminUrl(signal);
            await onCall({ ...call, when: "after" });
            return url;
          },
          clock,
          random,
          onStatement: ({ statement, phase }) =>
            onCall({ service: "sql", name: statement, when: phase }),
        });
  const { storage } = settings;
  const buckets =
    storage === undefined ? undefined : new BucketAdmin({ ...storage, clock, onCall });
  const { access } = settings.auth;
  const realms = access === undefined ? undefined : new RealmAdmin({ access, clock, onCall });
  return {
    database,
    buckets,
    realms,
    [Symbol.asyncDispose]: async () => {
      buckets?.[Symbol.dispose]();
      await database?.[Symbol.asyncDispose]();
    },
  };
}
