// The containers that a chart renders, as processes of this machine.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

/** What is in the Secrets that variables come from, by name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Those of a Deployment, in the order in which they run. */
export function containersOf(deployment: {
  readonly spec: Readonly<Record<string, unknown>>;
}): readonly Container[] {
  const { template } = deployment.spec as {
    readonly template: {
      readonly spec: {
        readonly initContainers?: readonly Container[];
        readonly containers: readonly Container[];
      };
    };
  };
  const { initContainers = [], containers } = template.spec;
  return [...initContainers, ...containers];
}

/** The variables that a container is given. Throws for one that comes from where nothing is. */
export function environmentOf(
  { env = [] }: Container,
  secrets: Secrets,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const { name: secret = "", key = "" } = valueFrom?.secretKeyRef ?? {};
      const found = value ?? secrets[secret]?.[key];
      if (found === undefined) throw new Error(`${name} comes from ${secret}.${key}: nothing`);
      return [name, found];
    }),
  );
}

/** The same words and variables, with every mount a folder below `root`, which is made. */
export function placedBelow(
  root: string,
  container: Container,
  secrets: Secrets,
): { readonly words: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  for (const mount of mounts) mkdirSync(join(root, mount), { recursive: true });
  const placed = (text: string): string => {
    // At its beginning, or after the equals sign of a flag.
    const [, flag = "", path = ""] = /^(--[\w-]+=)?(\/.*)$/.exec(text) ?? [];
    if (path === "") return text;
    if (!mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))) {
      throw new Error(`${container.name} is told of ${path}, where nothing is mounted`);
    }
    return `${flag}${join(root, path)}`;
  };
  const variables = Object.entries(environmentOf(container, secrets));
  return {
    words: container.args.map(placed),
    environment: Object.fromEntries(variables.map(([name, value]) => [name, placed(value)])),
  };
}
