// Previews: many at once from apply to Running, and from the end of their time until nothing of them is left.

import type { Client } from "@keelson/client";
import { temporaryFolder } from "../../test/e2e/keelson-process.ts";
import { until } from "../../test/tools/until.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { apiVersion, databaseApp, phases, startBed } from "./bed.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const count = numberOf(run, "previews", run.isQuick ? 5 : 50);
  await using folder = await temporaryFolder();
  await using bed = await startBed(folder.path, run);
  const { client } = bed;
  const applications = await client.resource({ apiVersion, kind: "Application" }, signal);
  const previews = await client.resource({ apiVersion, kind: "PreviewEnvironment" }, signal);
  await applications.apply(databaseApp("parent"), { fieldManager: "bench" }, signal);
  const becomes = async (phase: string, wanted: number): Promise<void> => {
    await until(
      async () => ((await phases(client, "PreviewEnvironment", signal)).get(phase) ?? 0) >= wanted,
      signal,
    );
  };

  run.say(`${count} previews from apply to Running`);
  const startedMs = performance.now();
  const names = Array.from({ length: count }, (_, index) => `pr-${index + 1}`);
  await Promise.all(
    names.map((name, index) => {
      const spec = { applicationRef: "parent", pullRequest: index + 1, branch: "b" };
      const metadata = { name, namespace: "default" };
      const preview = { apiVersion, kind: "PreviewEnvironment", metadata, spec };
      return previews.apply(preview, { fieldManager: "bench" }, signal);
    }),
  );
  await becomes("Running", count);
  const createdSeconds = (performance.now() - startedMs) / 1000;

  // A minute is the shortest life: theirs is over when it is said, or soon after.
  const body = { spec: { ttl: "1m" } };
  for (const name of names) {
    await previews.patch({ namespace: "default", name }, { type: "merge", body }, signal);
  }
  const { items } = await previews.list({}, signal);
  const born = items.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ""));
  const dueMs = Math.max(Date.now(), ...born.map((ms) => ms + 60_000));
  run.say("their time is up");
  await until(async () => (await previews.list({}, signal)).items.length === 0, signal);
  const expiredSeconds = (Date.now() - dueMs) / 1000;
  const left = await namespacesOfPreviews(client, signal);
  return [
    judged({ name: `${count} previews, apply → all Running`, value: createdSeconds, unit: "s" }),
    judged({ name: `${count} previews, time up → all gone`, value: expiredSeconds, unit: "s" }),
    judged({ name: "namespaces left", value: left, unit: "" }, { atMost: 0 }),
  ];
}

async function namespacesOfPreviews(client: Client, signal: AbortSignal): Promise<number> {
  const namespaces = await client.resource({ apiVersion: "v1", kind: "Namespace" }, signal);
  const { items } = await namespaces.list({}, signal);
  return items.filter(({ metadata }) => metadata.name?.startsWith("preview-") === true).length;
}
