// The containers that a chart renders, as processes of this machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  /** Those of its Pod. */
  readonly volumes: readonly Volume[];
}

interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    /** Without it every key is a file. */
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}

/** What is in the Secrets that are mounted, by name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Those of a Deployment, in the order in which they run. */
export function containersOf(deployment: {
  readonly spec: Readonly<Record<string, unknown>>;
}): readonly Container[] {
  type Rendered = Omit<Container, "volumes">;
  const { template } = deployment.spec as {
    readonly template: {
      readonly spec: {
        readonly initContainers?: readonly Rendered[];
        readonly containers: readonly Rendered[];
        readonly volumes: readonly Volume[];
      };
    };
  };
  const { initContainers = [], containers, volumes } = template.spec;
  return [...initContainers, ...containers].map((container) => ({ ...container, volumes }));
}

/** The variables that a container is given. */
export function environmentOf({ env = [] }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** The same words and variables, with every mount a folder below `root`, which is made and has the files of its Secret. */
export function placedBelow(
  root: string,
  container: Container,
  secrets: Secrets,
): { readonly words: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  for (const { name, mountPath } of container.volumeMounts) {
    mkdirSync(join(root, mountPath), { recursive: true });
    const volume = container.volumes.find((one) => one.name === name);
    for (const [file, content] of filesOf(volume, secrets)) {
      writeFileSync(join(root, mountPath, file), content);
    }
  }
  const placed = (text: string): string => {
    // At its beginning, or after the equals sign of a flag.
    const [, flag = "", path = ""] = /^(--[\w-]+=)?(\/.*)$/.exec(text) ?? [];
    if (path === "") return text;
    if (!mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))) {
      throw new Error(`${container.name} is told of ${path}, where nothing is mounted`);
    }
    return `${flag}${join(root, path)}`;
  };
  const variables = Object.entries(environmentOf(container));
  return {
    words: container.args.map(placed),
    environment: Object.fromEntries(variables.map(([name, value]) => [name, placed(value)])),
  };
}

/** What a volume holds. Throws where its Secret has not what it should. */
function filesOf(volume: Volume | undefined, secrets: Secrets): readonly [string, string][] {
  if (volume?.secret === undefined) return [];
  const { secretName, items } = volume.secret;
  const data = secrets[secretName] ?? {};
  const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return wanted.map(({ key, path }) => {
    const content = data[key];
    if (content === undefined) throw new Error(`${path} comes from ${secretName}.${key}: nothing`);
    return [path, content];
  });
}
