// An Application as the operator takes it: with its defaults, its names, and whatever is wrong with it.

import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { application, type ApplicationSpec } from "../kinds/application.ts";
import { objectReader } from "../kinds/read-object.ts";
import { budgetProblems } from "../names/budgets.ts";
import { hostOf, namesOf, type Named, type NamingOptions } from "../names/names.ts";

const read = objectReader(application);

export type ReadApplication =
  | { readonly app: App; readonly problems: readonly [] }
  | { readonly problems: readonly [string, ...string[]] };

/** Everything that is wrong with it, before anything is made for it. */
export function readApplication(given: DynamicObject, naming: NamingOptions): ReadApplication {
  const { object, problems } = read(given);
  const [first, ...others] = problems;
  if (first !== undefined) return { problems: [first, ...others] };
  const spec = object["spec"] as unknown as ApplicationSpec;
  if (spec.environment === "preview") {
    const message =
      "spec.environment: preview is for a PreviewEnvironment, which names its Application";
    return { problems: [message] };
  }
  const app = appOf(given, spec, naming);
  const [excess, ...more] = budgetProblems(app.names, spec);
  return excess === undefined ? { app, problems: [] } : { problems: [excess, ...more] };
}

/** The app of an object that is being deleted, whatever is wrong with it; undefined if it can never have been one. */
export function leavingApplication(given: DynamicObject, naming: NamingOptions): App | undefined {
  const spec = read(given).object["spec"] as unknown as ApplicationSpec;
  return spec.environment === "preview" ? undefined : appOf(given, spec, naming);
}

/** The host that it asks for, be it right or not. Whatever the object is, this does not throw: caches ask. */
export function hostOfApplication(
  object: DynamicObject,
  naming: NamingOptions,
): string | undefined {
  const spec = (object["spec"] ?? {}) as unknown as Partial<ApplicationSpec>;
  const { environment, domain } = spec;
  if (typeof environment !== "string" || environment === "preview") return undefined;
  const { name: app = "" } = object.metadata;
  if (domain === undefined) return hostOf({ app, environment }, naming);
  return typeof domain === "string" ? domain : undefined;
}

function appOf(
  { metadata: { uid = "", namespace = "", name = "" } }: DynamicObject,
  spec: ApplicationSpec,
  naming: NamingOptions,
): App {
  const { environment, domain, database } = spec;
  const named: Named = {
    app: name,
    environment,
    ...(domain === undefined ? {} : { domain }),
    ...(database?.schemaName === undefined ? {} : { schemaName: database.schemaName }),
  };
  return {
    kind: "Application",
    owner: { uid, namespace, name },
    names: namesOf(named, naming),
    spec,
    namespace,
  };
}
