// The features of an app, in the order in which they are seen to, and the order in which they are taken away.

import type { Random } from "@keelson/base";
import type { ObjectKind } from "@keelson/client";

import { hasDatabase } from "../app.ts";
import { configMapKind, secretKind } from "../children/child.ts";
import type { Children } from "../children/children.ts";
import { cleanupAuth, prepareAuth, reconcileAuth, type AuthStep } from "../steps/auth-step.ts";
import { cleanupDatabase, reconcileDatabase, type DatabaseStep } from "../steps/database-step.ts";
import { jobKind } from "../steps/database-migrations.ts";
import { cleanupRedis, reconcileRedis, type RedisStep } from "../steps/redis-step.ts";
import { cleanupSearch, reconcileSearch, type SearchStep } from "../steps/search-step.ts";
import {
  cleanupStorage,
  prepareStorage,
  reconcileStorage,
  type StorageStep,
} from "../steps/storage-step.ts";
import type { Step } from "../steps/step.ts";
import { workloadKinds } from "../steps/workload-step.ts";
import type { WorkloadSettings } from "../workload/workload.ts";
import type { OperatorSecrets } from "./operator-secrets.ts";
import type { Services } from "./services.ts";
import type { OperatorSettings } from "./settings.ts";

export interface AppStepsOptions {
  readonly secrets: OperatorSecrets;
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
  const [database, storage, auth] = [
    databaseStep(options),
    storageStep(options),
    authStep(options),
  ];
  const [redis, search] = [redisStep(options), searchStep(options)];
  return {
    forward: [database, storage, auth, redis, search],
    backward: [auth, storage, database, redis, search],
  };
}

/** The kinds of everything that an app has in its namespace. */
export function childKinds(settings: WorkloadSettings, steps: AppSteps): readonly ObjectKind[] {
  return [
    ...workloadKinds(settings),
    ...steps.forward.flatMap((step) => step.kinds),
    secretKind,
    configMapKind,
  ];
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
    kinds: [jobKind],
    isOn: hasDatabase,
    gatesImage: ({ spec }) => spec.database?.migrations !== undefined,
    children: ({ names }) => [{ ...secretKind, name: names.children.database }],
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

function storageStep({ secrets, services, children, settings }: AppStepsOptions): Step {
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
    secrets,
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
      { ...configMapKind, name: names.children.storage },
      { ...secretKind, name: names.children.storageKeys },
    ],
    inputs: (app) => secrets.versionForStorage(app),
    sentence: ({ spec }) => {
      const count = spec.storage?.buckets?.length ?? 0;
      if (count === 0) return "no bucket is asked for";
      return count === 1 ? "1 bucket is there" : `${count} buckets are there`;
    },
    prepare: (work, signal) => prepareStorage(step, work, signal),
    reconcile: (work, signal) => reconcileStorage(step, work, signal),
    cleanup: (work, signal) => cleanupStorage(step, work, signal),
  };
}

function authStep({ secrets, services, children, settings }: AppStepsOptions): Step {
  const step: AuthStep = {
    admin: services.realms,
    children,
    secrets,
    settings: { publicUrl: settings.auth.publicUrl, operatorNamespace: settings.namespace },
  };
  return {
    resourceType: "auth",
    condition: "AuthReady",
    service: "keycloak",
    owns: ["Realm"],
    kinds: [],
    isOn: ({ spec }) => spec.auth?.enabled === true,
    gatesImage: () => false,
    children: ({ names }) => [{ ...configMapKind, name: names.children.auth }],
    inputs: (app) => secrets.versionForAuth(app),
    sentence: ({ names }) => `realm ${names.realm} is there, with client ${names.client}`,
    prepare: (work, signal) => prepareAuth(step, work, signal),
    reconcile: (work, signal) => reconcileAuth(step, work, signal),
    cleanup: (work, signal) => cleanupAuth(step, work, signal),
  };
}

function redisStep({ children, settings }: AppStepsOptions): Step {
  const step: RedisStep = { children, settings: settings.redis };
  return {
    resourceType: "redis",
    condition: "RedisReady",
    service: undefined,
    owns: [],
    kinds: [],
    isOn: ({ spec }) => spec.redis?.enabled === true,
    gatesImage: () => false,
    children: ({ names }) => [{ ...configMapKind, name: names.children.redis }],
    sentence: ({ names }) => `ConfigMap ${names.children.redis} says where Redis is`,
    reconcile: (work, signal) => reconcileRedis(step, work, signal),
    cleanup: async (work, signal) => {
      await cleanupRedis(step, work, signal);
      return {};
    },
  };
}

function searchStep({ children, settings }: AppStepsOptions): Step {
  const step: SearchStep = { children, settings: settings.search };
  return {
    resourceType: "search",
    condition: "SearchReady",
    service: undefined,
    owns: [],
    kinds: [],
    isOn: ({ spec }) => spec.search?.enabled === true,
    gatesImage: () => false,
    children: ({ names }) => [{ ...configMapKind, name: names.children.search }],
    sentence: ({ names }) => `ConfigMap ${names.children.search} says where OpenSearch is`,
    reconcile: (work, signal) => reconcileSearch(step, work, signal),
    cleanup: async (work, signal) => {
      await cleanupSearch(step, work, signal);
      return {};
    },
  };
}
