// How resources are named on the command line.

import type { KindNames } from "@keelson/kube/kind-names";
import { usageError } from "../command-error.ts";
import { isBuiltinWord, meantKind, type MeantKind } from "./kind-words.ts";
import type { NamedResource } from "./resource-shapes.ts";

/** What one word, or a kind with its names, asks for. */
export type Reference =
  | { readonly by: "id"; readonly text: string; readonly id: number }
  | { readonly by: "kind"; readonly text: string; readonly kind: MeantKind }
  | {
      readonly by: "name";
      readonly text: string;
      /** Any kind, where it was not said. */
      readonly kind: MeantKind | undefined;
      readonly name: string;
      readonly clusterId: string | undefined;
      readonly namespace: string | undefined;
    };

/** Whether a reference means it, as far as kind, name and id tell. */
export function isMeant(
  reference: Reference,
  { id, name, ...kind }: Pick<NamedResource, "id" | "name" | "kind" | "api_version">,
): boolean {
  if (reference.by === "id") return reference.id === id;
  if (reference.by === "kind") return reference.kind.means(kind);
  return reference.name === name && (reference.kind?.means(kind) ?? true);
}

/**
 * Reads words as `17`, `deployment/web`, `local/default/deployment/web`, `deployments`, `deployments,services`, or
 * `deployment web db`. A word alone, with no kind that it could be, is a name where `takesNames`.
 */
export function readReferences(
  words: readonly string[],
  builtin: readonly KindNames[],
  { takesNames }: { readonly takesNames: boolean },
): readonly Reference[] {
  const [first, ...names] = words;
  if (first === undefined) return [];
  const isPlain = (word: string): boolean => !word.includes("/") && !/^\d+$/.test(word);
  if (isPlain(first) && names.length > 0 && names.every((name) => !name.includes("/"))) {
    const kind = kindOf(first, builtin);
    return names.map((name) => named(`${first}/${name}`, kind, name));
  }
  return words.flatMap((word): readonly Reference[] => {
    if (/^\d+$/.test(word)) return [{ by: "id", text: word, id: Number(word) }];
    if (word.includes("/")) return [readPath(word, builtin)];
    // No name has capitals: what has one is a kind.
    const isKind = !takesNames || isBuiltinWord(word, builtin) || /^[A-Z,]/.test(word);
    if (!isKind) return [named(word, undefined, word)];
    return word.split(",").map((one) => ({ by: "kind", text: one, kind: kindOf(one, builtin) }));
  });
}

function readPath(word: string, builtin: readonly KindNames[]): Reference {
  const parts = word.split("/");
  const [kind, name] = parts.slice(-2);
  const isWhole = (parts.length === 2 || parts.length === 4) && parts.every((part) => part !== "");
  if (!isWhole || kind === undefined || name === undefined) {
    throw usageError(
      `"${word}" names no resource: write KIND/NAME, as deployment/web, or CLUSTER/NAMESPACE/KIND/NAME`,
    );
  }
  const reference = named(word, kindOf(kind, builtin), name);
  if (parts.length === 2) return reference;
  const [clusterId, namespace] = parts;
  return { ...reference, clusterId, namespace: namespace === "-" ? "" : namespace };
}

function named(text: string, kind: MeantKind | undefined, name: string) {
  return { by: "name", text, kind, name, clusterId: undefined, namespace: undefined } as const;
}

function kindOf(word: string, builtin: readonly KindNames[]): MeantKind {
  const kind = meantKind(word, builtin);
  if (kind !== undefined) return kind;
  throw usageError(`"${word}" is no kind: write it like deployments, deployment or deploy`);
}
