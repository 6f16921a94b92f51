// Every first word of the command line, in the order of help. What stands behind a word is loaded when it is typed: help
// and version must not wait for it.

import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";

/** Gives a command its flags, its verbs and what it does. */
export type Define = (command: Command, context: CommandContext) => void;

export interface Entry {
  readonly name: string;
  /** Under which heading help shows it. */
  readonly heading: string;
  readonly summary: string;
  /** Whether it is for programs only. */
  readonly isHidden?: true;
  readonly load: () => Promise<Define>;
}

/** The verbs of resources, which need no noun. */
export const resourceVerbs = {
  get: "show resources and how they are",
  apply: "declare the objects of manifests in clusters",
  diff: "show where clusters differ from it",
  history: "show what a resource was, newest first",
  rollback: "make a resource again what it was",
  sync: "apply now, whatever failed before",
  pause: "write nothing to the cluster for now",
  resume: "go on after a pause",
  delete: "delete resources and their objects",
} as const;

export type ResourceVerb = keyof typeof resourceVerbs;

const shortcuts = (Object.keys(resourceVerbs) as ResourceVerb[]).map((name): Entry => ({
  name,
  heading: 'Short for "keelson resource …"',
  summary: resourceVerbs[name],
  load: async () => (await import("./fleet/resource-commands.ts")).defineVerb(name),
}));

export const catalog: readonly Entry[] = [
  {
    name: "up",
    heading: "Servers",
    summary: "run everything on this machine",
    load: async () => (await import("./server-commands.ts")).defineUp,
  },
  {
    name: "serve",
    heading: "Servers",
    summary: "run chosen parts, as one of several replicas",
    load: async () => (await import("./server-commands.ts")).defineServe,
  },
  {
    name: "apiserver",
    heading: "Servers",
    summary: "run the Kubernetes API alone, and care for its store",
    load: async () => (await import("./apiserver-commands.ts")).defineApiserver,
  },
  {
    name: "config",
    heading: "Servers",
    summary: "print every setting in force and where it came from",
    load: async () => (await import("./server-commands.ts")).defineConfig,
  },
  {
    name: "cluster",
    heading: "Clusters",
    summary: "clusters, what they are to be and where they stand",
    load: async () => (await import("./clusters/cluster-commands.ts")).defineNoun("cluster"),
  },
  {
    name: "nodepool",
    heading: "Clusters",
    summary: "the nodepools of clusters, alike",
    load: async () => (await import("./clusters/cluster-commands.ts")).defineNoun("nodepool"),
  },
  {
    name: "target",
    heading: "Fleet",
    summary: "the clusters that resources are delivered to",
    load: async () => (await import("./fleet/target-commands.ts")).defineTarget,
  },
  {
    name: "resource",
    heading: "Fleet",
    summary: "what clusters are to hold, and what they hold",
    load: async () => (await import("./fleet/resource-commands.ts")).defineResource,
  },
  {
    name: "global",
    heading: "Fleet",
    summary: "what many clusters are to hold, those to come too",
    load: async () => (await import("./fleet/global-commands.ts")).defineGlobal,
  },
  ...shortcuts,
  {
    name: "doctor",
    heading: "Others",
    summary: "look whether Keelson can run here, and say what mends what is wrong",
    load: async () => (await import("./doctor-command.ts")).defineDoctor,
  },
  {
    name: "completion",
    heading: "Others",
    summary: "print the script that completes commands in bash, zsh or fish",
    load: async () => (await import("./completion-commands.ts")).defineCompletion,
  },
  {
    name: "complete",
    heading: "Others",
    summary: "print what may stand at the end of the words",
    isHidden: true,
    load: async () => (await import("./completion-commands.ts")).defineComplete,
  },
  {
    name: "crds",
    heading: "Others",
    summary: "print the definitions of Application and PreviewEnvironment",
    load: async () => (await import("./other-commands.ts")).defineCrds,
  },
  {
    name: "version",
    heading: "Others",
    summary: "print the version",
    load: async () => (await import("./other-commands.ts")).defineVersion,
  },
];
