// `keelson cluster …` and `keelson nodepool …`, as they are typed. What they do is loaded when they are run.

import type { NamedPhase } from "@keelson/clusters";
import { Option, type Command } from "commander";
import type { ServerFlags } from "../client/find-server.ts";
import type { Define } from "../catalog.ts";
import { usageError } from "../command-error.ts";
import { inChange, inSession, type CommandContext } from "../command-context.ts";
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
import type { Session } from "../session.ts";
import { kinds, type Kind } from "./shapes.ts";

/** Those that the API takes, in its order. Its package is not loaded for them. */
const phases = Object.keys({
  Pending: true,
  Progressing: true,
  Ready: true,
  Failed: true,
  Deleting: true,
  Error: true,
} satisfies Record<NamedPhase, true>);

/** Where nodepools are looked for. */
interface PlaceFlags extends ServerFlags {
  readonly cluster?: string;
}

interface DeclareFlags extends PlaceFlags, OutputFlags, WaitFlags {
  readonly spec?: string;
  readonly platform?: string;
  readonly project?: string;
  readonly ifGeneration?: number;
}

interface GetFlags extends PlaceFlags, OutputFlags, WatchFlags {
  readonly platform?: string;
  readonly status?: string;
  readonly name?: string;
}

interface DeleteFlags extends PlaceFlags, OutputFlags, WaitFlags {
  readonly confirm?: string;
  readonly force?: true;
}

interface EventFlags extends PlaceFlags, OutputFlags, WatchFlags {
  readonly limit: number;
}

/** `keelson cluster …`, or the same of nodepools. */
export function defineNoun(noun: Kind["noun"]): Define {
  return (command, context) => {
    const parts = { kind: kinds[noun], context };
    addDeclaring(command, parts);
    addShowing(command, parts);
    addChanging(command, parts);
  };
}

interface Parts {
  readonly kind: Kind;
  readonly context: CommandContext;
}

function addDeclaring(parent: Command, { kind, context }: Parts): void {
  const { noun } = kind;
  const isCluster = noun === "cluster";
  const declaring = (name: string): Command => {
    const command = withWait(
      withOutput(withServer(parent.command(name)), changeOutputs),
      "wait until it is Ready, and fail with the reason if it cannot be",
    ).option("--platform <type>", "the platform: gcp, aws, azure or any other");
    return isCluster
      ? command.option("--project <id>", "the project that the cluster goes to")
      : command;
  };
  const wants = async (session: Session, options: DeclareFlags, signal: AbortSignal) => {
    const { spec: specFile, platform, project, output } = options;
    const clusterId = await placeOf(session, options, signal);
    const waitMs = waitMsOf(options);
    return { kind, specFile, platform, project, output, clusterId, waitMs };
  };

  const create = withExamples(
    declaring("create").description(`declare a ${noun}`),
    isCluster
      ? [
          ["keelson cluster create one --platform gcp"],
          ["keelson cluster create two --spec two.yaml --wait"],
        ]
      : [["keelson nodepool create workers --cluster one --spec workers.yaml"]],
  );
  if (!isCluster) create.requiredOption("--cluster <name>", "the cluster it is for, or its id");
  create
    .argument("<name>", `what the ${noun} is called`)
    .option("--spec <file>", "its spec as YAML or JSON, or - for standard input")
    .action(async (name: string, options: DeclareFlags) =>
      inSession(options, context, async (session, signal) => {
        const declare = await import("./declare.ts");
        await declare.create(session, name, await wants(session, options, signal), signal);
      }),
    );

  withExamples(placed(declaring("update"), kind), [
    [`keelson ${noun} update one --spec one.yaml --wait`],
    [`keelson ${noun} update one --spec one.yaml --if-generation 3`, "only if nobody was faster"],
  ])
    .description(`replace the spec of a ${noun}, the whole of it`)
    .argument("<what>", `a ${noun}: its name, or its id`)
    .requiredOption(
      "--spec <file>",
      "the spec as YAML or JSON, or - for standard input; also what get -o yaml has shown",
    )
    .option("--if-generation <number>", "only if it is at this generation still", countOf)
    .action(async (word: string, options: DeclareFlags) =>
      inSession(options, context, async (session, signal) => {
        const declare = await import("./declare.ts");
        const { ifGeneration } = options;
        const wanted = await wants(session, options, signal);
        await declare.update(session, word, { ...wanted, ifGeneration }, signal);
      }),
    );
}

function addShowing(parent: Command, { kind, context }: Parts): void {
  const { noun, plural } = kind;
  withExamples(
    placed(withWatch(withOutput(withServer(parent.command("get").alias("list")))), kind),
    [
      [`keelson ${noun} get`, "all of them, newest first"],
      [`keelson ${noun} get one -o yaml`],
      [`keelson ${noun} get --status Failed --watch`],
    ],
  )
    .description(`show ${plural}: all, newest first, or by name or id`)
    .argument("[what...]", `${plural}: names, or ids`)
    .option("--platform <type>", "only those of this platform")
    .addOption(new Option("--status <phase>", "only those in this phase").choices(phases))
    .option("--name <name>", "only those of this name; a* means all that begin with a")
    .action(async (words: string[], options: GetFlags) =>
      inSession(options, context, async (session, signal) => {
        const { get, list, watch } = await import("./show.ts");
        const { platform, status, name, output } = options;
        const filters = { platform, status, name };
        const isNarrowed = Object.values(filters).some((filter) => filter !== undefined);
        if (words.length > 0 && isNarrowed) {
          throw usageError(`name ${plural}, or narrow them down with flags, but not both`);
        }
        const clusterId = await placeOf(session, options, signal);
        const asking = { kind, output, filters: { ...filters, clusterId } };
        if (options.watch === true) await watch(session, words, asking, signal);
        else if (words.length > 0) await get(session, words, { kind, output, clusterId }, signal);
        else await list(session, asking, signal);
      }),
    );

  withExamples(
    placed(
      withOutput(withServer(parent.command("status")), ["table", "wide", "json", "yaml"]),
      kind,
    ),
    [[`keelson ${noun} status one`], [`keelson ${noun} status one -o wide`, "all conditions"]],
  )
    .description("show where it stands, and what each controller has reported")
    .argument("<what>", `a ${noun}: its name, or its id`)
    .action(async (word: string, options: PlaceFlags & OutputFlags) =>
      inSession(options, context, async (session, signal) => {
        const { showStatus } = await import("./status.ts");
        const clusterId = await placeOf(session, options, signal);
        await showStatus(session, word, { kind, output: options.output, clusterId }, signal);
      }),
    );

  withExamples(
    placed(withOutput(withServer(parent.command("events")), ["table", "json", "yaml"]), kind),
    [[`keelson ${noun} events one`], [`keelson ${noun} events one --watch -o json`, "a line each"]],
  )
    .description("show what was told of it, newest first")
    .argument("<what>", `a ${noun}: its name, or its id`)
    .option("--limit <count>", "how many", countOf, 20)
    .option("-w, --watch", "oldest first, and then what comes, until Ctrl-C or the end of it")
    .action(async (word: string, options: EventFlags) =>
      inSession(options, context, async (session, signal) => {
        const { showEvents, watchEvents } = await import("./events.ts");
        const clusterId = await placeOf(session, options, signal);
        const { output, limit } = options;
        const show = options.watch === true ? watchEvents : showEvents;
        await show(session, word, { kind, output, limit, clusterId }, signal);
      }),
    );
}

function addChanging(parent: Command, { kind, context }: Parts): void {
  const { noun, plural } = kind;
  const changing = (verb: string): Command =>
    placed(withOutput(withServer(parent.command(verb)), changeOutputs), kind);
  const remove = withExamples(withWait(changing("delete"), "wait until it is gone"), [
    noun === "cluster"
      ? ["keelson cluster delete one --confirm Ready --wait"]
      : ["keelson nodepool delete workers --cluster one --wait"],
    [`keelson ${noun} delete one --force`, "waits for no controller"],
  ])
    .description(`delete ${plural}, after their controllers have let go`)
    .argument("<what...>", `${plural}: names, or ids`)
    .option("--force", "in any phase, and at once: no controller is waited for");
  if (noun === "cluster") {
    remove.addOption(
      new Option("--confirm <phase>", "although it is in this phase").choices(phases),
    );
  }
  remove.action(async (words: string[], options: DeleteFlags) =>
    inChange(options, context, async (session, signal) => {
      const changes = await import("./change.ts");
      const clusterId = await placeOf(session, options, signal);
      const { confirm, force } = options;
      const how = { confirm, isForced: force === true, waitMs: waitMsOf(options) };
      await changes.remove(session, words, { kind, clusterId, ...how }, signal);
    }),
  );

  for (const [verb, summary] of [
    ["reconcile", "announce it to its controllers now"],
    ["pause", "announce it by schedule no longer; changes are announced still"],
    ["resume", "announce it by schedule again"],
  ] as const) {
    withExamples(changing(verb), [[`keelson ${noun} ${verb} one`]])
      .description(summary)
      .argument("<what...>", `${plural}: names, or ids`)
      .action(async (words: string[], options: PlaceFlags & OutputFlags) =>
        inChange(options, context, async (session, signal) => {
          const changes = await import("./change.ts");
          const clusterId = await placeOf(session, options, signal);
          await changes.ask(session, words, { kind, clusterId, verb }, signal);
        }),
      );
  }
}

function placed(command: Command, { noun }: Kind): Command {
  return noun === "cluster"
    ? command
    : command.option("--cluster <name>", "only in this cluster, by name or id");
}

async function placeOf(
  { client }: Session,
  { cluster }: PlaceFlags,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clusterIdOf } = await import("./find.ts");
  return clusterIdOf(client, cluster, signal);
}
