// An app as steps see it: an Application, or the Application that a preview makes of its parent.

import type { ApplicationSpec } from "./kinds/application.ts";
import type { Names } from "./names/names.ts";
import type { Owner } from "./ownership/owner.ts";

export interface App {
  /** Of the object that asks for it. */
  readonly owner: Owner;
  readonly kind: "Application" | "PreviewEnvironment";
  readonly names: Names;
  /** With its defaults; for a preview with what a preview makes of it. */
  readonly spec: ApplicationSpec;
  /** Where its children live: that of the object, or the preview's own. */
  readonly namespace: string;
}

/** The origins from which browsers may come. */
export function originsOf({ names, spec }: Pick<App, "names" | "spec">): string[] {
  return [...new Set([`https://${names.domain}`, ...(spec.cors?.origins ?? [])])];
}

export function hasDatabase({ spec }: Pick<App, "spec">): boolean {
  return spec.database?.enabled === true;
}
