// What brings previews up: they themselves, their parents, what is theirs, and what others have that they use.

import { keyOf, refOf, type DynamicObject, type ObjectKind, type ObjectRef } from "@keelson/client";
import {
  isAskedFor,
  watches,
  type IndexFunction,
  type ObjectCache,
  type Source,
} from "@keelson/controller";

import type { ApplicationSpec } from "../kinds/application.ts";
import type { PreviewSpec } from "../kinds/preview-environment.ts";
import type { NamingOptions } from "../names/names.ts";
import { ownerKey, parseOwner } from "../ownership/owner.ts";
import { parentRef } from "../previews/preview-app.ts";
import { isTelling } from "./app-pods.ts";
import type { OperatorSecrets } from "./operator-secrets.ts";
import { namesOfPreview } from "./read-preview.ts";
import { unawaited } from "./unawaited.ts";

/** What an Application asks for, be it right or not. */
type Wishes = Partial<ApplicationSpec>;

const byParent = "parent";
const byParentNamespace = "parentNamespace";
const byNamespace = "namespace";
const byHost = "host";

/** Of a cache of previews: by their parents, by the namespaces that they make, and by their hosts. */
export function previewIndexes(naming: NamingOptions): Readonly<Record<string, IndexFunction>> {
  return {
    [byParent]: (object) => parentOf(object).map(keyOf),
    [byParentNamespace]: (object) => parentOf(object).map(({ namespace }) => namespace),
    [byNamespace]: (object) => {
      const namespace = namesOfPreview(object, naming)?.namespace;
      return namespace === undefined ? [] : [namespace];
    },
    [byHost]: (object) => {
      const host = namesOfPreview(object, naming)?.domain;
      return host === undefined ? [] : [host];
    },
  };
}

export interface PreviewSourcesOptions {
  readonly previews: ObjectCache;
  readonly parents: ObjectCache;
  /** The host that an Application asks for, if it asks for one. */
  readonly hostOf: (application: DynamicObject) => string | undefined;
  /** What is the operator's of each kind. */
  readonly children: readonly ObjectCache[];
  readonly namespaces: ObjectCache;
  readonly pods: ObjectCache;
  /** All Secrets, in digests. */
  readonly secrets: ObjectCache;
  /** Secrets that are marked for previews. */
  readonly marked: ObjectCache;
  readonly operatorSecrets: OperatorSecrets;
}

/** All but the changes of previews themselves. */
export function previewSources(options: PreviewSourcesOptions): readonly Source[] {
  const { previews, parents, children, namespaces, pods, secrets, marked } = options;
  const { operatorSecrets, hostOf } = options;
  const refsBy = (index: string, value: string): ObjectRef[] =>
    [...previews.byIndex(index, value)].map(refOf);
  const living = ({ metadata }: DynamicObject): ObjectRef[] =>
    refsBy(byNamespace, metadata.namespace ?? "");
  return [
    watches(parents, (parent) => refsBy(byParent, keyOf(refOf(parent))), { when: isAskedFor }),
    // Whoever they are the children of: a host is no preview's that an Application asks for.
    watches(parents, (application) => refsBy(byHost, hostOf(application) ?? ""), {
      when: (change) =>
        change.type !== "updated" || hostOf(change.object) !== hostOf(change.previous),
    }),
    ...children.map((cache) => unawaited(watches(cache, ownerOfChild))),
    // Not its owner alone: when it goes, it may be another's turn.
    watches(namespaces, ({ metadata }) => refsBy(byNamespace, metadata.name ?? "")),
    watches(pods, living, { when: isTelling }),
    watches(secrets, living),
    watches(marked, ({ metadata }) => refsBy(byParentNamespace, metadata.namespace ?? "")),
    watches(operatorSecrets.cache, (secret) =>
      [...parents.list()]
        .filter(({ spec }) => operatorSecrets.isUsedBy(secret, (spec ?? {}) as Wishes))
        .flatMap((parent) => refsBy(byParent, keyOf(refOf(parent)))),
    ),
  ];
}

/** The kinds of children that only previews have. */
export const guardKinds: readonly ObjectKind[] = [
  { apiVersion: "v1", kind: "ResourceQuota" },
  { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" },
];

/** By the annotation: those of an Application have none. */
function ownerOfChild({ metadata }: DynamicObject): ObjectRef[] {
  const owner = parseOwner(metadata.annotations?.[ownerKey]);
  return owner === undefined ? [] : [{ namespace: owner.namespace, name: owner.name }];
}

function parentOf({ metadata, spec }: DynamicObject): { namespace: string; name: string }[] {
  const { applicationRef } = (spec ?? {}) as unknown as Partial<PreviewSpec>;
  if (typeof applicationRef !== "string") return [];
  return [parentRef({ applicationRef }, metadata.namespace ?? "")];
}
