// The buckets of an app, what it is told of them, and the keys with which it uses them.

import type { DynamicObject, ObjectRef } from "@keelson/client";

import { originsOf, type App } from "../app.ts";
import { childOf, configMapKind, secretKind } from "../children/child.ts";
import type { Children } from "../children/children.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import type { Ledger } from "../ownership/ledger.ts";
import type { BucketAdmin } from "../s3/bucket-admin.ts";
import type { Finding } from "../status/conditions.ts";
import { applyConfigMap } from "./config-map.ts";
import { storageVariables, type StoreSettings } from "./storage-variables.ts";
import type { CleanupOutcome, CleanupWork, Policy } from "./step.ts";
import { StepError } from "./step-error.ts";

/** What the step needs of the cluster. */
export type StorageChildren = Pick<Children, "apply" | "find" | "remove">;

export interface StorageSettings extends StoreSettings {
  /** Pods have a role of the cloud, and need no keys. */
  readonly appRoleArnTemplate?: string | undefined;
  /** The Secret with the keys of apps, and where it is. */
  readonly appS3Secret?: string | undefined;
  readonly operatorNamespace: string;
}

export interface StorageStep {
  /** Left out: no object storage is configured. */
  readonly admin: BucketAdmin | undefined;
  readonly children: StorageChildren;
  readonly settings: StorageSettings;
  /** Of the operator's namespace. */
  readonly secrets: {
    find(ref: ObjectRef, signal: AbortSignal): Promise<DynamicObject | undefined>;
  };
}

export interface StorageOutcome {
  /** What had to be done in the store, by the names of its calls. */
  readonly changes: readonly string[];
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
  readonly finding?: Finding;
  /** A bucket that is no longer wanted has more in it than was deleted now: how far that got. */
  readonly left?: string;
}

/** On the ConfigMap, by their names in the spec: the buckets that it does not name, since they are somebody else's. */
const contestedAnnotation = `${platformGroup}/contested`;

/** What the app is told, and its keys. Both need nothing of the store: the app can start while that is away. */
export async function prepareStorage(
  step: StorageStep,
  { app, ledger }: { readonly app: App; readonly ledger: Ledger },
  signal: AbortSignal,
): Promise<readonly DynamicObject[]> {
  const { admin, children } = step;
  if (admin === undefined) throw notConfigured();
  const wanted = [await tellOfBuckets(step, { app, ledger, contested: [] }, signal)];
  const keys = await keysOf(app, step, signal);
  if (keys !== undefined) wanted.push(await children.apply(app, keys, signal));
  return wanted;
}

/** Throws a `StepError` for what cannot be done now. */
export async function reconcileStorage(
  step: StorageStep,
  { app, ledger, adopts }: { readonly app: App; readonly ledger: Ledger; readonly adopts: boolean },
  signal: AbortSignal,
): Promise<StorageOutcome> {
  const { admin, settings } = step;
  if (admin === undefined) throw notConfigured();
  const ensured = await ensureBuckets(admin, { app, ledger, adopts }, signal);
  const { changes, conflicts, failure } = ensured;
  await tellOfBuckets(step, { app, ledger, contested: [...conflicts.keys()] }, signal);
  if (failure !== undefined) throw failure;
  const names = new Set(bucketsOf(app).map(({ bucket }) => bucket));
  const leaving = ledger
    .all("Bucket")
    .map(({ name }) => name)
    .filter((name) => !names.has(name));
  const policy = app.spec.deletionPolicy;
  const left = await leave(admin, leaving, { app, ledger, policy }, signal);
  // Last: it may stand for long, and what the app has done with goes all the same.
  if (conflicts.size > 0) throw new StepError("Conflict", [...conflicts.values()].join("; "));
  const outcome = { changes, wanted: [] };
  if (left !== undefined) {
    return { ...outcome, left, finding: { status: "True", reason: "Emptying", message: left } };
  }
  const finding = keylessFinding(app, settings);
  return finding === undefined ? outcome : { ...outcome, finding };
}

function notConfigured(): StepError {
  const message =
    "no object storage is configured: set AWS_REGION, or AWS_ENDPOINT_URL for a store other than AWS";
  return new StepError("NotConfigured", message);
}

/**
 * Takes the buckets away, or keeps them, by the policy; of an app that never had one no store is asked. A bucket with
 * much in it takes several calls: `left` says how far this one got.
 */
export async function cleanupStorage(
  { admin, children }: Pick<StorageStep, "admin" | "children">,
  { app, ledger, policy, read }: CleanupWork,
  signal: AbortSignal,
): Promise<CleanupOutcome> {
  const buckets = ledger.all("Bucket").map(({ name }) => name);
  const { storage, storageKeys } = app.names.children;
  for (const ref of [
    { ...configMapKind, name: storage },
    { ...secretKind, name: storageKeys },
  ]) {
    if (read?.has(`${ref.kind} ${ref.name}`) === true) continue;
    // An app without buckets has them, too; one that never asked for storage costs no request.
    const isThere = buckets.length > 0 || (await children.find(app, ref, signal)) !== undefined;
    if (isThere) await children.remove(app, ref, signal);
  }
  if (buckets.length === 0) return {};
  if (admin === undefined) {
    const message = `bucket ${buckets.join(", ")} cannot be removed: no object storage is configured, set AWS_REGION or AWS_ENDPOINT_URL`;
    throw new StepError("NotConfigured", message);
  }
  const left = await leave(admin, buckets, { app, ledger, policy }, signal);
  return left === undefined ? {} : { left };
}

/**
 * Makes the ConfigMap. A bucket that is somebody else's is not named there: the keys of apps may open it all the same. Nor is
 * one that was so when somebody last looked, until it is seen to be the app's.
 */
async function tellOfBuckets(
  { children, settings }: Pick<StorageStep, "children" | "settings">,
  {
    app,
    ledger,
    contested,
  }: { readonly app: App; readonly ledger: Ledger; readonly contested: readonly string[] },
  signal: AbortSignal,
): Promise<DynamicObject> {
  const { names, spec } = app;
  const { storage: name } = names.children;
  const seen = await children.find(app, { ...configMapKind, name }, signal);
  const before = seen?.metadata.annotations?.[contestedAnnotation]?.split(",") ?? [];
  const others = new Set([...before, ...contested]);
  const buckets = spec.storage?.buckets ?? [];
  const left = buckets
    .map((bucket) => bucket.name)
    // What was the app's once stays so, whoever has changed its tags.
    .filter((one) => others.has(one) && !isMarked(ledger.stateOf("Bucket", names.bucket(one))));
  const named = buckets.filter((bucket) => !left.includes(bucket.name));
  const told = { names, spec: { ...spec, storage: { enabled: true, buckets: named } } };
  const variables = storageVariables(told, settings);
  const annotations = left.length === 0 ? {} : { [contestedAnnotation]: left.join(",") };
  return await applyConfigMap(children, { app, name, variables, annotations }, signal);
}

/** Whether a bucket of this state has had the app's mark. */
function isMarked(state: ReturnType<Ledger["stateOf"]>): boolean {
  return state !== undefined && state !== "Creating";
}

function bucketsOf({ spec, names }: App) {
  return (spec.storage?.buckets ?? []).map(({ name, public: isPublic }) => ({
    name,
    bucket: names.bucket(name),
    isPublic,
  }));
}

/** What became of an app's buckets: with a failure, those after it were not looked at. */
interface Ensured {
  readonly changes: readonly string[];
  /** Whose they are instead, by their names in the spec. */
  readonly conflicts: ReadonlyMap<string, string>;
  readonly failure?: Error;
}

/** One that is somebody else's keeps nobody from the others; a store that is away would keep us waiting at each. */
async function ensureBuckets(
  admin: BucketAdmin,
  { app, ledger, adopts }: { readonly app: App; readonly ledger: Ledger; readonly adopts: boolean },
  signal: AbortSignal,
): Promise<Ensured> {
  const { owner } = app;
  const origins = originsOf(app);
  const changes: string[] = [];
  const conflicts = new Map<string, string>();
  for (const { name, ...bucket } of bucketsOf(app)) {
    try {
      changes.push(...(await admin.ensure({ ...bucket, origins, owner, ledger, adopts }, signal)));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const isConflict = error instanceof StepError && error.reason === "Conflict";
      if (!isConflict) return { changes, conflicts, failure: error };
      conflicts.set(name, error.message);
    }
  }
  return { changes, conflicts };
}

async function leave(
  admin: BucketAdmin,
  buckets: readonly string[],
  { app, ledger, policy }: { readonly app: App; readonly ledger: Ledger; readonly policy: Policy },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { owner } = app;
  for (const bucket of buckets) {
    if (policy === "Delete") {
      const left = await admin.remove({ bucket, owner, ledger }, signal);
      if (left !== undefined) return left;
    } else if (ledger.stateOf("Bucket", bucket) !== "Retained") {
      await admin.retain({ bucket, owner, ledger }, signal);
    }
  }
  return undefined;
}

/** The app's own Secret with keys, made of the operator's; undefined where pods have a role, or no keys are configured. */
async function keysOf(
  app: App,
  { settings, secrets }: Pick<StorageStep, "settings" | "secrets">,
  signal: AbortSignal,
): Promise<DynamicObject | undefined> {
  const { appRoleArnTemplate, appS3Secret, endpoint } = settings;
  if (appRoleArnTemplate !== undefined) return undefined;
  if (appS3Secret === undefined) {
    if (endpoint === undefined || bucketsOf(app).length === 0) return undefined;
    const message =
      "no keys are configured with which apps use their buckets: set APP_S3_SECRET to the name of a Secret with S3_ACCESS_KEY and S3_SECRET_KEY";
    throw new StepError("NotConfigured", message);
  }
  const ref = { namespace: settings.operatorNamespace, name: appS3Secret };
  const { data = {} } = ((await secrets.find(ref, signal)) ?? {}) as {
    readonly data?: Readonly<Record<string, string>>;
  };
  const { S3_ACCESS_KEY, S3_SECRET_KEY } = data;
  if (!S3_ACCESS_KEY || !S3_SECRET_KEY) {
    const message = `Secret ${ref.namespace}/${ref.name} (APP_S3_SECRET) is missing, or lacks S3_ACCESS_KEY or S3_SECRET_KEY`;
    throw new StepError("NotConfigured", message);
  }
  return childOf(app, {
    ...secretKind,
    name: app.names.children.storageKeys,
    content: { type: "Opaque", data: { S3_ACCESS_KEY, S3_SECRET_KEY } },
  });
}

/** On AWS a pod may have a role that we know nothing of; that is said, and no reason to fail. */
function keylessFinding(
  app: App,
  { appRoleArnTemplate, appS3Secret }: StorageSettings,
): Finding | undefined {
  const isKeyless = appRoleArnTemplate === undefined && appS3Secret === undefined;
  if (!isKeyless || bucketsOf(app).length === 0) return undefined;
  return {
    status: "True",
    reason: "NoCredentials",
    message:
      "pods get neither a role nor keys for their buckets: set APP_ROLE_ARN_TEMPLATE or APP_S3_SECRET, unless they have a role already",
  };
}
