// Lives that an operator may be ended in, stage by stage: of an app, of a preview, of an app with a login, and of one whose
// things are kept and taken over.

import type { JsonObject } from "@keelson/base";
import type { DynamicObject, ObjectKind } from "@keelson/client";
import { isOracle } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { endStateOf, urlOf, type Whereabouts } from "./end-state.ts";
import { withoutKeycloak } from "./keycloak-server.ts";
import { applications, namespace, seenIn, type OperatorBed } from "./operator-bed.ts";
import { sharedS3, withoutS3 } from "./s3-server.ts";

const hasLogin = withoutKeycloak === false;
export const hasStorage = withoutS3 === false;
/** A real Kubernetes has no controller of Ingresses. */
const givesAddresses = !isOracle;

/** One app, in one life. */
export interface Subject {
  readonly bed: OperatorBed;
  readonly app: string;
  readonly signal: AbortSignal;
}

export interface Stage {
  readonly name: string;
  /** Asks for something. */
  readonly begin: (subject: Subject) => Promise<unknown>;
  /** Whether the object is gone at its end; else it runs. */
  readonly isEnd?: boolean;
  /** Whether lives that are disturbed elsewhere do without it. */
  readonly isExtra?: boolean;
  /** The operator is not ended in it: another life has the same. */
  readonly isSafe?: boolean;
  /** Whether the object may also be deleted while nobody is there. */
  readonly isAbandonable?: boolean;
}

export interface Life {
  readonly name: string;
  /** What the object is, and where it leads to. */
  readonly kind: ObjectKind;
  readonly stages: readonly Stage[];
  readonly hasLogin: boolean;
  readonly where: (app: string) => Omit<Whereabouts, "object">;
  /** What must be there before, and is not ours; undone when it is disposed of. */
  readonly prepare?: (subject: Subject) => Promise<AsyncDisposable>;
}

const previewKind = { ...applications, kind: "PreviewEnvironment" };
const secretKind = { apiVersion: "v1", kind: "Secret" };
/** By somebody else's hand: it stays while it is being deleted. */
const held = { finalizers: ["example.com/held"] };
const adopting = { annotations: { "platform.internal/adopt": "true" } };

const image = "registry.example.com/shop:1";
const storageOf = (bucket: JsonObject): JsonObject =>
  hasStorage ? { storage: { enabled: true, buckets: [bucket] } } : {};

/** Everything but a login: Keycloak takes its time, and the steps do not know each other. */
const created = {
  imageRef: image,
  database: { enabled: true },
  redis: { enabled: true },
  search: { enabled: true },
  envVars: [{ name: "A", value: "1" }],
  ...storageOf({ name: "up" }),
};
/** Another image, another host, another bucket instead of the first, and no search. */
const changed = {
  imageRef: "registry.example.com/shop:2",
  database: { enabled: true },
  redis: { enabled: true },
  ...storageOf({ name: "down", public: true }),
  scaling: { min: 3, max: 4, targetCPU: 50 },
  domain: "shop.example.org",
};
const login = { imageRef: image, auth: { enabled: true, providers: ["google"] } };
const otherLogin = { imageRef: image, auth: { enabled: true }, domain: "login.example.org" };
const everything = { ...created, ...(hasLogin ? { auth: { enabled: true } } : {}) };

const ofApp = (app: string): Omit<Whereabouts, "object"> => ({
  app,
  namespace,
  schema: `prod_${app.replaceAll("-", "_")}`,
  realm: app,
  client: app,
});

const ofPreview = (app: string): Omit<Whereabouts, "object"> => ({
  app,
  namespace: `preview-${app}-pr-42`,
  schema: `${app.replaceAll("-", "_")}_pr42`,
  realm: `${app}-pr42-preview`,
  client: `${app}-pr42`,
});

const appLife: Life = {
  name: "an app",
  hasLogin: false,
  kind: applications,
  where: ofApp,
  stages: [
    { name: "create", isAbandonable: true, begin: ({ bed, app }) => bed.apply(app, created) },
    {
      name: "update",
      isExtra: true,
      begin: async (subject) => {
        await fill(appLife, subject);
        await subject.bed.apply(subject.app, changed);
      },
    },
    {
      name: "delete",
      isEnd: true,
      begin: async (subject) => {
        await fill(appLife, subject);
        await subject.bed.delete(subject.app);
      },
    },
  ],
};

const loginLife: Life = {
  name: "an app with a login",
  hasLogin: true,
  kind: applications,
  where: ofApp,
  stages: [
    { name: "create", isAbandonable: true, begin: ({ bed, app }) => bed.apply(app, login) },
    { name: "update", isExtra: true, begin: ({ bed, app }) => bed.apply(app, otherLogin) },
    { name: "delete", isEnd: true, begin: ({ bed, app }) => bed.delete(app) },
  ],
};

const keptLife: Life = {
  name: "an app whose things are kept",
  hasLogin,
  kind: applications,
  where: ofApp,
  stages: [
    {
      name: "create",
      isSafe: true,
      begin: ({ bed, app }) => bed.apply(app, { ...everything, deletionPolicy: "Retain" }),
    },
    {
      name: "retain",
      isEnd: true,
      begin: async (subject) => {
        await fill(keptLife, subject);
        await subject.bed.delete(subject.app);
      },
    },
    { name: "adopt", begin: ({ bed, app }) => bed.apply(app, everything, adopting) },
    { name: "delete", isEnd: true, isSafe: true, begin: ({ bed, app }) => bed.delete(app) },
  ],
};

const previewLife: Life = {
  name: "a preview",
  hasLogin: false,
  kind: previewKind,
  where: ofPreview,
  prepare: parentOfPreview,
  stages: [
    {
      name: "create",
      isAbandonable: true,
      begin: async ({ bed, app, signal }) => {
        const spec = { applicationRef: app, pullRequest: 42, branch: "fix", ttl: "2h" };
        const preview = { ...previewKind, metadata: { name: app, namespace }, spec };
        await (await bed.resource(previewKind)).create(preview, {}, signal);
      },
    },
    {
      name: "update",
      isExtra: true,
      begin: async (subject) => {
        const { bed, app, signal } = subject;
        await fill(previewLife, subject);
        await bed.apply(app, { ...changed, envVars: [fromSecret("two", app)] }, held);
        const body = { spec: { imageRef: "registry.example.com/shop:pr42" } };
        const previews = await bed.resource(previewKind);
        await previews.patch({ namespace, name: app }, { type: "merge", body }, signal);
      },
    },
    {
      name: "delete",
      isEnd: true,
      begin: async (subject) => {
        await fill(previewLife, subject);
        await remove(previewLife, subject);
      },
    },
  ],
};

export const lives: readonly Life[] = [
  appLife,
  previewLife,
  ...(hasLogin ? [loginLife] : []),
  keptLife,
];

/** Secrets of providers, which all apps share. */
export async function prepareProviders(bed: OperatorBed, signal: AbortSignal): Promise<void> {
  const stringData = { clientId: "g-1", clientSecret: "google-secret" };
  const google = { ...secretKind, metadata: { name: "plattr-idp-google", namespace }, stringData };
  await (await bed.resource(secretKind)).create(google, {}, signal);
}

export async function find(
  { kind }: Life,
  { bed, app }: Subject,
): Promise<DynamicObject | undefined> {
  return await bed.find(kind, app);
}

export async function remove({ kind }: Life, { bed, app, signal }: Subject): Promise<void> {
  await (await bed.resource(kind)).delete({ namespace, name: app }, signal);
}

/** Waits until what a stage has asked for is done. */
export async function untilOver(
  life: Life,
  { isEnd = false }: Pick<Stage, "isEnd">,
  subject: Subject,
): Promise<void> {
  let last: DynamicObject | undefined;
  try {
    await until(async () => {
      last = await find(life, subject);
      if (last === undefined || isEnd) return isEnd && last === undefined;
      const { phase, observedGeneration, conditions } = seenIn(last);
      // It runs without an address too, which comes later; or never, where nobody gives any.
      const expected = conditions.filter(
        (one) => givesAddresses || !one.startsWith("IngressReady"),
      );
      const isKnown = expected.every((condition) => condition.split(" ")[1] === "True");
      return phase === "Running" && isKnown && observedGeneration === last.metadata.generation;
    }, subject.signal);
  } catch (error) {
    const { phase, messages, owned } = last === undefined ? {} : seenIn(last);
    const said = JSON.stringify({ phase, messages, owned });
    throw new Error(`${subject.app} was last seen as ${said}`, { cause: error });
  }
}

export async function endOf(life: Life, subject: Subject): Promise<unknown> {
  const { bed, app, signal } = subject;
  const object = await find(life, subject);
  return await endStateOf(bed, { ...life.where(app), object }, signal);
}

/** A table in its schema and an object in its bucket: what must survive a change, and go with the app. */
async function fill(life: Life, { bed, app }: Subject): Promise<void> {
  const where = life.where(app);
  const url = (await urlOf(bed, where)) ?? "";
  await bed.database.queryAs(url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 7 AS seven");
  if (!hasStorage) return;
  const server = await sharedS3();
  const s3 = server.clientOf(server.root);
  const bucket = (await server.buckets()).find((name) => name.includes(`-${where.client}-`));
  await s3.putObject({ Bucket: bucket ?? "", Key: "kept", Body: "kept" });
  s3.destroy();
}

function fromSecret(name: string, app: string): JsonObject {
  return { name: "SHARED", secretKeyRef: { name: `${app}-${name}`, key: "key" } };
}

/**
 * An Application that is being deleted and that somebody else's finalizer holds: nothing is asked of the operator for it, and
 * previews have their parent. And the Secrets that are shared with them.
 */
async function parentOfPreview({ bed, app, signal }: Subject): Promise<AsyncDisposable> {
  const secrets = await bed.resource(secretKind);
  const names = ["one", "two"].map((name) => `${app}-${name}`);
  for (const name of names) {
    const labels = { "platform.internal/preview": "true" };
    const secret = { ...secretKind, metadata: { name, namespace, labels } };
    await secrets.create({ ...secret, stringData: { key: name } }, {}, signal);
  }
  const spec = { ...created, envVars: [fromSecret("one", app)] };
  await bed.apply(app, spec, held);
  await bed.delete(app);
  return {
    [Symbol.asyncDispose]: async () => {
      const uncancelled = new AbortController().signal; // Also after a life that took too long.
      await bed.patchApplication(app, { metadata: { finalizers: null } });
      for (const name of names) await secrets.delete({ namespace, name }, uncancelled);
    },
  };
}
