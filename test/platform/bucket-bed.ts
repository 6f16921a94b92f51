// An account of a real S3 server with apps that want buckets there.

import type { S3 } from "@aws-sdk/client-s3";
import { BucketAdmin, namesOf, type App, type BucketAdminOptions } from "@keelson/platform";
import { MemoryLedger } from "@keelson/platform/testing";
import { sharedS3, type Account, type Role, type S3Server } from "./s3-server.ts";

export interface BucketBed extends Disposable {
  readonly server: S3Server;
  readonly account: Account;
  /** What the account sees, whoever made it. */
  readonly client: S3;
  readonly admin: (options?: Partial<BucketAdminOptions>) => BucketAdmin;
  /** An admin that notes its calls, as they are sent. */
  readonly noting: (calls: string[]) => BucketAdmin;
}

export async function prepareBuckets(
  given: { readonly role?: Role; readonly server?: S3Server } = {},
): Promise<BucketBed> {
  using setup = new DisposableStack();
  const { role = "admin", server = await sharedS3() } = given;
  const account = await server.createAccount(role);
  const client = setup.adopt(server.clientOf(account), (one) => one.destroy());
  const kept = setup.move();
  const { region, endpoint } = server;
  const keys = () => Promise.resolve(account);
  // A busy machine is no store that is away.
  const usual = { region, endpoint, keys, timeoutMs: 120_000 };
  const admin = (options: Partial<BucketAdminOptions> = {}): BucketAdmin =>
    kept.use(new BucketAdmin({ ...usual, ...options }));
  return {
    server,
    account,
    client,
    admin,
    noting: (calls) =>
      admin({
        onCall: ({ name, when }) => {
          if (when === "before") calls.push(name);
        },
      }),
    [Symbol.dispose]: () => kept.dispose(),
  };
}

let count = 0;

/** A bucket that nobody else has, wanted by an app that nobody else is. */
export function wantedBucket(
  change: { readonly isPublic?: boolean; readonly origins?: readonly string[] } = {},
  name = `shop-${process.pid}-${++count}`,
) {
  const names = namesOf(
    { app: name, environment: "production" },
    { baseDomain: "example.com", previewHosts: "nested" },
  );
  const owner: App["owner"] = { uid: `0000-${++count}`, namespace: "apps", name };
  return {
    bucket: names.bucket("uploads"),
    owner,
    ledger: new MemoryLedger(),
    adopts: false,
    isPublic: false,
    origins: [`https://${names.domain}`],
    ...change,
  };
}

/** Everything that can be seen of a bucket from outside: undefined if there is none. */
export async function bucketState(client: S3, bucket: string): Promise<object | undefined> {
  const Bucket = bucket;
  const orNone = <T>(answer: Promise<T>): Promise<T | undefined> =>
    answer.catch((error: { readonly name: string }) => {
      if (/^NoSuch(TagSet|CORSConfiguration|BucketPolicy)$/.test(error.name)) return undefined;
      throw error;
    });
  const isThere = await client.headBucket({ Bucket }).then(
    () => true,
    (error: { readonly name: string }) => {
      if (error.name === "NotFound") return false;
      throw error;
    },
  );
  if (!isThere) return undefined;
  const tags = (await orNone(client.getBucketTagging({ Bucket })))?.TagSet ?? [];
  const { Policy } = (await orNone(client.getBucketPolicy({ Bucket }))) ?? {};
  const { Versions = [] } = await client.listObjectVersions({ Bucket });
  return {
    tags: Object.fromEntries(tags.map(({ Key = "", Value }) => [Key, Value])),
    cors: (await orNone(client.getBucketCors({ Bucket })))?.CORSRules,
    policy: Policy === undefined ? undefined : (JSON.parse(Policy) as unknown),
    objects: Versions.map(({ Key }) => Key),
  };
}
