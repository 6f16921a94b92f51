import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { selectorOf } from "../children/child.ts";
import { appWith } from "../testing/app-with.ts";
import { migrationJobOf, migrationOutcome } from "./database-migrations.ts";

const settings = { runnerImage: "registry.example.com/keelson:1" };

suite("the Job that migrates", () => {
  test("runs what the engine asks for, without a shell", () => {
    assert.deepEqual(commandsOf({ engine: "prisma", path: "./migrations" }), [
      ["app:1", "npx", "prisma", "migrate", "deploy"],
    ]);
    assert.deepEqual(commandsOf({ engine: "knex", path: "./db" }), [
      ["app:1", "npx", "knex", "migrate:latest", "--migrations-directory", "./db"],
    ]);
    assert.deepEqual(commandsOf({ engine: "raw", path: "./db" }), [
      ["app:1", "cp", "-R", "--", "./db/.", "/migrations"],
      [
        settings.runnerImage,
        "node",
        "/app/packages/platform/bin/apply-sql-files.js",
        "/migrations",
      ],
    ]);
  });

  test("is another one for another image, and the same for the same", () => {
    const migrations = { engine: "raw", path: "./db" } as const;
    const nameOf = (change: Partial<App["spec"]>, uid?: string) =>
      jobOf({ database: { enabled: true, migrations }, ...change }, uid)?.metadata.name;
    const names = [
      nameOf({}),
      nameOf({ imageRef: "app:2" }),
      nameOf({ database: { enabled: true, migrations: { ...migrations, path: "./other" } } }),
      nameOf({ runAsUser: 1001 }), // As which it may be let run.
      nameOf({}, "ff"),
    ];
    assert.equal(new Set(names).size, 5);
    assert.equal(nameOf({ envVars: [{ name: "A", value: "1" }] }), names[0]);
    for (const name of names) assert.match(name ?? "", /^migrate-[0-9a-f]{16}$/);
  });

  test("is not there without migrations or without an image", () => {
    assert.equal(jobOf({ database: { enabled: true } }), undefined);
    const app = appWith({ database: { enabled: true, migrations: { engine: "raw", path: "." } } });
    assert.equal(migrationJobOf(app, settings), undefined);
  });

  test("needs an image of ours for SQL files", () => {
    const app = appWith({
      imageRef: "app:1",
      database: { enabled: true, migrations: { engine: "raw", path: "." } },
    });
    assert.throws(() => migrationJobOf(app, {}), { reason: "NotConfigured" });
  });

  test("gets no request of the app's, and no rights", () => {
    const app = appWith({
      imageRef: "app:1",
      runAsUser: 1001,
      database: { enabled: true, migrations: { engine: "prisma", path: "." } },
    });
    const { template } = (migrationJobOf(app, settings)?.["spec"] ?? {}) as {
      template: {
        metadata: { labels: Record<string, string> };
        spec: {
          automountServiceAccountToken: boolean;
          securityContext: { runAsNonRoot: boolean };
          containers: { securityContext: unknown }[];
        };
      };
    };
    const { labels } = template.metadata;
    const selected = Object.entries(selectorOf(app)).every(
      ([name, value]) => labels[name] === value,
    );
    assert.equal(selected, false);
    assert.equal(template.spec.automountServiceAccountToken, false);
    assert.equal(template.spec.securityContext.runAsNonRoot, true);
    assert.deepEqual(template.spec.containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      runAsUser: 1001,
    });
  });

  test("is over when its conditions say so", () => {
    const job = (...conditions: { type: string; status: string }[]): DynamicObject => ({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "migrate-1" },
      status: { conditions },
    });
    assert.equal(migrationOutcome(job()), "running");
    assert.equal(migrationOutcome(job({ type: "Complete", status: "False" })), "running");
    assert.equal(migrationOutcome(job({ type: "Complete", status: "True" })), "done");
    assert.throws(() => migrationOutcome(job({ type: "Failed", status: "True" })), {
      reason: "MigrationFailed",
      message: /^Job migrate-1 failed/,
    });
  });
});

/** The image and the command of each container, in the order in which they run. */
function commandsOf(migrations: { engine: "prisma" | "knex" | "raw"; path: string }): string[][] {
  const job = jobOf({ database: { enabled: true, migrations } });
  const { template } = (job?.["spec"] ?? {}) as unknown as { template: { spec: Containers } };
  const { initContainers = [], containers } = template.spec;
  return [...initContainers, ...containers].map(({ image, command }) => [image, ...command]);
}

interface Containers {
  readonly initContainers?: { image: string; command: string[] }[];
  readonly containers: { image: string; command: string[] }[];
}

function jobOf(spec: Partial<App["spec"]>, uid?: string): DynamicObject | undefined {
  return migrationJobOf(appWith({ imageRef: "app:1", ...spec }, uid), settings);
}
