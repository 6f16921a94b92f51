// Apps that log people in: a real Keycloak, a cluster for their ConfigMaps and the Secrets of providers.

import { createHash, randomBytes } from "node:crypto";
import {
  cleanupAuth,
  prepareAuth as prepareStep,
  RealmAdmin,
  reconcileAuth,
  type App,
  type AuthOutcome,
  type CallPoint,
  type Children,
  type RealmAdminOptions,
} from "@keelson/platform";
import { appWith, MemoryLedger, ownerless } from "@keelson/platform/testing";
import { Browser, type Page } from "./browser.ts";
import { sharedKeycloak, type KeycloakServer } from "./keycloak-server.ts";
import { prepareChildren } from "./children-bed.ts";

/** An app, and what outlives its operator. */
export interface Tenant {
  readonly app: App;
  readonly ledger: MemoryLedger;
}

/** A cluster, and the step in it. */
export interface ClusterBed extends AsyncDisposable {
  readonly children: Children;
  reconcile(tenant: Tenant, options: ReconcileOptions): Promise<AuthOutcome>;
  cleanup(tenant: Tenant, policy: "Delete" | "Retain", admin: RealmAdmin): Promise<void>;
  addNamespaces(...names: readonly string[]): Promise<void>;
  configMap(tenant: Tenant): Promise<Record<string, string> | undefined>;
  /** Writes the Secret of a provider. */
  secret(provider: string, values: Readonly<Record<string, string>>): Promise<void>;
}

export interface ReconcileOptions {
  readonly admin: RealmAdmin | undefined;
  readonly adopts?: boolean;
}

export interface AuthBed extends Omit<ClusterBed, "reconcile" | "cleanup"> {
  readonly keycloak: KeycloakServer;
  /** Another operator, or one that is disturbed. */
  admin(options?: Partial<RealmAdminOptions>): RealmAdmin;
  reconcile(tenant: Tenant, options?: Partial<ReconcileOptions>): Promise<AuthOutcome>;
  cleanup(tenant: Tenant, policy: "Delete" | "Retain", admin?: RealmAdmin): Promise<void>;
}

let count = 0;
const run = randomBytes(3).toString("hex");

/** An app that no other test has. A name given twice makes two objects of the same name. */
export function tenant(
  {
    name = `login-${run}-${++count}`,
    environment = "production",
    namespace = "default",
  }: {
    readonly name?: string;
    readonly environment?: "production" | "staging";
    readonly namespace?: string;
  } = {},
  spec: Partial<App["spec"]> = {},
): Tenant {
  const asked = { environment, auth: { enabled: true, providers: [] }, ...spec };
  const own = ownerless(appWith(asked, `0000-${++count}`, name));
  const app: App = { ...own, owner: { ...own.owner, namespace }, namespace };
  return { app, ledger: new MemoryLedger() };
}

/** The same app, asking for something else. */
export function changed({ app, ledger }: Tenant, spec: Partial<App["spec"]>): Tenant {
  return { app: { ...app, spec: { ...app.spec, ...spec } }, ledger };
}

export async function prepareAuth(signal: AbortSignal): Promise<AuthBed> {
  const keycloak = await sharedKeycloak();
  const bed = await prepareCluster(signal, keycloak.url);
  // Longer than an operator would wait: the machine may be busy.
  const admin = (options: Partial<RealmAdminOptions> = {}) =>
    new RealmAdmin({ access: keycloak.access, timeoutMs: 120_000, ...options });
  const usual = admin();
  return {
    ...bed,
    keycloak,
    admin,
    reconcile: (one, options) => bed.reconcile(one, { admin: usual, ...options }),
    cleanup: (one, policy, given = usual) => bed.cleanup(one, policy, given),
  };
}

export async function prepareCluster(signal: AbortSignal, publicUrl: string): Promise<ClusterBed> {
  await using setup = new AsyncDisposableStack();
  const { client, children } = setup.use(await prepareChildren(signal));
  const secrets = await client.resource({ apiVersion: "v1", kind: "Secret" }, signal);
  const configMaps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
  const settings = { publicUrl, operatorNamespace: "default" };
  const kept = setup.move();
  return {
    children,
    reconcile: async ({ app, ledger }, { admin, adopts = false }) => {
      const step = { admin, children, secrets, settings };
      const prepared = await prepareStep(step, { app }, signal);
      const outcome = await reconcileAuth(step, { app, ledger, adopts }, signal);
      return { ...outcome, wanted: [...prepared, ...outcome.wanted] };
    },
    cleanup: async ({ app, ledger }, policy, admin) => {
      await cleanupAuth({ admin, children }, { app, ledger, policy }, signal);
    },
    addNamespaces: async (...names) => {
      const kind = { apiVersion: "v1", kind: "Namespace" };
      const namespaces = await client.resource(kind, signal);
      for (const name of names)
        await namespaces.create({ ...kind, metadata: { name } }, {}, signal);
    },
    configMap: async ({ app }) => {
      const ref = { namespace: app.namespace, name: app.names.children.auth };
      const found = await configMaps.find(ref, signal);
      return found?.["data"] as Record<string, string> | undefined;
    },
    secret: async (provider, values) => {
      const data = Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
      );
      const metadata = { namespace: "default", name: `plattr-idp-${provider}` };
      const object = { apiVersion: "v1", kind: "Secret", metadata, data };
      await secrets.apply(object, { fieldManager: "test" }, signal);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Notes each call as it is sent. */
export function noting(calls: string[]): (point: CallPoint) => void {
  return ({ name, when }) => {
    if (when === "before") calls.push(name);
  };
}

/** A login as an app begins it, and what is needed to end it. */
export function loginUrl(
  issuer: string,
  {
    clientId,
    redirectUri,
    ...others
  }: {
    readonly clientId: string;
    readonly redirectUri: string;
    readonly [parameter: string]: string;
  },
): { readonly url: URL; readonly verifier: string } {
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL(`${issuer}/protocol/openid-connect/auth`);
  url.search = new URLSearchParams({
    response_type: "code",
    scope: "openid",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...others,
  }).toString();
  return { url, verifier };
}

/** Logs in with a password, and gives where the browser is sent then. */
export async function logIn(
  keycloak: KeycloakServer,
  url: URL,
  user: { readonly username: string; readonly password: string },
): Promise<Page> {
  const browser = new Browser(keycloak.url);
  const page = await browser.open(url);
  return await browser.submit(page, { ...user, credentialId: "" });
}

/** Somebody with everything that a profile needs. */
export async function addUser(
  { ask }: KeycloakServer,
  {
    realm,
    username,
    password,
  }: { readonly realm: string; readonly username: string; readonly password: string },
): Promise<void> {
  await ask("POST", `/${realm}/users`, {
    username,
    enabled: true,
    email: `${username}@example.com`,
    emailVerified: true,
    firstName: username,
    lastName: "Example",
    credentials: [{ type: "password", value: password, temporary: false }],
  });
}
