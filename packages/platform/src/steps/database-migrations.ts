// The Job that brings an app's tables to what its image expects, before the image gets to run.

import { createHash } from "node:crypto";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { childOf, fieldManager, managedByLabel, migratesLabel } from "../children/child.ts";
import { lockedDown } from "../workload/container-parts.ts";
import { StepError } from "./step-error.ts";

export interface MigrationSettings {
  /** The image that has our own runner of SQL files, for apps whose migrations are nothing else. */
  readonly runnerImage?: string | undefined;
}

export const jobKind = { apiVersion: "batch/v1", kind: "Job" } as const;

/** Where the runner finds the files. */
const folder = "/migrations";

/**
 * Undefined for an app without migrations, or without an image to take them from. Its name is that of what it does: the
 * same image, run as the same user, and the same files are the same Job.
 */
export function migrationJobOf(app: App, settings: MigrationSettings): DynamicObject | undefined {
  const { spec, names, owner } = app;
  const { migrations } = spec.database ?? {};
  const { imageRef } = spec;
  if (migrations === undefined || imageRef === undefined) return undefined;
  const { runAsUser } = spec;
  const user = runAsUser === undefined ? [] : [runAsUser];
  const what = [owner.uid, names.schema, imageRef, migrations.engine, migrations.path, ...user];
  const hash = createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16);
  return childOf(app, {
    ...jobKind,
    name: `migrate-${hash}`,
    content: {
      spec: {
        backoffLimit: 2,
        activeDeadlineSeconds: 1800,
        template: {
          metadata: {
            labels: { [managedByLabel]: fieldManager, [migratesLabel]: names.name },
          },
          spec: {
            restartPolicy: "Never",
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
            ...containersOf(app, imageRef, settings),
          },
        },
      },
    },
  });
}

/** Whether a Job is at work at this moment. One whose pod has not begun, since it has no image, say, may be none for long. */
export function isMigrating(job: DynamicObject): boolean {
  const { ready = 0 } = (job["status"] ?? {}) as { readonly ready?: number };
  return ready > 0 && job.metadata.deletionTimestamp === undefined;
}

/** Whether a Job is over. Throws a `StepError` for one that failed. */
export function migrationOutcome(job: DynamicObject): "running" | "done" {
  const { conditions = [] } = (job["status"] ?? {}) as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
  const is = (type: string) =>
    conditions.find((condition) => condition.type === type && condition.status === "True");
  const failed = is("Failed");
  if (failed !== undefined) {
    const { name = "" } = job.metadata;
    throw new StepError(
      "MigrationFailed",
      `Job ${name} failed (${failed.message ?? "no reason given"}): deploy an image that mends it, or delete the Job to try again`,
    );
  }
  return is("Complete") === undefined ? "running" : "done";
}

function containersOf(app: App, image: string, { runnerImage }: MigrationSettings): JsonObject {
  const { engine, path } = app.spec.database?.migrations ?? { engine: "raw", path: "." };
  const own = (name: string, command: string[]): JsonObject => ({
    ...containerOf(app, { name, image, command }),
    ...(app.spec.runAsUser === undefined
      ? {}
      : { securityContext: { ...lockedDown, runAsUser: app.spec.runAsUser } }),
  });
  switch (engine) {
    case "prisma":
      return { containers: [own("migrate", ["npx", "prisma", "migrate", "deploy"])] };
    case "knex": {
      const command = ["npx", "knex", "migrate:latest", "--migrations-directory", path];
      return { containers: [own("migrate", command)] };
    }
    case "raw": {
      if (runnerImage === undefined) {
        throw new StepError(
          "NotConfigured",
          "no image is configured that runs SQL files: set MIGRATION_IMAGE, or use prisma or knex",
        );
      }
      const volumeMounts = [{ name: "files", mountPath: folder }];
      const program = ["node", "/app/packages/platform/bin/apply-sql-files.js", folder];
      const runner = containerOf(app, { name: "migrate", image: runnerImage, command: program });
      const copy = own("files", ["cp", "-R", "--", `${path}/.`, folder]);
      return {
        initContainers: [{ ...copy, volumeMounts }],
        containers: [{ ...runner, volumeMounts }],
        volumes: [{ name: "files", emptyDir: {} }],
      };
    }
  }
}

function containerOf(
  { names, spec }: App,
  parts: { readonly name: string; readonly image: string; readonly command: readonly string[] },
): JsonObject {
  const { children } = names;
  return {
    ...parts,
    command: [...parts.command],
    envFrom: [
      { secretRef: { name: children.database } },
      { secretRef: { name: children.env, optional: true } },
    ],
    env: (spec.envVars ?? []).map(({ name, value, secretKeyRef }) =>
      secretKeyRef === undefined
        ? { name, value: value ?? "" }
        : { name, valueFrom: { secretKeyRef: { ...secretKeyRef } } },
    ),
    resources: {
      requests: { cpu: "100m", memory: "256Mi" },
      limits: { cpu: "1", memory: "512Mi" },
    },
    securityContext: lockedDown,
  };
}
