// A PreviewEnvironment as the operator takes it: with its defaults, and with what its parent makes of it.

import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { application, type ApplicationSpec } from "../kinds/application.ts";
import { previewEnvironment, type PreviewSpec } from "../kinds/preview-environment.ts";
import { objectReader } from "../kinds/read-object.ts";
import { budgetProblems } from "../names/budgets.ts";
import { namesOf, type Names, type NamingOptions } from "../names/names.ts";
import type { Owner } from "../ownership/owner.ts";
import { parentRef, previewApp } from "../previews/preview-app.ts";
import type { PhaseLabels } from "./metrics.ts";

const read = objectReader(previewEnvironment);
const readParent = objectReader(application);

type Problems = readonly [string, ...string[]];

export type ReadPreview = { readonly spec: PreviewSpec } | { readonly problems: Problems };

/** What it asks for by itself. */
export function readPreview(given: DynamicObject): ReadPreview {
  const { object, problems } = read(given);
  if (isSome(problems)) return { problems };
  return { spec: object["spec"] as unknown as PreviewSpec };
}

/** What it is as an app. Everything that is wrong is said before anything is made for it. */
export function appOfPreview(
  given: DynamicObject,
  { spec, parent }: { readonly spec: PreviewSpec; readonly parent: DynamicObject },
  naming: NamingOptions,
): { readonly app: App } | { readonly problems: Problems } {
  const { object, problems } = readParent(parent);
  if (isSome(problems)) {
    const [first, ...others] = problems;
    return { problems: [`its Application cannot be: ${first}`, ...others] };
  }
  const of = {
    name: parent.metadata.name ?? "",
    spec: object["spec"] as unknown as ApplicationSpec,
  };
  const app = previewApp({ owner: ownerOf(given), spec }, of, naming);
  const excess = budgetProblems(app.names, app.spec);
  return isSome(excess) ? { problems: excess } : { app };
}

/**
 * The app of one that is being deleted. Its parent may be gone, and what it has outside is in its ledger: so it asks
 * for nothing any more. Undefined if it can never have been one.
 */
export function leavingPreview(given: DynamicObject, naming: NamingOptions): App | undefined {
  if (namesOfPreview(given, naming) === undefined) return undefined;
  const nothing: ApplicationSpec = {
    repository: "",
    branch: "",
    framework: "docker",
    environment: "preview",
    scaling: { min: 1, max: 1, targetCPU: 80 },
    deletionPolicy: "Delete",
  };
  const spec = read(given).object["spec"] as unknown as PreviewSpec;
  const { name } = parentRef(spec, "");
  return previewApp({ owner: ownerOf(given), spec }, { name, spec: nothing }, naming);
}

/**
 * The names that it has whatever its parent says; undefined for what can never have been a preview. Whatever the object is,
 * this does not throw: caches ask.
 */
export function namesOfPreview(given: DynamicObject, naming: NamingOptions): Names | undefined {
  const { applicationRef, pullRequest } = (given["spec"] ?? {}) as unknown as Partial<PreviewSpec>;
  if (typeof applicationRef !== "string" || typeof pullRequest !== "number") return undefined;
  const { name: app } = parentRef({ applicationRef }, "");
  return namesOf({ app, environment: "preview", pullRequest }, naming);
}

export function phaseLabelsOfPreview(given: DynamicObject, naming: NamingOptions): PhaseLabels {
  const { namespace = "", name = "" } = given.metadata;
  return { namespace, app: namesOfPreview(given, naming)?.name ?? name, environment: "preview" };
}

function ownerOf({ metadata: { uid = "", namespace = "", name = "" } }: DynamicObject): Owner {
  return { uid, namespace, name };
}

function isSome(problems: readonly string[]): problems is Problems {
  return problems.length > 0;
}
