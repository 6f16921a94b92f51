// A preview as an app: what its parent asks for, for one pull request and apart from the parent.

import type { App } from "../app.ts";
import type { ApplicationSpec } from "../kinds/application.ts";
import type { PreviewSpec } from "../kinds/preview-environment.ts";
import { namesOf, type NamingOptions } from "../names/names.ts";
import type { Owner } from "../ownership/owner.ts";

export interface Parent {
  readonly name: string;
  readonly spec: ApplicationSpec;
}

/** A preview is looked at by few, and not for long. */
const previewScaling = { min: 1, max: 2, targetCPU: 80 };

/** Which Application a preview is of: in its own namespace unless it says otherwise. */
export function parentRef(
  { applicationRef }: Pick<PreviewSpec, "applicationRef">,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  const [first = "", second] = applicationRef.split("/");
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

/** The parent's own domain stays the parent's, and nothing of a preview outlives it. */
export function previewApp(
  { owner, spec: preview }: { readonly owner: Owner; readonly spec: PreviewSpec },
  { name: app, spec: parent }: Parent,
  naming: NamingOptions,
): App {
  const { pullRequest, branch, imageRef = parent.imageRef } = preview;
  const { domain: _domain, imageRef: _image, ...kept } = parent;
  const schemaName = parent.database?.schemaName;
  const named = { app, environment: "preview", pullRequest } as const;
  const names = namesOf(schemaName === undefined ? named : { ...named, schemaName }, naming);
  return {
    owner,
    kind: "PreviewEnvironment",
    names,
    namespace: names.namespace ?? "",
    spec: {
      ...kept,
      branch,
      environment: "preview",
      scaling: previewScaling,
      deletionPolicy: "Delete",
      ...(imageRef === undefined ? {} : { imageRef }),
    },
  };
}
