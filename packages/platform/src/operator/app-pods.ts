// The pods of apps, of which little is kept: that they are there, and what keeps one from starting.

import type { JsonObject } from "@keelson/base";
import type { DynamicObject, ObjectRef } from "@keelson/client";
import type { Caches, Change, ObjectCache } from "@keelson/controller";

import type { App } from "../app.ts";
import {
  appLabel,
  environmentLabel,
  fieldManager,
  managedByLabel,
  migratesLabel,
  selectorOf,
} from "../children/child.ts";
import type { PodTrouble } from "../status/rollout.ts";

const byApp = "app";

export class AppPods {
  readonly cache: ObjectCache;

  constructor(caches: Caches) {
    this.cache = caches.of(
      { apiVersion: "v1", kind: "Pod" },
      {
        labelSelector: `${managedByLabel}=${fieldManager}`,
        transform: shortened,
        indexes: { [byApp]: ({ metadata }) => [placeOf(metadata)] },
      },
    );
  }

  async count(app: App, signal: AbortSignal): Promise<number> {
    return (await this.#of(app, signal)).length;
  }

  /** Of the pods that do not start, one's words: the first by name, so that it is always the same. */
  async troubleOf(app: App, signal: AbortSignal): Promise<PodTrouble | undefined> {
    return troubleAmong(await this.#of(app, signal));
  }

  /** The same of the pods that migrate its database. */
  async migrationTroubleOf(app: App, signal: AbortSignal): Promise<PodTrouble | undefined> {
    return troubleAmong(await this.#at(app, { [migratesLabel]: app.names.name }, signal));
  }

  async #of(app: App, signal: AbortSignal): Promise<DynamicObject[]> {
    return await this.#at(app, selectorOf(app), signal);
  }

  async #at(
    { namespace }: App,
    labels: Record<string, string>,
    signal: AbortSignal,
  ): Promise<DynamicObject[]> {
    await this.cache.untilSynced(signal);
    return [...this.cache.byIndex(byApp, placeOf({ namespace, labels }))];
  }
}

function troubleAmong(pods: readonly DynamicObject[]): PodTrouble | undefined {
  const troubles = pods.flatMap((pod) => {
    const trouble = pod["trouble"] as unknown as PodTrouble | undefined;
    return trouble === undefined || pod.metadata.deletionTimestamp !== undefined ? [] : [trouble];
  });
  return troubles.sort((a, b) => (a.pod < b.pod ? -1 : 1))[0];
}

/** Which Application a pod is of, and runs or migrates, by its labels; those of a preview lead to nobody. */
export function appOfPod({
  metadata: { namespace = "", labels = {} },
}: DynamicObject): ObjectRef[] {
  const name = labels[appLabel] ?? labels[migratesLabel];
  return name === undefined ? [] : [{ namespace, name }];
}

/**
 * Whether a change of a pod says something new of its app: it has gone, or stands otherwise in the way. One that was not
 * watched for a while may be in trouble when it is first seen.
 */
export function isTelling(change: Change): boolean {
  if (change.type === "deleted") return true;
  if (change.type === "added") return change.object["trouble"] !== undefined;
  return (
    JSON.stringify(change.object["trouble"]) !== JSON.stringify(change.previous["trouble"]) ||
    change.object.metadata.deletionTimestamp !== change.previous.metadata.deletionTimestamp
  );
}

/** What only one app in one environment has, within a namespace. */
function placeOf({ namespace = "", labels = {} }: DynamicObject["metadata"]): string {
  const names = [appLabel, environmentLabel, migratesLabel].map((label) => labels[label] ?? "");
  return JSON.stringify([namespace, ...names]);
}

/** As the kubelet reports a container that waits. */
interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
}

/** Waiting for a while is what every pod does. */
const usual = new Set(["ContainerCreating", "PodInitializing"]);

function shortened(pod: DynamicObject): DynamicObject {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = pod.metadata;
  const metadata = { name, namespace, uid, resourceVersion, labels, deletionTimestamp };
  const trouble = troubleIn(pod);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata as DynamicObject["metadata"],
    ...(trouble === undefined ? {} : { trouble: trouble as unknown as JsonObject }),
  };
}

function troubleIn(pod: DynamicObject): PodTrouble | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod["status"] ?? {}) as {
    containerStatuses?: readonly ContainerStatus[];
    initContainerStatuses?: readonly ContainerStatus[];
  };
  for (const { name, state } of [...initContainerStatuses, ...containerStatuses]) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason === undefined || reason === "" || usual.has(reason)) continue;
    return { pod: pod.metadata.name ?? "", container: name, reason, message };
  }
  return undefined;
}
