import type { DynamicObject } from "@keelson/client";

interface Reference {
  readonly name?: string;
}

interface Container {
  readonly envFrom?: readonly {
    readonly secretRef?: Reference;
    readonly configMapRef?: Reference;
  }[];
  readonly env?: readonly {
    readonly valueFrom?: {
      readonly secretKeyRef?: Reference;
      readonly configMapKeyRef?: Reference;
    };
  }[];
}

/** The Secrets and ConfigMaps, as `Secret my-app-db`, that the variables of a Deployment's pods come from. */
export function sourcesReadBy(deployment: DynamicObject | undefined): ReadonlySet<string> {
  const { template } = (deployment?.["spec"] ?? {}) as unknown as {
    template?: {
      spec?: { containers?: readonly Container[]; initContainers?: readonly Container[] };
    };
  };
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  const all = [...initContainers, ...containers];
  const names = (kind: string, references: readonly (Reference | undefined)[]): string[] =>
    references.flatMap((one) => (one?.name === undefined ? [] : [`${kind} ${one.name}`]));
  const froms = all.flatMap(({ envFrom = [] }) => envFrom);
  const values = all.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom));
  return new Set([
    ...names("Secret", [
      ...froms.map(({ secretRef }) => secretRef),
      ...values.map((value) => value?.secretKeyRef),
    ]),
    ...names("ConfigMap", [
      ...froms.map(({ configMapRef }) => configMapRef),
      ...values.map((value) => value?.configMapKeyRef),
    ]),
  ]);
}
