// Emptying a bucket: what is being uploaded, then every version and every mark of a deletion, a page at a time. Each
// page is asked for from the start, so that whoever comes next, after a crash too, simply goes on.

import { StepError } from "../steps/step-error.ts";
import type { S3Connection } from "./s3-connection.ts";
import { isAnswer, lacking, whenAnswered } from "./s3-errors.ts";

/** One version of an object, or an object of a store without versions. */
interface Entry {
  readonly Key: string;
  readonly VersionId?: string;
}

const uploadsPerPage = 100;

export interface Emptied {
  /** How many uploads, versions and marks are gone. */
  readonly removed: number;
  readonly isEmpty: boolean;
}

/** Does at most `pagesMax` pages of work. */
export async function emptyBucket(
  s3: S3Connection,
  { bucket, pagesMax }: { readonly bucket: string; readonly pagesMax: number },
  signal: AbortSignal,
): Promise<Emptied> {
  let removed = 0;
  let pages = 0;
  // Uploads first: one that ends later would leave an object behind.
  for (const removePage of [abortUploads, deleteVersions]) {
    for (;;) {
      const count = await removePage(s3, bucket, signal);
      if (count === 0) break;
      removed += count;
      pages += 1;
      if (pages === pagesMax) return { removed, isEmpty: false };
    }
  }
  return { removed, isEmpty: true };
}

/** Whether there is no version of anything in it. */
export async function isEmptyBucket(
  s3: S3Connection,
  bucket: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await entriesOf(s3, bucket, { max: 1 }, signal)).length === 0;
}

async function abortUploads(
  s3: S3Connection,
  bucket: string,
  signal: AbortSignal,
): Promise<number> {
  const { Uploads = [] } = await s3
    .call(
      { name: "listMultipartUploads", bucket },
      (client, options) =>
        client.listMultipartUploads({ Bucket: bucket, MaxUploads: uploadsPerPage }, options),
      signal,
    )
    .catch(whenAnswered(lacking, { Uploads: [] }));
  for (const { Key, UploadId } of Uploads) {
    await s3
      .call(
        { name: "abortMultipartUpload", bucket },
        (client, options) =>
          client.abortMultipartUpload({ Bucket: bucket, Key, UploadId }, options),
        signal,
      )
      .catch(whenAnswered(["NoSuchUpload"], undefined));
  }
  return Uploads.length;
}

async function entriesOf(
  s3: S3Connection,
  bucket: string,
  { max }: { readonly max: number },
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  try {
    const { Versions = [], DeleteMarkers = [] } = await s3.call(
      { name: "listObjectVersions", bucket },
      (client, options) => client.listObjectVersions({ Bucket: bucket, MaxKeys: max }, options),
      signal,
    );
    return [...Versions, ...DeleteMarkers].map(({ Key = "", VersionId }) =>
      VersionId === undefined || VersionId === "" ? { Key } : { Key, VersionId },
    );
  } catch (error) {
    if (!isAnswer(error, lacking)) throw error;
    // A store without versions.
    const { Contents = [] } = await s3.call(
      { name: "listObjectsV2", bucket },
      (client, options) => client.listObjectsV2({ Bucket: bucket, MaxKeys: max }, options),
      signal,
    );
    return Contents.map(({ Key = "" }) => ({ Key }));
  }
}

async function deleteVersions(
  s3: S3Connection,
  bucket: string,
  signal: AbortSignal,
): Promise<number> {
  const entries = await entriesOf(s3, bucket, { max: 1000 }, signal);
  if (entries.length === 0) return 0;
  const { Errors = [] } = await s3.call(
    { name: "deleteObjects", bucket },
    (client, options) =>
      client.deleteObjects(
        { Bucket: bucket, Delete: { Objects: [...entries], Quiet: true } },
        options,
      ),
    signal,
  );
  const [first] = Errors.filter(({ Code = "" }) => !/^NoSuch(Key|Version)$/.test(Code));
  if (first === undefined) return entries.length;
  const isBusy = /^(InternalError|ServiceUnavailable|SlowDown)$/.test(first.Code ?? "");
  throw new StepError(
    isBusy ? "Unreachable" : "CleanupFailed",
    `object ${first.Key} of bucket ${bucket} cannot be deleted: ${first.Message ?? first.Code}`,
  );
}
