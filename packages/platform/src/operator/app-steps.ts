// The features of an app, in the order in which they are seen to, and the order in which they are taken away.

import type { Random } from "@keelson/base";

import { hasDatabase } from "../app.ts";
import type { Children } from "../children/children.ts";
import { cleanupDatabase, reconcileDatabase, type DatabaseStep } from "../steps/database-step.ts";
import type { Step } from "../steps/step.ts";
import type { Services } from "./services.ts";
import type { OperatorSettings } from "./settings.ts";

export interface AppStepsOptions {
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
  const database = databaseStep(options);
  return { forward: [database], backward: [database] };
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
