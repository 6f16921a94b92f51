// The login of an app: its realm in Keycloak with a client and providers, and the ConfigMap that says where that is.

import type { DynamicObject, ObjectRef } from "@keelson/client";
import { originsOf, type App } from "../app.ts";
import type { Children } from "../children/children.ts";
import type { RealmAdmin } from "../keycloak/realm-admin.ts";
import { providerSecretName } from "../names/names.ts";
import type { Ledger } from "../ownership/ledger.ts";
import type { Finding } from "../status/conditions.ts";
import { readProvider } from "./auth-providers.ts";
import { applyConfigMap, removeConfigMap } from "./config-map.ts";
import type { CleanupOutcome, CleanupWork } from "./step.ts";
import { StepError } from "./step-error.ts";

export interface AuthSettings {
  /** Where browsers find Keycloak. */
  readonly publicUrl: string;
  /** Where the Secrets of the providers are. */
  readonly operatorNamespace: string;
}

export interface AuthStep {
  /** Left out: no Keycloak is configured. */
  readonly admin: RealmAdmin | undefined;
  readonly children: Pick<Children, "apply" | "find" | "remove">;
  /** Of the operator's namespace. */
  readonly secrets: {
    find(ref: ObjectRef, signal: AbortSignal): Promise<DynamicObject | undefined>;
  };
  readonly settings: AuthSettings;
}

export interface AuthOutcome {
  /** What had to be done in Keycloak, by the names of its calls. */
  readonly changes: readonly string[];
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
  /** Where not everything that was asked for is there, and the app can do without. */
  readonly finding?: Finding;
}

const settingNames = "KEYCLOAK_ADMIN_URL, KEYCLOAK_ADMIN_USER and KEYCLOAK_ADMIN_PASSWORD";

/** The ConfigMap, which needs no Keycloak: with it the workload can start. */
export async function prepareAuth(
  { children, settings }: Pick<AuthStep, "children" | "settings">,
  { app }: { readonly app: App },
  signal: AbortSignal,
): Promise<readonly DynamicObject[]> {
  const { names } = app;
  const variables = {
    AUTH_ISSUER_URL: `${settings.publicUrl.replace(/\/+$/, "")}/realms/${names.realm}`,
    AUTH_CLIENT_ID: names.client,
  };
  const name = names.children.auth;
  return [await applyConfigMap(children, { app, name, variables }, signal)];
}

/** Throws a `StepError` for what cannot be done now. */
export async function reconcileAuth(
  { admin, secrets, settings }: AuthStep,
  { app, ledger, adopts }: { readonly app: App; readonly ledger: Ledger; readonly adopts: boolean },
  signal: AbortSignal,
): Promise<AuthOutcome> {
  const { names, owner, spec } = app;
  if (admin === undefined) {
    throw new StepError("NotConfigured", `no Keycloak is configured: set ${settingNames}`);
  }

  const namespace = settings.operatorNamespace;
  const providers = spec.auth?.providers ?? [];
  const read = await Promise.all(
    providers.map(async (provider) => {
      const ref = { namespace, name: providerSecretName(provider) };
      return readProvider(provider, { secret: await secrets.find(ref, signal), namespace });
    }),
  );
  const changes = await admin.ensure(
    {
      names,
      owner,
      ledger,
      adopts,
      providers,
      sources: read.filter((one) => typeof one !== "string"),
      policy: spec.deletionPolicy,
      urls: { redirectUris: [`https://${names.domain}/*`], webOrigins: originsOf(app) },
    },
    signal,
  );
  const missing = read.filter((one) => typeof one === "string");
  return {
    changes,
    wanted: [],
    ...(missing.length === 0 ? {} : { finding: notConfigured(missing) }),
  };
}

/** Takes the realm away, or keeps it, by the policy; of an app that never had one Keycloak is not asked. */
export async function cleanupAuth(
  { admin, children }: Pick<AuthStep, "admin" | "children">,
  { app, ledger, policy, read }: CleanupWork,
  signal: AbortSignal,
): Promise<CleanupOutcome> {
  const { auth: name } = app.names.children;
  // Before the ledger forgets: from then on nothing would bring us back to it.
  if (read?.has(`ConfigMap ${name}`) !== true) {
    await removeConfigMap(children, { app, name }, signal);
  }
  const realms = ledger.all("Realm");
  if (realms.length === 0) return {};
  if (admin === undefined) {
    const what = realms.map(({ name }) => `realm ${name}`).join(", ");
    const message = `${what} cannot be removed: no Keycloak is configured, set ${settingNames}`;
    throw new StepError("NotConfigured", message);
  }
  const { owner } = app;
  if (policy === "Retain") await admin.retain({ owner, ledger }, signal);
  else await admin.remove({ owner, ledger }, signal);
  return {};
}

function notConfigured(missing: readonly string[]): Finding {
  return {
    status: "True",
    reason: "ProviderNotConfigured",
    message: `not every provider is configured: ${missing.join("; ")}`,
  };
}
