// What makes an app run and be found: applied when what it needs is there, and looked at until it is ready.

import { createHash } from "node:crypto";
import type { DynamicObject, ObjectKind } from "@keelson/client";

import type { App } from "../app.ts";
import type { Children } from "../children/children.ts";
import { failureOf, type Failure } from "./failure.ts";
import type { Finding } from "../status/conditions.ts";
import {
  deploymentFinding,
  ingressFinding,
  waitingFinding,
  type PodTrouble,
} from "../status/rollout.ts";
import { sourcesOf, type VariableSource } from "../workload/app-container.ts";
import { sourcesReadBy } from "../workload/read-sources.ts";
import { middlewareKind } from "../workload/routing.ts";
import { workloadOf, type WorkloadSettings } from "../workload/workload.ts";

/** What an app's own Secrets hold, in digests: they are the users', and nobody else needs to know them. */
export interface SecretDigests {
  /** Of a whole Secret, or of one key of it; undefined if it is not there. */
  digestOf(
    ref: { readonly namespace: string; readonly name: string; readonly key?: string },
    signal: AbortSignal,
  ): Promise<string | undefined>;
}

export interface WorkloadStep {
  readonly children: Pick<Children, "apply" | "find" | "isSomebodyElses" | "prune" | "remove">;
  readonly secrets: SecretDigests;
  readonly settings: WorkloadSettings;
  /** What keeps the app's pods from starting, if anything does. */
  readonly troubleOf: (app: App, signal: AbortSignal) => Promise<PodTrouble | undefined>;
  /** The same of the pods that migrate its database. */
  readonly migrationTroubleOf: (app: App, signal: AbortSignal) => Promise<PodTrouble | undefined>;
  /** How many pods there still are that have the app's labels, whoever runs them. */
  readonly podsOf: (app: App, signal: AbortSignal) => Promise<number>;
}

export interface WorkloadWork {
  readonly app: App;
  /** Why the image must wait: its migrations have not run. */
  readonly imageHeldBy: string | undefined;
  /** Why the host is not the app's. */
  readonly hostTakenBy: string | undefined;
}

export interface WorkloadOutcome {
  readonly findings: { readonly DeploymentReady: Finding; readonly IngressReady: Finding };
  /** What could not be done. */
  readonly failures: readonly Failure[];
  /** Whether everything that is wanted was applied. */
  readonly isComplete: boolean;
  /** What was to be applied. */
  readonly desired: readonly DynamicObject[];
  /** The Secrets and ConfigMaps, as `Secret my-app-db`, that its pods read from now on. */
  readonly read: ReadonlySet<string>;
}

export const deploymentKind = { apiVersion: "apps/v1", kind: "Deployment" } as const;
const ingressKind = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" } as const;
const namespaceKind = { apiVersion: "v1", kind: "Namespace" } as const;
const autoscalerKind = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" } as const;

/** The kinds of which every child is the workload's. */
export function workloadKinds({ ingressRewrite }: WorkloadSettings): readonly ObjectKind[] {
  return [
    autoscalerKind,
    ingressKind,
    ...(ingressRewrite === "traefik" ? [middlewareKind] : []),
    deploymentKind,
    { apiVersion: "v1", kind: "Service" },
    { apiVersion: "v1", kind: "ServiceAccount" },
  ];
}

function isRoute(kind: string): boolean {
  return kind === "Ingress" || kind === "Middleware";
}

/** Throws only what ends the pass. */
export async function reconcileWorkload(
  step: WorkloadStep,
  { app, imageHeldBy, hostTakenBy }: WorkloadWork,
  signal: AbortSignal,
): Promise<WorkloadOutcome> {
  const { children, settings } = step;
  const { imageRef } = app.spec;
  const there = await children.find(app, { ...deploymentKind, name: app.names.name }, signal);
  const missing = imageRef === undefined ? undefined : await missingSource(step, app, signal);
  // One that has the image already may be mended: what it waits for has happened.
  const isHeld = imageHeldBy !== undefined && imageOf(there) !== imageRef;
  const waitsFor = missing ?? (isHeld ? imageHeldBy : undefined);
  const pods =
    imageRef === undefined || waitsFor !== undefined
      ? undefined
      : { image: imageRef, checksum: await checksumOf(step, app, signal) };

  const desired = workloadOf(app, settings, pods).filter(
    ({ kind }) => hostTakenBy === undefined || !isRoute(kind),
  );
  // What waits is what runs now: it stays until the new can take its place.
  const stays = waitsFor === undefined ? [] : [deploymentKind, autoscalerKind];
  const kinds = workloadKinds(settings).filter(
    ({ kind }) => !stays.some((one) => one.kind === kind),
  );
  const { applied, problems } = await applyChildren(children, { app, desired, kinds }, signal);
  // As it is now, not as it is in a moment: what has just been changed is seen to roll out.
  const deployment = applied.find(({ kind }) => kind === "Deployment") ?? there;

  const problemOf = (is: (kind: string) => boolean): Failure | undefined =>
    problems.find(({ kind }) => is(kind))?.failure;
  const routing =
    problemOf((kind) => kind === "Ingress") ?? problemOf((kind) => kind === "Middleware");
  const running = problemOf((kind) => !isRoute(kind));
  return {
    failures: problems.map(({ failure }) => failure),
    desired,
    read: sourcesReadBy(imageRef === undefined ? undefined : deployment),
    isComplete: problems.length === 0 && waitsFor === undefined && hostTakenBy === undefined,
    findings: {
      DeploymentReady:
        running === undefined
          ? await deploymentState(step, { app, deployment, waitsFor }, signal)
          : findingOf(running),
      IngressReady:
        hostTakenBy !== undefined
          ? { status: "False", reason: "Conflict", message: hostTakenBy }
          : routing === undefined
            ? ingressFinding(
                await children.find(app, { ...ingressKind, name: app.names.name }, signal),
              )
            : findingOf(routing),
    },
  };
}

/**
 * Applies what is desired, and takes away what else there is of these kinds. A child of which that cannot be done does
 * not keep the others from it.
 */
async function applyChildren(
  children: WorkloadStep["children"],
  {
    app,
    desired,
    kinds,
  }: {
    readonly app: App;
    readonly desired: readonly DynamicObject[];
    readonly kinds: readonly ObjectKind[];
  },
  signal: AbortSignal,
): Promise<{
  readonly applied: readonly DynamicObject[];
  readonly problems: readonly { readonly kind: string; readonly failure: Failure }[];
}> {
  const applied: DynamicObject[] = [];
  const problems: { readonly kind: string; readonly failure: Failure }[] = [];
  const trying = async (kind: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      problems.push({ kind, failure: failureAt(kind, error) });
    }
  };
  for (const object of desired) {
    await trying(object.kind, async () => {
      applied.push(await children.apply(app, object, signal));
    });
  }
  for (const kind of kinds) {
    await trying(kind.kind, () => children.prune(app, { kinds: [kind], kept: desired }, signal));
  }
  return { applied, problems };
}

function failureAt(kind: string, error: unknown): Failure {
  const failure = failureOf(error);
  if (kind !== middlewareKind.kind || failure.reason !== "NotConfigured") return failure;
  const message = `${failure.message}: give it the definitions of traefik, or set INGRESS_REWRITE to nginx`;
  return { ...failure, message };
}

/** Takes everything away, what leads to the app first; what is left are its pods. */
export async function cleanupWorkload(
  step: WorkloadStep,
  { app }: Pick<WorkloadWork, "app">,
  signal: AbortSignal,
): Promise<{ readonly left?: string }> {
  const { children, settings } = step;
  const going: DynamicObject[] = [];
  for (const kind of workloadKinds(settings)) {
    going.push(...(await children.prune(app, { kinds: [kind], kept: [] }, signal)));
  }
  const pods = await ownPods(step, app, signal);
  const { name } = app.names;
  const left = [
    ...(pods === 0 ? [] : [podsWords(pods, name)]),
    // Some go with the last pod; what somebody holds does not.
    ...going.filter((object) => pods === 0 || finalizersOf(object).length > 0).map(goingWords),
  ];
  return left.length === 0 ? {} : { left: left.join("; ") };
}

function podsWords(count: number, name: string): string {
  const pods = count === 1 ? `1 pod of ${name} is` : `${count} pods of ${name} are`;
  return `${pods} still ending`;
}

function goingWords(object: DynamicObject): string {
  const finalizers = finalizersOf(object);
  const held = finalizers.length === 0 ? "" : ` (finalizers: ${finalizers.join(", ")})`;
  return `${object.kind} ${object.metadata.name ?? ""} is still going${held}`;
}

function finalizersOf({ metadata }: DynamicObject): readonly string[] {
  return metadata.finalizers ?? [];
}

/**
 * The labels of pods tell no owner: those that another preview of the pull request runs, or a Deployment that was taken
 * from the app, are not waited for. They would never end.
 */
async function ownPods(
  { children, podsOf }: WorkloadStep,
  app: App,
  signal: AbortSignal,
): Promise<number> {
  const { namespace, names, kind } = app;
  const deployment = { ...deploymentKind, namespace, name: names.name };
  if (await children.isSomebodyElses(app, deployment, signal)) return 0;
  const place = { ...namespaceKind, name: namespace };
  if (kind === "PreviewEnvironment" && (await children.isSomebodyElses(app, place, signal))) {
    return 0;
  }
  return await podsOf(app, signal);
}

async function deploymentState(
  { troubleOf, migrationTroubleOf }: WorkloadStep,
  {
    app,
    deployment,
    waitsFor,
  }: {
    readonly app: App;
    readonly deployment: DynamicObject | undefined;
    readonly waitsFor: string | undefined;
  },
  signal: AbortSignal,
): Promise<Finding> {
  if (app.spec.imageRef === undefined) {
    return {
      status: "False",
      reason: "NoImage",
      message: `${app.names.name} has no image: set spec.imageRef`,
    };
  }
  if (waitsFor !== undefined) {
    return waitingFinding(waitsFor, await migrationTroubleOf(app, signal));
  }
  return deploymentFinding(deployment, await troubleOf(app, signal));
}

function findingOf({ reason, message }: Failure): Finding {
  return { status: "False", reason, message };
}

/** Why the pods could not start: a Secret or ConfigMap that they refer to and that is not there. */
async function missingSource(
  { children }: WorkloadStep,
  app: App,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { kind, name, isOptional } of sourcesOf(app)) {
    if (isOptional === true) continue;
    const found = await children.find(app, { apiVersion: "v1", kind, name }, signal);
    if (found === undefined) return `${kind} ${name} is not there yet`;
  }
  return undefined;
}

/** Over everything that variables come from: another one rolls the pods, once. */
async function checksumOf(step: WorkloadStep, app: App, signal: AbortSignal): Promise<string> {
  const parts: unknown[] = [];
  for (const source of sourcesOf(app)) {
    parts.push([
      source.kind,
      source.name,
      (await contentOf(step, { app, source }, signal)) ?? null,
    ]);
  }
  const { namespace } = app;
  for (const { name, secretKeyRef } of app.spec.envVars ?? []) {
    if (secretKeyRef === undefined) continue;
    const digest = await step.secrets.digestOf({ namespace, ...secretKeyRef }, signal);
    parts.push(["variable", name, digest ?? null]);
  }
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** Ours as we last wrote it; the user's own, which no step of ours makes, as it was last seen. */
async function contentOf(
  { children, secrets }: WorkloadStep,
  { app, source }: { readonly app: App; readonly source: VariableSource },
  signal: AbortSignal,
): Promise<unknown> {
  const { kind, name } = source;
  if (name === app.names.children.env) {
    return await secrets.digestOf({ namespace: app.namespace, name }, signal);
  }
  const found = await children.find(app, { apiVersion: "v1", kind, name }, signal);
  return found === undefined ? undefined : sorted(found["data"]);
}

function sorted(data: unknown): [string, unknown][] {
  return Object.entries((data ?? {}) as Record<string, unknown>).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
}

function imageOf(deployment: DynamicObject | undefined): string | undefined {
  const spec = deployment?.["spec"] as
    | { template?: { spec?: { containers?: readonly { name: string; image?: string }[] } } }
    | undefined;
  return spec?.template?.spec?.containers?.find(({ name }) => name === "app")?.image;
}
