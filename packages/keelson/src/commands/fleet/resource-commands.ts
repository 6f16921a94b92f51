// The commands about resources, as they are typed. What they do is loaded when they are run.

import type { ResourceStatus } from "@keelson/fleet";
import { Option, type Command } from "commander";
import { resourceVerbs, type Define, type ResourceVerb } from "../catalog.ts";
import { inChange, inSession, type CommandContext } from "../command-context.ts";
import { withExamples } from "../examples.ts";
import {
  changeOutputs,
  withServer,
  withWatch,
  type OutputFlags,
  withOutput,
  type WaitFlags,
  withWait,
  waitMsOf,
  countOf,
} from "../flags.ts";
import {
  type PlaceFlags,
  withPlace,
  type FilterFlags,
  withFilters,
  type GetFlags,
  filtersOf,
  type AllFlags,
  withAll,
  changeOf,
  type ManifestFlags,
  withManifests,
  withClusters,
  withOptionalManifests,
  oneCluster,
  manifestsOf,
  type PolicyFlags,
  withPolicies,
  policiesOf,
  type TryFlags,
  withDryRun,
} from "./flags.ts";

/** Those that the API takes, in its order. Its package is not loaded for them. */
const statuses = Object.keys({
  deleting: true,
  error: true,
  pending: true,
  "out-of-sync": true,
  drifted: true,
  "pending-applied": true,
  synced: true,
} satisfies Record<ResourceStatus, true>);

/** `keelson resource …`. */
export const defineResource: Define = (command, context) => {
  for (const name of Object.keys(verbs) as ResourceVerb[]) {
    const verb = command.command(name).summary(resourceVerbs[name]);
    if (name === "get") verb.alias("list");
    verbs[name](verb.description(resourceVerbs[name]), context);
  }
};

/** `keelson VERB …`, short for the same of `resource`. */
export function defineVerb(name: ResourceVerb): Define {
  return verbs[name];
}

/** By name, in the order of help. What is said of each in the list of commands stands in the catalog. */
const verbs: Readonly<Record<ResourceVerb, Define>> = {
  get: (command, context) =>
    withExamples(withWatch(withOutput(withFilters(withServer(command)))), [
      ["keelson get", "everything"],
      ["keelson get deployments,services -n shop --watch"],
      ["keelson get deployment/web -o yaml"],
      ["keelson get --status error --cluster prod"],
    ])
      .description(
        "show resources and how they are: all, of kinds (deployments), or by name (deployment/web, an id, or in full local/default/deployment/web)",
      )
      .argument("[what...]", "kinds or names")
      .addOption(new Option("--status <status>", "only those in this status").choices(statuses))
      .action(async (words: string[], options: GetFlags) =>
        inSession(options, context, async (session, signal) => {
          const asked = { output: options.output, filters: filtersOf(options) };
          if (options.watch === true) {
            const { watch } = await import("./watch.ts");
            await watch(session, words, asked, signal);
          } else {
            const { get } = await import("./get.ts");
            await get(session, words, asked, signal);
          }
        }),
      ),
  apply: (command, context) =>
    withExamples(
      withDryRun(
        withPolicies(withWait(changed(withClusters(withManifests(withServer(command)))))),
        "let the clusters try it, keep nothing, and say what would become of each object",
      ),
      [
        ["keelson apply -f web.yaml --cluster local --wait"],
        ["keelson apply -f manifests -R --cluster prod --cluster edge --dry-run"],
        ["kustomize build . | keelson apply -f - --cluster prod"],
      ],
    )
      .description("declare the objects of Kubernetes manifests in clusters, all or none of them")
      .action(async (options: ManifestFlags & WaitFlags & OutputFlags & PolicyFlags & TryFlags) =>
        inSession(options, context, async (session, signal) => {
          const { output } = options;
          const asked = { ...manifestsOf(options), output, policies: policiesOf(options) };
          if (options.dryRun === true) {
            const { applyDryRun } = await import("./dry-run.ts");
            await applyDryRun(session, asked, signal);
          } else {
            const { apply } = await import("./apply.ts");
            await apply(session, { ...asked, waitMs: waitMsOf(options) }, signal);
          }
        }),
      ),
  diff: (command, context) =>
    withExamples(
      withOptionalManifests(
        withAll(withOutput(withFilters(withServer(command), { cluster: "many" }), changeOutputs)),
      ),
      [
        ["keelson diff deployment/web", "what is there (-) and what is wanted (+)"],
        ["keelson diff --all -o name", "which differ at all"],
        ["keelson diff -f web.yaml --cluster local", "what an apply would change"],
      ],
    )
      .description(
        "show where clusters differ from what they are to hold, or from what manifests would make of them: what is there (-) and what is wanted (+); ends with 1 if they do",
      )
      .argument("[what...]", "resources: deployment/web, an id, or in full")
      .option("--foreign", "also what other managers alone have set")
      .action(
        async (
          words: string[],
          options: Omit<FilterFlags, "cluster"> &
            AllFlags &
            OutputFlags &
            ManifestFlags & { foreign?: true },
        ) =>
          inSession(options, context, async (session, signal) => {
            const { output, foreign, filename } = options;
            const asked = { output, isForeign: foreign === true };
            const cluster = oneCluster(words, options);
            if (filename.length === 0) {
              const { diff } = await import("./diff.ts");
              await diff(
                session,
                words,
                { ...changeOf({ ...options, cluster }), ...asked },
                signal,
              );
              return;
            }
            const { diffManifests } = await import("./diff-manifests.ts");
            await diffManifests(session, { ...manifestsOf(options), ...asked }, signal);
          }),
      ),
  history: (command, context) =>
    withExamples(withOutput(withPlace(withServer(command))), [
      ["keelson history deployment/web"],
      ["keelson history deployment/web --limit 1 -o yaml"],
    ])
      .argument("<what...>", "a resource: deployment/web, an id, or in full")
      .option("--limit <count>", "how many", countOf, 20)
      .action(async (words: string[], options: PlaceFlags & OutputFlags & { limit: number }) =>
        inSession(options, context, async (session, signal) => {
          const { history } = await import("./history.ts");
          const { output, limit } = options;
          await history(session, words, { output, limit, filters: filtersOf(options) }, signal);
        }),
      ),
  rollback: (command, context) =>
    withExamples(withDryRun(withWait(changed(withPlace(withServer(command))))), [
      ["keelson rollback deployment/web --to-revision 1 --dry-run", "what would change"],
      ["keelson rollback deployment/web --to-revision 1 --wait"],
    ])
      .argument("<what...>", "a resource: deployment/web, an id, or in full")
      .option("--to-revision <number>", "the revision to go back to", countOf)
      .option("--to-generation <number>", "exactly this line of the history instead", countOf)
      .action(
        async (
          words: string[],
          options: PlaceFlags &
            OutputFlags &
            WaitFlags &
            TryFlags & { toRevision?: number; toGeneration?: number },
        ) =>
          inChange(options, context, async (session, signal) => {
            const { rollback } = await import("./history.ts");
            const { toRevision, toGeneration } = options;
            const isTrial = options.dryRun === true;
            const asked = { toRevision, toGeneration, isTrial, waitMs: waitMsOf(options) };
            await rollback(session, words, { ...asked, filters: filtersOf(options) }, signal);
          }),
      ),
  sync: (command, context) =>
    withExamples(withDryRun(withWait(withAll(changed(withFilters(withServer(command)))))), [
      ["keelson sync deployment/web --wait"],
      ["keelson sync --all --cluster prod"],
    ])
      .argument("[what...]", "resources: deployment/web, an id, or in full")
      .action(async (words: string[], options: ChangeFlags & WaitFlags) =>
        inChange(options, context, async (session, signal) => {
          const { sync } = await import("./change.ts");
          await sync(session, words, changeOf(options), signal);
        }),
      ),
  pause: (command, context) =>
    pausing(command, context, true).description(
      "write nothing to the cluster until it is resumed; watching goes on",
    ),
  resume: (command, context) => pausing(command, context, false),
  delete: (command, context) =>
    withExamples(
      withDryRun(
        withWait(
          withOptionalManifests(
            withAll(changed(withFilters(withServer(command), { cluster: "many" }))),
          ),
        ),
      ),
      [
        ["keelson delete deployment/web --wait"],
        ["keelson delete -f web.yaml --cluster local --ignore-not-found"],
        ["keelson delete -l app=web --orphan", "their objects stay"],
      ],
    )
      .argument("[what...]", "resources: deployment/web, an id, or in full")
      .option("--ignore-not-found", "with -f: what is not there needs no deleting")
      .option("--orphan", "forget the resource and leave its object in the cluster")
      .action(
        async (
          words: string[],
          options: Omit<ChangeFlags, "cluster"> &
            WaitFlags &
            ManifestFlags & { orphan?: true; ignoreNotFound?: true },
        ) =>
          inChange(options, context, async (session, signal) => {
            const { remove } = await import("./change.ts");
            const cluster = oneCluster(words, options);
            await remove(
              session,
              words,
              {
                ...changeOf({ ...options, cluster }),
                manifests: options.filename.length === 0 ? undefined : manifestsOf(options),
                isOrphaning: options.orphan === true,
                ignoresMissing: options.ignoreNotFound === true,
              },
              signal,
            );
          }),
      ),
};

/** What every verb that changes resources takes. */
type ChangeFlags = FilterFlags & AllFlags & TryFlags & OutputFlags;

function changed(command: Command): Command {
  return withOutput(command, changeOutputs);
}

function pausing(command: Command, context: CommandContext, isPaused: boolean): Command {
  const verb = isPaused ? "pause" : "resume";
  return withExamples(withDryRun(withAll(changed(withFilters(withServer(command))))), [
    [`keelson ${verb} deployment/web`],
    [`keelson ${verb} --all --cluster prod`],
  ])
    .argument("[what...]", "resources: deployment/web, an id, or in full")
    .action(async (words: string[], options: ChangeFlags) =>
      inChange(options, context, async (session, signal) => {
        const { setPaused } = await import("./change.ts");
        await setPaused(session, words, { ...changeOf(options), isPaused }, signal);
      }),
    );
}
