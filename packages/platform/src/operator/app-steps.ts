// The features of an app, in the order in which they are seen to, and the order in which they are taken away.

import type { Random } from "@keelson/base";
import type { Client } from "@keelson/client";

import { hasDatabase } from "../app.ts";
import type { Children } from "../children/children.ts";
import { cleanupDatabase, reconcileDatabase, type DatabaseStep } from "../steps/database-step.ts";
import { cleanupStorage, reconcileStorage, type StorageStep } from "../steps/storage-step.ts";
import type { Step } from "../steps/step.ts";
import type { Services } from "./services.ts";
import type { OperatorSettings } from "./settings.ts";

export interface AppStepsOptions {
  readonly client: Client;
  readonly services: Services;
  readonly children: Children;
  readonly settings: OperatorSettings;
  readonly random: Random;
}

export interface AppSteps {
  readonly forward: readonly Step[];
  /** The workload has gone before. */
  readonly backward: readonly Step[];
}

export function appSteps(options: AppStepsOptions): AppSteps {
  const [database, storage] = [databaseStep(options), storageStep(options)];
  return { forward: [database, storage], backward: [storage, database] };
}

function databaseStep({ services, children, settings, random }: AppStepsOptions): Step {
  const step: DatabaseStep = {
    admin: services.database,
    children,
    settings: settings.database,
    random,
    told: new Map(),
  };
  return {
    resourceType: "database",
    condition: "DatabaseReady",
    service: "sql",
    owns: ["Schema", "Role"],
    kinds: [{ apiVersion: "batch/v1", kind: "Job" }],
    isOn: hasDatabase,
    gatesImage: ({ spec }) => spec.database?.migrations !== undefined,
    children: ({ names }) => [{ apiVersion: "v1", kind: "Secret", name: names.children.database }],
    sentence: ({ names }) => `schema ${names.schema} is there, and its roles`,
    reconcile: async (work, signal) => {
      const { changes, wanted, migration } = await reconcileDatabase(step, work, signal);
      if (migration !== "running") return { changes, wanted };
      const job = wanted.find(({ kind }) => kind === "Job")?.metadata.name ?? "";
      const message = `Job ${job} is migrating schema ${work.app.names.schema}`;
      const finding = { status: "False", reason: "Migrating", message } as const;
      return { changes, wanted, finding, holdsImage: message };
    },
    cleanup: async (work, signal) => {
      await cleanupDatabase(step, work, signal);
      return {};
    },
  };
}

function storageStep({ client, services, children, settings }: AppStepsOptions): Step {
  const secrets = { apiVersion: "v1", kind: "Secret" } as const;
  const step: StorageStep = {
    admin: services.buckets,
    children,
    settings: {
      region: settings.storage?.region ?? "",
      endpoint: settings.storage?.endpoint,
      appS3Secret: settings.storage?.appS3Secret,
      appRoleArnTemplate: settings.appRoleArnTemplate,
      operatorNamespace: settings.namespace,
    },
    secrets: {
      find: async (ref, signal) => (await client.resource(secrets, signal)).find(ref, signal),
    },
  };
  return {
    resourceType: "storage",
    condition: "StorageReady",
    service: "s3",
    owns: ["Bucket"],
    kinds: [],
    isOn: ({ spec }) => spec.storage?.enabled === true,
    gatesImage: () => false,
    children: ({ names }) => [
      { apiVersion: "v1", kind: "ConfigMap", name: names.children.storage },
      { ...secrets, name: names.children.storageKeys },
    ],
    sentence: ({ spec }) => {
      const count = spec.storage?.buckets?.length ?? 0;
      return count === 0 ? "no bucket is asked for" : `${count} buckets are there`;
    },
    reconcile: (work, signal) => reconcileStorage(step, work, signal),
    cleanup: (work, signal) => cleanupStorage(step, work, signal),
  };
}
