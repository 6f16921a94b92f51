// The kinds that travel, what is named by others first: a server with rules refuses what names nothing.

import { arkDefinitions } from "@keelson/apiserver";

export interface TravellingKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

const order = [
  "ArkConfig",
  "ExecutionEngine",
  "A2AServer",
  "MCPServer",
  "Memory",
  "Model",
  "Tool",
  "Agent",
  "Team",
  "Evaluator",
  "Query",
  "Evaluation",
  "A2ATask",
];

/** Every kind of Ark, in the order in which they are brought in. */
export function arkKindsInOrder(): readonly TravellingKind[] {
  const kinds = arkDefinitions().map((definition) => {
    const { spec } = definition as unknown as {
      readonly spec: {
        readonly group: string;
        readonly names: { readonly kind: string; readonly plural: string };
        readonly versions: readonly { readonly name: string }[];
      };
    };
    const [version] = spec.versions;
    return {
      apiVersion: `${spec.group}/${version?.name ?? ""}`,
      kind: spec.names.kind,
      plural: spec.names.plural,
    };
  });
  return kinds.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** Names of kinds, as people give them, that are none. */
export class UnknownKinds extends Error {
  override readonly name = "UnknownKinds";
  readonly code = "UNKNOWN_KINDS";
}

/** Some of them, by plural or kind in any case. Throws `UnknownKinds`. */
export function chosenKinds(names: readonly string[]): readonly TravellingKind[] {
  const all = arkKindsInOrder();
  const isNamed = ({ kind, plural }: TravellingKind, name: string): boolean =>
    [kind.toLowerCase(), plural].includes(name.toLowerCase());
  const unknown = names.filter((name) => !all.some((one) => isNamed(one, name)));
  if (unknown.length > 0) {
    const known = all.map(({ plural }) => plural).join(", ");
    throw new UnknownKinds(`there is no kind ${unknown.join(", ")}: there are ${known}`);
  }
  return names.length === 0 ? all : all.filter((one) => names.some((name) => isNamed(one, name)));
}
