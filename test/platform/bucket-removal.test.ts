// Buckets that go with everything in them, a page at a time.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { S3 } from "@aws-sdk/client-s3";
import { bucketState, prepareBuckets, wantedBucket } from "./bucket-bed.ts";
import { startS3, withoutS3 } from "./s3-server.ts";

suite("removing buckets", { skip: withoutS3 }, () => {
  test("thousands of objects, their versions, marks of deletions and an open upload go, page by page", async (t) => {
    using bed = await prepareBuckets();
    const wanted = wantedBucket();
    const { bucket: Bucket, ledger } = wanted;
    await bed.admin().ensure(wanted, t.signal);
    const status = { Status: "Enabled" } as const;
    await bed.client.putBucketVersioning({ Bucket, VersioningConfiguration: status });
    const keys = Array.from({ length: 2_500 }, (_, index) => `folder-${index % 7}/${index}.txt`);
    await putAll(bed.client, Bucket, keys);
    await putAll(bed.client, Bucket, keys.slice(0, 300));
    const gone = keys.slice(200, 400).map((Key) => ({ Key }));
    await bed.client.deleteObjects({ Bucket, Delete: { Objects: gone, Quiet: true } });
    const upload = await bed.client.createMultipartUpload({ Bucket, Key: "large/one" });
    const { UploadId } = upload;
    await bed.client.uploadPart({ Bucket, Key: "large/one", UploadId, PartNumber: 1, Body: "p" });

    // A new operator for each pass: what is left is in the bucket, not in its head.
    const progress: string[] = [];
    for (;;) {
      const left = await bed.admin({ pagesMax: 1 }).remove(wanted, t.signal);
      if (left === undefined) break;
      progress.push(left);
      assert.deepEqual(ledger.contents, [`Bucket ${Bucket} Deleting`]);
    }
    // One upload, and 3,000 versions and marks.
    assert.deepEqual(
      progress,
      [1, 1000, 1000, 1000].map(
        (count) =>
          `bucket ${Bucket} is being emptied: ${count} objects, versions and uploads are gone, more are left`,
      ),
    );
    assert.deepEqual(ledger.contents, []);
    assert.equal(await bucketState(bed.client, Bucket), undefined);
    // Once more is nothing.
    assert.equal(await bed.admin().remove(wanted, t.signal), undefined);
  });

  test("its progress adds up", async (t) => {
    using bed = await prepareBuckets();
    const wanted = wantedBucket();
    const { bucket: Bucket } = wanted;
    const admin = bed.admin({ pagesMax: 1 });
    await admin.ensure(wanted, t.signal);
    await putAll(bed.client, Bucket, ["a"]);
    await bed.client.createMultipartUpload({ Bucket, Key: "b" });
    assert.match((await admin.remove(wanted, t.signal)) ?? "", /: 1 objects/);
    assert.match((await admin.remove(wanted, t.signal)) ?? "", /: 2 objects/);
    assert.equal(await admin.remove(wanted, t.signal), undefined);
  });

  test("whatever objects are called", async (t) => {
    using bed = await prepareBuckets();
    const wanted = wantedBucket();
    const { bucket: Bucket, ledger } = wanted;
    const admin = bed.admin();
    await admin.ensure(wanted, t.signal);
    const names = [
      "a b",
      "a+b",
      "100%",
      "%20",
      "<x>&'\"",
      "ümläut/日本",
      "q?x=1#y",
      ".hidden",
      "a//b",
    ];
    for (const Key of names) {
      // The server keeps objects as files, and refuses what is none.
      await bed.client.putObject({ Bucket, Key, Body: "1" }).catch(() => undefined);
    }
    const { KeyCount = 0 } = await bed.client.listObjectsV2({ Bucket });
    assert.ok(KeyCount >= 7, `only ${KeyCount} names were taken`);
    assert.equal(await admin.remove(wanted, t.signal), undefined);
    assert.deepEqual(ledger.contents, []);
    assert.equal(await bucketState(bed.client, Bucket), undefined);
  });

  test("in a store that knows no versions", async (t) => {
    await using server = await startS3(t.signal, { hasVersions: false });
    using bed = await prepareBuckets({ server });
    const wanted = wantedBucket();
    const { bucket: Bucket, ledger } = wanted;
    const admin = bed.admin();
    await admin.ensure(wanted, t.signal);
    await putAll(bed.client, Bucket, ["a", "b/c"]);
    assert.equal(await admin.remove(wanted, t.signal), undefined);
    assert.deepEqual(ledger.contents, []);
    await assert.rejects(bed.client.headBucket({ Bucket }), { name: "NotFound" });
  });
});

/** Several at a time. */
async function putAll(client: S3, bucket: string, keys: readonly string[]): Promise<void> {
  const left = [...keys];
  const worker = async (): Promise<void> => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      await client.putObject({ Bucket: bucket, Key: key, Body: "1" });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
