// The copies of Secrets that previews may have, in their namespaces.

import { keyOf, refOf, type DynamicObject } from "@keelson/client";
import type { CachedResource, Caches } from "@keelson/controller";

import type { App } from "../app.ts";
import { secretKind } from "../children/child.ts";
import { isChildOf, type Children } from "../children/children.ts";
import {
  copiedFromAnnotation,
  previewLabel,
  sharedVariables,
  type SharedVariables,
} from "./secret-copies.ts";

export class SharedSecrets {
  readonly #children: Children;
  /** What is marked for previews, in all namespaces. */
  readonly #marked: CachedResource;

  constructor({ caches, children }: { readonly caches: Caches; readonly children: Children }) {
    this.#children = children;
    this.#marked = caches.resource(secretKind, { labelSelector: `${previewLabel}=true` });
  }

  get cache(): CachedResource["cache"] {
    return this.#marked.cache;
  }

  /** Which of its variables an app may have, by the Secrets of its parent's namespace. Nothing is written. */
  async of(app: App, parentNamespace: string, signal: AbortSignal): Promise<SharedVariables> {
    await this.#marked.cache.untilSynced(signal);
    return sharedVariables(app, (name) =>
      this.#marked.cache.get({ namespace: parentNamespace, name }),
    );
  }

  /** Makes the copies so, and removes those that nobody wants any more. Gives them as they then are. */
  async copy({ app, copies }: SharedVariables, signal: AbortSignal): Promise<DynamicObject[]> {
    const made: DynamicObject[] = [];
    for (const copy of copies) made.push(await this.#children.apply(app, copy, signal));
    const wanted = new Set(copies.map((copy) => keyOf(refOf(copy))));
    const { namespace } = app;
    for (const secret of await this.#children.of(secretKind).list({ namespace }, signal)) {
      const { annotations = {}, name = "" } = secret.metadata;
      if (annotations[copiedFromAnnotation] === undefined || !isChildOf(app, secret)) continue;
      if (wanted.has(keyOf(refOf(secret)))) continue;
      await this.#children.remove(app, { ...secretKind, name }, signal);
    }
    return made;
  }
}
