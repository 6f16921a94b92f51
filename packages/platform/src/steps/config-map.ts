// The variables of a feature that need no secret: a ConfigMap, which no remote service is asked for.

import type { DynamicObject } from "@keelson/client";
import type { App } from "../app.ts";
import { childOf, configMapKind } from "../children/child.ts";
import type { Children } from "../children/children.ts";

export async function applyConfigMap(
  children: Pick<Children, "apply">,
  {
    app,
    name,
    variables,
    annotations = {},
  }: {
    readonly app: App;
    readonly name: string;
    readonly variables: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<DynamicObject> {
  const desired = childOf(app, {
    ...configMapKind,
    name,
    annotations,
    content: { data: variables },
  });
  return await children.apply(app, desired, signal);
}

/** Of an app that never had one nothing is asked: the cache has all of ours. */
export async function removeConfigMap(
  children: Pick<Children, "find" | "remove">,
  { app, name }: { readonly app: App; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const ref = { ...configMapKind, name };
  if ((await children.find(app, ref, signal)) === undefined) return;
  await children.remove(app, ref, signal);
}
