// Brings what a bucket is set to in line with what it shall be: looks first, and writes only what differs. Each gives
// the names of the calls that were needed.

import {
  accessBlock,
  bucketPolicy,
  corsRules,
  isSameBlock,
  isSameCors,
  isSamePolicy,
} from "./bucket-settings.ts";
import type { S3Connection } from "./s3-connection.ts";
import { lacking, whenAnswered } from "./s3-errors.ts";

export interface BucketSettings {
  readonly bucket: string;
  readonly isPublic: boolean;
  /** The origins from which browsers may use it. */
  readonly origins: readonly string[];
}

interface Store {
  readonly s3: S3Connection;
  readonly region: string;
}

/** Nobody may open what is closed by a block, so that goes before; and is closed last. */
export async function configureBucket(
  store: Store,
  settings: BucketSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const parts = settings.isPublic
    ? [configureCors, configureBlock, configurePolicy]
    : [configureCors, configurePolicy, configureBlock];
  const changes: string[] = [];
  for (const configure of parts) changes.push(...(await configure(store, settings, signal)));
  return changes;
}

async function configureCors(
  { s3 }: Store,
  { bucket, origins }: BucketSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const { CORSRules = [] } = await s3
    .call(
      { name: "getBucketCors", bucket },
      (client, options) => client.getBucketCors({ Bucket: bucket }, options),
      signal,
    )
    .catch(whenAnswered(["NoSuchCORSConfiguration"], { CORSRules: [] }));
  const wanted = corsRules(origins);
  if (isSameCors(CORSRules, wanted)) return [];
  await s3.call(
    { name: "putBucketCors", bucket },
    (client, options) =>
      client.putBucketCors({ Bucket: bucket, CORSConfiguration: { CORSRules: wanted } }, options),
    signal,
  );
  return ["putBucketCors"];
}

/** A store may lack it: then a bucket is closed unless a policy opens it. */
async function configureBlock(
  { s3 }: Store,
  { bucket, isPublic }: BucketSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await s3
    .call(
      { name: "getPublicAccessBlock", bucket },
      (client, options) => client.getPublicAccessBlock({ Bucket: bucket }, options),
      signal,
    )
    .then(({ PublicAccessBlockConfiguration = {} }) => PublicAccessBlockConfiguration)
    .catch(whenAnswered(["NoSuchPublicAccessBlockConfiguration"], {}))
    .catch(whenAnswered(lacking, undefined));
  const wanted = accessBlock({ isPublic });
  if (found === undefined || isSameBlock(found, wanted)) return [];
  const isSet = await s3
    .call(
      { name: "putPublicAccessBlock", bucket },
      (client, options) =>
        client.putPublicAccessBlock(
          { Bucket: bucket, PublicAccessBlockConfiguration: wanted },
          options,
        ),
      signal,
    )
    .then(() => true)
    .catch(whenAnswered(lacking, false));
  return isSet ? ["putPublicAccessBlock"] : [];
}

async function configurePolicy(
  { s3, region }: Store,
  { bucket, isPublic }: BucketSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const { Policy: found } = await s3
    .call(
      { name: "getBucketPolicy", bucket },
      (client, options) => client.getBucketPolicy({ Bucket: bucket }, options),
      signal,
    )
    .catch(whenAnswered(["NoSuchBucketPolicy"], { Policy: undefined }));
  const wanted = bucketPolicy(found, { bucket, region, isPublic });
  if (isSamePolicy(found, wanted)) return [];
  if (wanted === undefined) {
    await s3.call(
      { name: "deleteBucketPolicy", bucket },
      (client, options) => client.deleteBucketPolicy({ Bucket: bucket }, options),
      signal,
    );
    return ["deleteBucketPolicy"];
  }
  await s3.call(
    { name: "putBucketPolicy", bucket },
    (client, options) => client.putBucketPolicy({ Bucket: bucket, Policy: wanted }, options),
    signal,
  );
  return ["putBucketPolicy"];
}
