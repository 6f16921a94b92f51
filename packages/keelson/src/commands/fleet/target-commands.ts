// `keelson target …`, as it is typed.

import type { Define } from "../catalog.ts";
import { inChange, inSession } from "../command-context.ts";
import { withExamples } from "../examples.ts";
import {
  changeOutputs,
  waitMsOf,
  withOutput,
  withServer,
  withWait,
  withWatch,
  type OutputFlags,
  type WaitFlags,
  type WatchFlags,
} from "../flags.ts";
import { labelsOf, withDryRun, type TryFlags } from "./flags.ts";
import type { ServerFlags } from "../client/find-server.ts";

interface CreateFlags extends ServerFlags, OutputFlags, WaitFlags, TryFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly label: readonly string[];
  readonly agent?: true;
  readonly paused?: true;
}

export const defineTarget: Define = (target, context) => {
  const changing = (verb: string) => withOutput(withServer(target.command(verb)), changeOutputs);

  const tryHelp =
    "try whether the cluster can be reached so, keep nothing, and say what would come of it";
  withExamples(
    withDryRun(
      withWait(changing("create").alias("add"), "wait until the cluster answers"),
      tryHelp,
    ),
    [
      ["keelson target create prod --kubeconfig ~/.kube/config --context prod --wait"],
      ["keelson target create edge --agent --label region=eu", "its own worker delivers"],
    ],
  )
    .description(
      "register a cluster by a kubeconfig; certificates and tokens in files go along, commands that fetch them cannot",
    )
    .summary("register a cluster")
    .argument("<name>", "what the cluster is called here")
    .option("--kubeconfig <file>", "how to reach it")
    .option("--context <name>", "which context of the kubeconfig; the current one unless told")
    .option(
      "--label <key=value>",
      "a label, for global resources to choose by; may be given again",
      labelsOf,
      [],
    )
    .option("--agent", "a worker inside the cluster delivers to it; no kubeconfig is needed")
    .option("--paused", "write nothing to it until it is resumed")
    .action(async (name: string, options: CreateFlags) =>
      inChange(options, context, async (session, signal) => {
        const { createTarget } = await import("./targets.ts");
        const { kubeconfig, context: chosen, label: labels, agent, paused } = options;
        const settings = { kubeconfig, context: chosen, labels, isAgent: agent === true };
        const isTrial = options.dryRun === true;
        const rest = { isPaused: paused === true, isTrial, waitMs: waitMsOf(options) };
        await createTarget(session, name, { ...settings, ...rest }, signal);
      }),
    );

  withExamples(withWatch(withOutput(withServer(target.command("get").alias("list")))), [
    ["keelson target get", "all of them"],
    ["keelson target get prod -o yaml"],
    ["keelson target get --watch"],
  ])
    .description("show clusters and whether they answer: all, or by name")
    .argument("[name...]", "targets")
    .action(async (names: string[], options: ServerFlags & OutputFlags & WatchFlags) =>
      inSession(options, context, async (session, signal) => {
        const { showTargets, watchTargets } = await import("./show-targets.ts");
        const show = options.watch === true ? watchTargets : showTargets;
        await show(session, names, { output: options.output }, signal);
      }),
    );

  withExamples(withDryRun(changing("delete").alias("remove")), [
    ["keelson target delete prod"],
    ["keelson target delete prod --orphan", "its objects stay in the cluster"],
  ])
    .description("deliver to clusters no longer")
    .argument("<name...>", "targets")
    .option("--orphan", "forget its resources as well, and leave their objects")
    .action(
      async (
        names: string[],
        options: ServerFlags & OutputFlags & TryFlags & { readonly orphan?: true },
      ) =>
        inChange(options, context, async (session, signal) => {
          const { deleteTarget } = await import("./targets.ts");
          const asked = { isOrphaning: options.orphan === true, isTrial: options.dryRun === true };
          for (const name of names) await deleteTarget(session, name, asked, signal);
        }),
    );

  for (const [verb, isPaused, summary] of [
    ["pause", true, "write nothing to clusters until they are resumed; watching goes on"],
    ["resume", false, "go on after a pause"],
  ] as const) {
    withExamples(withDryRun(changing(verb)), [[`keelson target ${verb} prod`]])
      .description(summary)
      .argument("<name...>", "targets")
      .action(async (names: string[], options: ServerFlags & OutputFlags & TryFlags) =>
        inChange(options, context, async (session, signal) => {
          const { setTargetPaused } = await import("./targets.ts");
          const isTrial = options.dryRun === true;
          for (const name of names) {
            await setTargetPaused(session, name, { isPaused, isTrial }, signal);
          }
        }),
      );
  }
};
