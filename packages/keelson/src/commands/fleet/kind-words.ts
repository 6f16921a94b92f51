// The words by which people call kinds: `deployments`, `deploy`, `Deployment`, `deployments.apps`.

import type { KindNames } from "@keelson/kube/kind-names";
import { groupOf, type ListedResource } from "./resource-shapes.ts";

/** A kind as somebody called it, and which resources it means. */
export interface MeantKind {
  readonly word: string;
  /** For the server's filter; undefined where only the resources themselves can tell. */
  readonly kind: string | undefined;
  means(resource: Pick<ListedResource, "kind" | "api_version">): boolean;
}

/** What a word means, if it can mean a kind at all. */
export function meantKind(word: string, builtin: readonly KindNames[]): MeantKind | undefined {
  if (!/^[A-Za-z][A-Za-z0-9]*(\.[a-z0-9.-]+)?$/.test(word)) return undefined;
  const [name = "", ...rest] = word.split(".");
  const group = rest.length === 0 ? undefined : rest.join(".");
  const found = builtin.find(
    (one) => isCalled(one, name) && (group === undefined || one.group === group),
  );
  if (found !== undefined) {
    return {
      word,
      kind: found.kind,
      means: ({ kind, api_version }) =>
        kind === found.kind && (group === undefined || groupOf(api_version) === group),
    };
  }
  return {
    word,
    kind: /^[A-Z]/.test(name) ? name : undefined,
    means: ({ kind, api_version }) =>
      (kind === name || formsOf(kind).includes(name.toLowerCase())) &&
      (group === undefined || groupOf(api_version) === group),
  };
}

/** Whether it is a word for a kind of Kubernetes itself. */
export function isBuiltinWord(word: string, builtin: readonly KindNames[]): boolean {
  const [name = "", ...rest] = word.split(".");
  return builtin.some(
    (one) => isCalled(one, name) && (rest.length === 0 || one.group === rest.join(".")),
  );
}

/** Every word for every kind of Kubernetes and of these resources: what a misspelt one may have meant. */
export function allWords(
  builtin: readonly KindNames[],
  resources: readonly Pick<ListedResource, "kind">[],
): readonly string[] {
  return [
    ...builtin.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]),
    ...resources.flatMap(({ kind }) => formsOf(kind)),
  ];
}

function isCalled({ kind, plural, singular, shortNames }: KindNames, name: string): boolean {
  const lower = name.toLowerCase();
  return kind === name || [plural, singular, ...shortNames].includes(lower);
}

/** The singular and the plurals that English would make of a kind that we know nothing of. */
function formsOf(kind: string): readonly string[] {
  const word = kind.toLowerCase();
  return [word, `${word}s`, `${word}es`, word.replace(/y$/, "ies")];
}
