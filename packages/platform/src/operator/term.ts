// One term of leadership: everything is opened after it was won, so that it sees what happened before, and closed when
// it ends. Without an election there is one term, as long as the process.

import { onAbort, TaskScope, type Clock, type Log, type Metrics, type Random } from "@keelson/base";
import { refOf, type Client, type ClientOptions } from "@keelson/client";
import {
  Caches,
  controllerMetrics,
  EventRecorder,
  runController,
  type Leadership,
  type Reconciler,
} from "@keelson/controller";

import { Children } from "../children/children.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import { previewKind } from "../kinds/preview-environment.ts";
import { runExpiry } from "../previews/expiry-loop.ts";
import type { OnCall } from "../steps/call-point.ts";
import { AppPods } from "./app-pods.ts";
import { appSteps } from "./app-steps.ts";
import { Applications, applicationKind } from "./applications.ts";
import { Calls, laneKey } from "./calls.ts";
import { Departures } from "./departures.ts";
import { Happenings } from "./happenings.ts";
import { Lanes } from "./lanes.ts";
import type { OperatorMetrics } from "./metrics.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { removeObsoleteRoutes } from "./obsolete-routes.ts";
import { OperatorSecrets } from "./operator-secrets.ts";
import { followPhases, followPreviews } from "./phase-metrics.ts";
import { Previews } from "./previews.ts";
import { phaseLabelsOfPreview } from "./read-preview.ts";
import { CachedSecretDigests } from "./secret-digests.ts";
import { openServices } from "./services.ts";
import type { OperatorSettings } from "./settings.ts";
import { sharedQueue } from "./shared-queue.ts";
import { Writes } from "./writes.ts";

export interface TermOptions {
  readonly settings: OperatorSettings;
  /** A client of the cluster; it belongs to whoever asks for it. */
  readonly openClient: (
    options: Pick<ClientOptions, "onRequest" | "onWrite" | "timeoutMs">,
  ) => Client;
  /** Which process this is, in events. */
  readonly identity: string;
  readonly operatorMetrics: OperatorMetrics;
  /** For tests: called at every call that leaves. */
  readonly onCall?: OnCall;
  /** Told when everything that is there has been seen. */
  readonly onSynced: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** No call outside takes longer. */
const callTimeoutMs = 10_000;

/** Runs until `signal` aborts; then what is under way may end, unless leadership was lost. */
export async function runTerm(
  options: TermOptions,
  leadership: Leadership | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { settings, clock, random, log, metrics } = options;
  const onCall = fencedCalls(leadership, options.onCall);
  const shared = { clock, random, log };
  // Caches and services outlive the signal: what may still end needs them.
  const closing = new AbortController();
  await using services = openServices(settings, { onCall, clock, random });
  await using client = options.openClient({
    timeoutMs: callTimeoutMs,
    onRequest: ({ method, path, when }) =>
      onCall({ service: "kubernetes", name: `${method} ${path}`, when }),
    // A process that was stopped while a connection was made must not send what it was made for.
    onWrite: ({ method }) => {
      if (method !== "GET") leadership?.throwIfLost();
    },
  });
  const loops = controllerMetrics(metrics);
  await using caches = new Caches({ client, ...shared, metrics: loops }, closing.signal);
  const recorder = new EventRecorder({
    client,
    controller: `${platformGroup}/plattr-operator`,
    instance: options.identity,
    ...shared,
    metrics: loops,
  });
  const writes = new Writes();
  const children = new Children({
    client,
    caches,
    onChange: ({ owner }, { kind, metadata }) =>
      writes.note(owner.uid, `${kind} ${metadata.name ?? ""}`),
  });
  const pods = new AppPods(caches);
  const secrets = new CachedSecretDigests(caches);
  const operatorSecrets = new OperatorSecrets(caches, settings);
  const calls = new Calls();
  const parts: OperatorParts = {
    ...shared,
    client,
    children,
    settings,
    steps: appSteps({ secrets: operatorSecrets, services, children, settings, random }),
    workload: {
      children,
      secrets,
      settings,
      troubleOf: (app, within) => pods.troubleOf(app, within),
      migrationTroubleOf: (app, within) => pods.migrationTroubleOf(app, within),
      podsOf: (app, within) => pods.count(app, within),
    },
    lanes: new Lanes({ workers: settings.concurrency, call: (key) => calls.call(key) }),
    departures: new Departures(),
    happenings: new Happenings(recorder),
    metrics: options.operatorMetrics,
    takeWrites: (uid) => writes.take(uid),
  };
  const applications = new Applications({ parts, caches, pods, secrets, operatorSecrets });
  const previews = new Previews({
    parts,
    caches,
    parents: applications.cache,
    hostTakenBy: (host) => applications.claimOn(host),
    pods,
    secrets,
    operatorSecrets,
  });
  using _departures = parts.departures.follow([applications.cache, previews.cache], (object) =>
    calls.call(laneKey(object, refOf(object))),
  );
  using _phases = followPhases(applications.cache, options.operatorMetrics);
  using _previewPhases = followPhases(previews.cache, options.operatorMetrics, (object) =>
    phaseLabelsOfPreview(object, settings),
  );
  using _previews = followPreviews(previews.cache, options.operatorMetrics);
  await using scope = new TaskScope(new AbortController().signal);
  const ending = new AbortController();
  scope.spawn("events", () => recorder.run(ending.signal));
  const { sources, reconcile } = sharedQueue([
    {
      kind: applicationKind,
      sources: applications.sources(calls.of(applicationKind)),
      reconcile: applications.reconcile,
    },
    {
      kind: previewKind,
      sources: previews.sources(calls.of(previewKind)),
      reconcile: previews.reconcile,
    },
  ]);
  const running = untilAllEnd(
    [
      (within) =>
        runController(
          {
            name: "apps",
            sources,
            reconcile: abandonedWith(leadership?.lost, reconcile),
            workers: settings.concurrency,
            ...shared,
            metrics: loops,
          },
          within,
        ),
      (within) =>
        runExpiry(
          {
            ...shared,
            caches,
            metrics: loops,
            onExpired: (preview, note) => parts.happenings.tell(preview, "Expired", note),
          },
          within,
        ),
    ],
    signal,
  );
  scope.spawn("routes", () =>
    removeObsoleteRoutes({ client, settings, clock, log }, ending.signal),
  );
  scope.spawn("synced", async () => {
    // Not for every cache: one of a kind that the cluster does not serve would be waited for in vain.
    const seen = [
      ...sources.map((one) => one.untilReady(ending.signal)),
      children.untilSeen(ending.signal),
    ];
    await Promise.all(seen).then(options.onSynced, () => undefined);
  });
  try {
    await running;
  } finally {
    ending.abort();
    await scope.join();
    closing.abort(new Error("the term has ended"));
  }
}

/** One that fails ends the others. */
async function untilAllEnd(
  runs: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const within = AbortSignal.any([signal, failed.signal]);
  const outcomes = await Promise.allSettled(
    runs.map(async (run) => {
      try {
        await run(within);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Whoever has lost its lease may not write any more, though it has not heard of it yet. Reads harm nobody. */
function fencedCalls(leadership: Leadership | undefined, onCall: OnCall | undefined): OnCall {
  return (point) => {
    const isRead = point.service === "kubernetes" && point.name.startsWith("GET ");
    if (point.when === "before" && !isRead) leadership?.throwIfLost();
    return onCall?.(point);
  };
}

/** Ends runs under way as soon as leadership is lost: the next leader begins soon. */
function abandonedWith(loss: AbortSignal | undefined, reconcile: Reconciler): Reconciler {
  if (loss === undefined) return reconcile;
  return async (ref, signal) => {
    const stop = new AbortController();
    using _run = onAbort(signal, () => stop.abort(signal.reason));
    using _loss = onAbort(loss, () => stop.abort(loss.reason));
    return await reconcile(ref, stop.signal);
  };
}
