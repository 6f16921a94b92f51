// The services outside the cluster, as far as they are configured, for as long as this process leads.

import type { Clock, Random } from "@keelson/base";

import { DatabaseAdmin } from "../sql/database-admin.ts";
import type { OnCall } from "../steps/call-point.ts";
import type { OperatorSettings } from "./settings.ts";

export interface Services extends AsyncDisposable {
  readonly database: DatabaseAdmin | undefined;
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
          adminUrl,
          clock,
          random,
          onStatement: ({ statement, phase }) =>
            onCall({ service: "sql", name: statement, when: phase }),
        });
  return {
    database,
    [Symbol.asyncDispose]: async () => {
      await database?.[Symbol.asyncDispose]();
    },
  };
}
