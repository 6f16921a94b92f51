// `keelson global …`, as it is typed.

import { InvalidArgumentError, Option, type Command } from "commander";
import type { JsonObject } from "@keelson/base";
import type { ServerFlags } from "../client/find-server.ts";
import type { Define } from "../catalog.ts";
import { inChange, inSession } from "../command-context.ts";
import { withExamples } from "../examples.ts";
import {
  changeOutputs,
  countOf,
  waitMsOf,
  withOutput,
  withServer,
  withWait,
  withWatch,
  type OutputFlags,
  type WaitFlags,
  type WatchFlags,
} from "../flags.ts";
import {
  policiesOf,
  withDryRun,
  withManifests,
  withPolicies,
  type ManifestFlags,
  type PolicyFlags,
  type TryFlags,
} from "./flags.ts";
import { targetSelector } from "./target-selector.ts";

interface PlaceFlags extends ServerFlags {
  readonly namespace?: string;
}

interface ApplyFlags
  extends Omit<ManifestFlags, "cluster">, OutputFlags, WaitFlags, PolicyFlags, TryFlags {
  readonly targets?: JsonObject;
  readonly allTargets?: true;
}

export const defineGlobal: Define = (global, context) => {
  global.description("what many clusters are to hold, chosen by their labels, those to come too");
  const placed = (name: string): Command =>
    withServer(global.command(name)).option("-n, --namespace <name>", "only in this namespace");
  const changing = (name: string): Command => withOutput(placed(name), changeOutputs);

  withExamples(withWatch(withOutput(placed("get").alias("list"))), [
    ["keelson global get", "all of them"],
    ["keelson global get clusterrole/view", "how far each cluster got"],
    ["keelson global get --watch"],
  ])
    .description("show global resources; of one that is named also how far each cluster got")
    .summary("show global resources and how far they got")
    .argument("[what...]", "kinds or names")
    .action(async (words: string[], options: PlaceFlags & OutputFlags & WatchFlags) =>
      inSession(options, context, async (session, signal) => {
        const { output, namespace } = options;
        if (options.watch === true) {
          const { watchGlobals } = await import("./watch-globals.ts");
          await watchGlobals(session, words, { output, namespace }, signal);
        } else {
          const { showGlobals } = await import("./show-globals.ts");
          await showGlobals(session, words, { output, namespace }, signal);
        }
      }),
    );

  withExamples(
    withDryRun(
      withPolicies(
        withWait(withOutput(withManifests(withServer(global.command("apply"))), changeOutputs)),
      ),
    ),
    [
      ["keelson global apply -f roles.yaml --all-targets --wait"],
      ["keelson global apply -f limits.yaml --targets region=eu,tier!=gold"],
    ],
  )
    .description(
      "declare the objects of manifests in every cluster that is chosen, one after the other",
    )
    .summary("declare the objects of manifests in many clusters")
    .option(
      "--targets <selector>",
      "the targets it is for, by their labels: region=eu, tier!=gold, 'zone in (a,b)', edge, !edge",
      selectorOf,
    )
    .addOption(
      new Option("--all-targets", "all targets; so it is at first, if nothing is said").conflicts(
        "targets",
      ),
    )
    .action(async (options: ApplyFlags) =>
      inChange(options, context, async (session, signal) => {
        const { applyGlobals } = await import("./globals.ts");
        const { filename: files, recursive, namespace, targets, allTargets } = options;
        const selector = allTargets === true ? null : targets;
        const asked = { files, isRecursive: recursive === true, namespace, selector };
        const isTrial = options.dryRun === true;
        const rest = { policies: policiesOf(options), isTrial, waitMs: waitMsOf(options) };
        await applyGlobals(session, { ...asked, ...rest }, signal);
      }),
    );

  withExamples(withOutput(placed("history")), [["keelson global history clusterrole/view"]])
    .description("show what a global resource was, newest first")
    .argument("<what...>", "a global resource: clusterrole/view, or its id")
    .option("--limit <count>", "how many", countOf, 20)
    .action(async (words: string[], options: PlaceFlags & OutputFlags & { limit: number }) =>
      inSession(options, context, async (session, signal) => {
        const { globalHistory } = await import("./globals.ts");
        const { output, limit, namespace } = options;
        await globalHistory(session, words, { output, limit, namespace }, signal);
      }),
    );

  withExamples(withDryRun(withWait(changing("rollback"))), [
    ["keelson global rollback clusterrole/view --to-revision 1 --wait"],
  ])
    .description("make a global resource again what it was")
    .argument("<what...>", "a global resource: clusterrole/view, or its id")
    .requiredOption("--to-revision <number>", "the revision to go back to", countOf)
    .action(
      async (
        words: string[],
        options: PlaceFlags & OutputFlags & WaitFlags & TryFlags & { toRevision: number },
      ) =>
        inChange(options, context, async (session, signal) => {
          const { rollbackGlobal } = await import("./globals.ts");
          const { toRevision, namespace } = options;
          const isTrial = options.dryRun === true;
          const asked = { toRevision, namespace, isTrial, waitMs: waitMsOf(options) };
          await rollbackGlobal(session, words, asked, signal);
        }),
    );

  for (const [verb, isPaused, help] of [
    ["pause", true, "write nothing of it to any cluster until it is resumed; watching goes on"],
    ["resume", false, "go on after a pause"],
  ] as const) {
    withExamples(withDryRun(changing(verb)), [[`keelson global ${verb} clusterrole/view`]])
      .description(help)
      .argument("<what...>", "a global resource: clusterrole/view, or its id")
      .action(async (words: string[], options: PlaceFlags & OutputFlags & TryFlags) =>
        inChange(options, context, async (session, signal) => {
          const { setGlobalPaused } = await import("./globals.ts");
          const { namespace } = options;
          const isTrial = options.dryRun === true;
          await setGlobalPaused(session, words, { namespace, isPaused, isTrial }, signal);
        }),
      );
  }

  withExamples(withDryRun(withWait(changing("delete"))), [
    ["keelson global delete clusterrole/view --wait"],
    ["keelson global delete clusterrole/view --orphan", "its objects stay"],
  ])
    .description("delete a global resource, and its objects in all clusters")
    .argument("<what...>", "a global resource: clusterrole/view, or its id")
    .option("--orphan", "forget it and leave its objects in the clusters")
    .action(
      async (
        words: string[],
        options: PlaceFlags & OutputFlags & WaitFlags & TryFlags & { orphan?: true },
      ) =>
        inChange(options, context, async (session, signal) => {
          const { removeGlobals } = await import("./globals.ts");
          const { namespace, orphan } = options;
          const how = { isOrphaning: orphan === true, isTrial: options.dryRun === true };
          const asked = { namespace, ...how, waitMs: waitMsOf(options) };
          await removeGlobals(session, words, asked, signal);
        }),
    );
};

function selectorOf(text: string): JsonObject {
  const selector = targetSelector(text);
  if (selector !== undefined) return selector;
  throw new InvalidArgumentError("It must be a selector, as region=eu or 'zone in (a,b)'.");
}
