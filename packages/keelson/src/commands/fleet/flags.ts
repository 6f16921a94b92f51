// The flags that commands about fleet share besides, and what they mean.

import { InvalidArgumentError, Option, type Command } from "commander";
import type { ServerFlags } from "../client/find-server.ts";
import { usageError } from "../command-error.ts";
import { gather, waitMsOf, type OutputFlags, type WaitFlags } from "../flags.ts";
import type { Filters } from "./select.ts";

export interface PlaceFlags extends ServerFlags {
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
}

export function withPlace(command: Command): Command {
  return command
    .option("--cluster <name>", "only in this cluster")
    .option("-n, --namespace <name>", "only in this namespace");
}

export interface FilterFlags extends PlaceFlags {
  readonly selector: readonly string[];
}

export function withFilters(
  command: Command,
  { cluster = "one" }: { cluster?: "one" | "many" } = {},
): Command {
  const placed =
    cluster === "one"
      ? withPlace(command)
      : command
          .option(
            "--cluster <name>",
            "only in this cluster; with -f it may be given again",
            gather,
            [],
          )
          .option("-n, --namespace <name>", "only in this namespace");
  return placed.option(
    "-l, --selector <key=value>",
    "only with this label; several with commas between, or given again",
    labelsOf,
    [],
  );
}

export interface GetFlags extends FilterFlags, OutputFlags {
  readonly status?: string;
  readonly watch?: true;
}

export function filtersOf(
  flags: PlaceFlags & { selector?: readonly string[]; status?: string },
): Filters {
  const { cluster, namespace, selector = [], status } = flags;
  return { cluster, namespace, status, labels: selector };
}

export interface AllFlags {
  readonly all?: true;
}

export function withAll(command: Command): Command {
  return command.option("--all", "all that match, however many they are");
}

export function changeOf(flags: FilterFlags & AllFlags & Partial<WaitFlags> & TryFlags) {
  return {
    filters: filtersOf(flags),
    isAll: flags.all === true,
    isTrial: flags.dryRun === true,
    waitMs: waitMsOf(flags),
  };
}

export interface TryFlags {
  readonly dryRun?: true;
}

export function withDryRun(
  command: Command,
  help = "let the clusters try it, keep nothing, and say what would come of it",
): Command {
  return command.addOption(new Option("--dry-run", help).conflicts("wait"));
}

export interface ManifestFlags extends ServerFlags {
  readonly filename: readonly string[];
  readonly recursive?: true;
  readonly cluster: readonly string[];
  readonly namespace?: string;
}

/** Without the clusters that they are for. */
export function withManifests(command: Command): Command {
  return command
    .addOption(
      new Option(
        "-f, --filename <path>",
        "a manifest, a folder of them, or - for standard input; may be given again",
      )
        .argParser(gather)
        .makeOptionMandatory(),
    )
    .option("-R, --recursive", "also what is in folders below the folder")
    .option("-n, --namespace <name>", "the namespace of objects that name none (default: default)");
}

export function withClusters(command: Command): Command {
  return command.option(
    "--cluster <name>",
    "the cluster it is for; may be given again",
    gather,
    [],
  );
}

/** For commands that take names as well. */
export function withOptionalManifests(command: Command): Command {
  return command
    .option("-f, --filename <path>", "what these manifests declare: see apply", gather, [])
    .option("-R, --recursive", "also what is in folders below the folder");
}

/**
 * The cluster that names are looked for in: with manifests it may be given again, with names it narrows them. Throws where
 * both manifests and something else say what is meant.
 */
export function oneCluster(
  words: readonly string[],
  { cluster, filename, selector, all }: ManifestFlags & Pick<FilterFlags, "selector"> & AllFlags,
): string | undefined {
  const [first, ...others] = cluster;
  if (filename.length > 0 && (words.length > 0 || selector.length > 0 || all === true)) {
    throw usageError("name resources, or give manifests with -f, but not both");
  }
  if (filename.length > 0 || others.length === 0) return first;
  throw usageError("--cluster may be given again with -f only: here it narrows down to one");
}

export function manifestsOf({ filename, recursive, cluster, namespace }: ManifestFlags) {
  return { files: filename, isRecursive: recursive === true, clusters: cluster, namespace };
}

const policies = {
  "conflict-policy": ["force", "report"],
  "drift-policy": ["heal", "report"],
  "immutable-policy": ["report", "recreate"],
  propagation: ["background", "foreground"],
} as const;

export interface PolicyFlags {
  readonly conflictPolicy?: string;
  readonly driftPolicy?: string;
  readonly immutablePolicy?: string;
  readonly propagation?: string;
}

export function withPolicies(command: Command): Command {
  const helps = {
    "conflict-policy": "where another manager owns a field: take it, or say so",
    "drift-policy": "where the cluster differs: put it right, or say so",
    "immutable-policy": "where a field cannot be changed: say so, or replace the object",
    propagation: "how what an object owns goes with it",
  } as const;
  for (const [name, choices] of Object.entries(policies)) {
    const help = helps[name as keyof typeof helps];
    command.addOption(new Option(`--${name} <word>`, help).choices(choices));
  }
  return command;
}

export function policiesOf(flags: PolicyFlags): Readonly<Record<string, string>> {
  const { conflictPolicy, driftPolicy, immutablePolicy, propagation } = flags;
  const all = {
    conflict_policy: conflictPolicy,
    drift_policy: driftPolicy,
    immutable_policy: immutablePolicy,
    propagation,
  };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export function labelsOf(value: string, before: readonly string[] = []): readonly string[] {
  const labels = value.split(",").map((label) => label.trim().replace("==", "="));
  if (labels.every((label) => /^[^=!\s]+=[^=\s]*$/.test(label))) return [...before, ...labels];
  throw new InvalidArgumentError("It must be a label and its value: app=web");
}
