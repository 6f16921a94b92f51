// `keelson target …`, as it is typed.

import type { Define } from "../catalog.ts";
import { inSession } from "../command-context.ts";
import {
  waitMsOf,
  withOutput,
  withServer,
  withWait,
  type OutputFlags,
  type WaitFlags,
} from "../flags.ts";
import { labelsOf, withDryRun, type TryFlags } from "./flags.ts";
import type { ServerFlags } from "../client/find-server.ts";

interface AddFlags extends ServerFlags, WaitFlags, TryFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly label: readonly string[];
  readonly agent?: true;
  readonly paused?: true;
}

export const defineTarget: Define = (target, context) => {
  const tryHelp =
    "try whether the cluster can be reached so, keep nothing, and say what would come of it";
  withDryRun(withWait(withServer(target.command("add")), "wait until the cluster answers"), tryHelp)
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
    .action(async (name: string, options: AddFlags) =>
      inSession(options, context, async (session, signal) => {
        const { addTarget } = await import("./targets.ts");
        const { kubeconfig, context: chosen, label: labels, agent, paused } = options;
        const settings = { kubeconfig, context: chosen, labels, isAgent: agent === true };
        const isTrial = options.dryRun === true;
        const rest = { isPaused: paused === true, isTrial, waitMs: waitMsOf(options) };
        await addTarget(session, name, { ...settings, ...rest }, signal);
      }),
    );

  for (const [verb, summary, argument] of [
    ["list", "show all clusters and whether they answer", undefined],
    ["get", "show clusters by name", "<name...>"],
  ] as const) {
    const command = withOutput(withServer(target.command(verb))).description(summary);
    if (argument !== undefined) command.argument(argument, "targets");
    command.action(async (...given: unknown[]) => {
      const names = argument === undefined ? [] : (given[0] as readonly string[]);
      const options = given[argument === undefined ? 0 : 1] as ServerFlags & OutputFlags;
      await inSession(options, context, async (session, signal) => {
        const { showTargets } = await import("./targets.ts");
        await showTargets(session, names, { output: options.output }, signal);
      });
    });
  }

  withDryRun(withServer(target.command("remove")))
    .description("deliver to a cluster no longer")
    .argument("<name>", "the target")
    .option("--orphan", "forget its resources as well, and leave their objects")
    .action(async (name: string, options: ServerFlags & TryFlags & { readonly orphan?: true }) =>
      inSession(options, context, async (session, signal) => {
        const { removeTarget } = await import("./targets.ts");
        const asked = { isOrphaning: options.orphan === true, isTrial: options.dryRun === true };
        await removeTarget(session, name, asked, signal);
      }),
    );

  for (const [verb, isPaused, summary] of [
    ["pause", true, "write nothing to a cluster until it is resumed; watching goes on"],
    ["resume", false, "go on after a pause"],
  ] as const) {
    withDryRun(withServer(target.command(verb)))
      .description(summary)
      .argument("<name>", "the target")
      .action(async (name: string, options: ServerFlags & TryFlags) =>
        inSession(options, context, async (session, signal) => {
          const { setTargetPaused } = await import("./targets.ts");
          const isTrial = options.dryRun === true;
          await setTargetPaused(session, name, { isPaused, isTrial }, signal);
        }),
      );
  }
};
