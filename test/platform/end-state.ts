// What an app came to, in all that an operator writes to, without what chance decides: equal for two that were made alike.

import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { stateOf } from "@keelson/platform/testing";
import { sharedKeycloak } from "./keycloak-server.ts";
import { seenIn, type OperatorBed } from "./operator-bed.ts";
import { sharedS3 } from "./s3-server.ts";

/** Where to look for it. */
export interface Whereabouts {
  readonly app: string;
  /** The object that asks for it; undefined if it is gone. */
  readonly object: DynamicObject | undefined;
  /** Where its children are. */
  readonly namespace: string;
  readonly schema: string;
  readonly realm: string;
  readonly client: string;
}

const childKinds: readonly (readonly [apiVersion: string, kind: string])[] = [
  ["v1", "Secret"],
  ["v1", "ConfigMap"],
  ["v1", "Service"],
  ["v1", "ServiceAccount"],
  ["v1", "ResourceQuota"],
  ["apps/v1", "Deployment"],
  ["batch/v1", "Job"],
  ["networking.k8s.io/v1", "Ingress"],
  ["networking.k8s.io/v1", "NetworkPolicy"],
  ["autoscaling/v2", "HorizontalPodAutoscaler"],
];

export async function endStateOf(
  bed: OperatorBed,
  where: Whereabouts,
  signal: AbortSignal,
): Promise<unknown> {
  const { app, object, schema } = where;
  const seen = object === undefined ? undefined : seenIn(object);
  const state = {
    conditions: seen?.conditions.toSorted(),
    messages: seen?.messages,
    owned: seen?.owned.toSorted(),
    url: seen?.url,
    finalizers: object?.metadata.finalizers,
    children: await childrenIn(bed, where, signal),
    tables: await tablesOf(bed, where),
    buckets: bed.settings.storage === undefined ? [] : await bucketsOf(app),
    realm: bed.settings.auth.access === undefined ? undefined : await realmOf(where),
    catalog: await stateOf(bed.database, {
      schema,
      appRole: `${schema}_app`,
      anonRole: `${schema}_anon`,
    }),
  };
  const uid = object?.metadata.uid ?? "<uid>";
  const keys = await bed.settings.storage?.keys?.();
  return JSON.parse(
    JSON.stringify(state)
      .replaceAll(uid, "<uid>")
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<another>")
      .replaceAll(/[0-9a-f]{64}|[0-9a-f]{32}/g, "<password or digest>")
      .replaceAll(/has its (pod|\d+ pods) ready/g, "has its pods ready") // The autoscaler comes when it likes.
      .replaceAll(bed.database.adminName, "<admin>")
      .replaceAll(bed.database.name, "<database>")
      .replaceAll(keys?.accessKeyId ?? "<key>", "<key>")
      .replaceAll(app, "<app>")
      .replaceAll(app.replaceAll("-", "_"), "<app_>")
      .replaceAll(app.replaceAll("-", "_").toUpperCase(), "<APP_>"),
  ) as unknown;
}

/** What they say, but for what the cluster gives them. */
async function childrenIn(
  bed: OperatorBed,
  { app, namespace }: Whereabouts,
  signal: AbortSignal,
): Promise<unknown> {
  const children: unknown[] = [];
  for (const [apiVersion, kind] of childKinds) {
    const labelSelector = "platform.internal/managed-by=plattr-operator";
    const resource = await bed.resource({ apiVersion, kind });
    const { items } = await resource.list({ namespace, labelSelector }, signal);
    const its = items.filter(
      ({ metadata: { name = "" } }) => name.includes(app) || namespace.includes(app),
    );
    children.push(...its.map((item) => ({ kind, ...contentOf(item) })));
  }
  return children;
}

const given = new Set(["clusterIP", "clusterIPs", "nodePort", "replicas"]);

function contentOf({ metadata, status: _status, ...rest }: DynamicObject): JsonObject {
  const { name = "", labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const { "deployment.kubernetes.io/revision": _revision, ...kept } = annotations;
  const { data, ...content } = rest as JsonObject;
  const owners = ownerReferences.map(({ kind, name, uid }) => ({ kind, name, uid }));
  const clear = rest["type"] === "Opaque" ? decoded(data as Record<string, string>) : data;
  const all = { name, labels, annotations: kept, owners, data: clear ?? null, ...content };
  return JSON.parse(
    JSON.stringify(all, (key, value: unknown) => (given.has(key) ? undefined : value)),
  ) as JsonObject;
}

function decoded(data: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}

/** Whether its Secret lets it in, and what it finds there. */
async function tablesOf(bed: OperatorBed, where: Whereabouts): Promise<unknown> {
  const url = await urlOf(bed, where);
  if (url === undefined) return undefined;
  return await bed.database.queryAs(
    url,
    `SELECT tablename, tableowner FROM pg_tables WHERE schemaname = '${where.schema}'`,
  );
}

/** What it logs in with. */
export async function urlOf(
  bed: OperatorBed,
  { client, namespace }: Pick<Whereabouts, "client" | "namespace">,
): Promise<string | undefined> {
  return (await bed.secret(`${client}-db`, namespace))?.["DATABASE_URL"];
}

async function bucketsOf(app: string): Promise<unknown> {
  const server = await sharedS3();
  const s3 = server.clientOf(server.root);
  try {
    const names = (await server.buckets()).filter((bucket) => bucket.includes(`-${app}-`));
    return await Promise.all(
      names.map(async (Bucket) => ({
        Bucket,
        // In an order of their own, another each time.
        tags: await s3
          .getBucketTagging({ Bucket })
          .then(
            ({ TagSet = [] }) => TagSet.map(({ Key, Value }) => `${Key}=${Value}`).toSorted(),
            nameOf,
          ),
        cors: await s3.getBucketCors({ Bucket }).then(({ CORSRules }) => CORSRules, nameOf),
        policy: await s3.getBucketPolicy({ Bucket }).then(({ Policy }) => Policy, nameOf),
      })),
    );
  } finally {
    s3.destroy();
  }
}

function nameOf(error: unknown): string {
  return (error as Error).name;
}

async function realmOf({ realm, client }: Whereabouts): Promise<unknown> {
  const { ask } = await sharedKeycloak();
  const found = await ask<{ enabled: boolean; attributes: object }>("GET", `/${realm}`);
  if (found === undefined) return undefined;
  const [its] = (await ask<JsonObject[]>("GET", `/${realm}/clients?clientId=${client}`)) ?? [];
  const providers = await ask<JsonObject[]>("GET", `/${realm}/identity-provider/instances`);
  const { enabled, attributes } = found;
  return { enabled, attributes, client: inOrder(its), providers };
}

/** Keycloak has no order for what it lists. */
function inOrder(client: JsonObject | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(client ?? {}).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map(String).toSorted() : value,
    ]),
  );
}
