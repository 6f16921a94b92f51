// What an S3 server in trouble, or one that does not want us, means to an app.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { MemoryLedger } from "@keelson/platform/testing";
import { bucketState, prepareBuckets, wantedBucket } from "./bucket-bed.ts";
import { LossyProxy, type Answer } from "./lossy-proxy.ts";
import { withoutS3 } from "./s3-server.ts";

function answer(status: number, code: string, headers: Record<string, string> = {}): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>as told</Message></Error>`;
  return { status, headers, body };
}

suite("an S3 server in trouble", { skip: withoutS3 }, () => {
  test("answers 503, then 403: retried, then a refusal, then all is well", async (t) => {
    using bed = await prepareBuckets();
    await using proxy = await LossyProxy.to(bed.server.port);
    const host = new URL(proxy.url).host;
    const admin = bed.admin({ endpoint: proxy.url });
    const wanted = wantedBucket();
    const { bucket, ledger } = wanted;
    await admin.ensure(wanted, t.signal);
    const before = await bucketState(bed.client, bucket);
    const ensure = () => admin.ensure(wanted, t.signal);

    proxy.decide = () => answer(503, "SlowDown", { "retry-after": "7" });
    const busy = { reason: "Unreachable", retryAfterMs: 7_000 };
    await assert.rejects(ensure(), {
      ...busy,
      message: `S3 at ${host}: headBucket of bucket ${bucket}: no answer: status 503`,
    });
    await assert.rejects(admin.remove(wanted, t.signal), busy);
    proxy.decide = () => answer(429, "TooManyRequests", { "retry-after": "1" });
    await assert.rejects(ensure(), { reason: "Unreachable", retryAfterMs: 1_000 });
    proxy.decide = () => ({ status: 502, body: "<html>bad gateway</html>" });
    await assert.rejects(ensure(), { reason: "Unreachable", retryAfterMs: undefined });
    for (const code of ["AccessDenied", "InvalidAccessKeyId"]) {
      proxy.decide = () => answer(403, code);
      await assert.rejects(ensure(), { reason: "Refused" });
      await assert.rejects(admin.remove(wanted, t.signal), { reason: "Refused" });
    }
    // A name that we do not have is somebody else's, if it is not we who are not believed.
    const unknown = wantedBucket();
    await assert.rejects(admin.ensure(unknown, t.signal), { reason: "Refused" });
    proxy.decide = () => answer(403, "AccessDenied");
    await assert.rejects(admin.ensure(unknown, t.signal), { reason: "Conflict" });
    // The same where it may be looked at, but not made.
    proxy.decide = ({ method }) => (method === "PUT" ? answer(403, "AccessDenied") : "pass");
    await assert.rejects(admin.ensure(unknown, t.signal), {
      reason: "Refused",
      message: `S3 at ${host}: createBucket of bucket ${unknown.bucket}: refused: AccessDenied: as told (status 403)`,
    });

    proxy.decide = () => "pass";
    assert.deepEqual(await ensure(), []);
    assert.deepEqual(await bucketState(bed.client, bucket), before);
    assert.deepEqual(ledger.contents, [`Bucket ${bucket} Ready`]);
    assert.equal((await admin.ensure(unknown, t.signal))[0], "createBucket");
  });

  test("is asked in another region than its buckets are in: one that is ours is not forgotten", async (t) => {
    using bed = await prepareBuckets();
    await using proxy = await LossyProxy.to(bed.server.port);
    const admin = bed.admin({ endpoint: proxy.url });
    const wanted = wantedBucket();
    const { bucket, ledger } = wanted;
    await admin.ensure(wanted, t.signal);
    const before = ledger.contents;

    proxy.decide = ({ method }) => (method === "HEAD" ? { status: 301 } : "pass");
    for (const work of ["ensure", "remove", "retain"] as const) {
      await assert.rejects(admin[work](wanted, t.signal), {
        reason: "Refused",
        message: `bucket ${bucket} is in another region than ${bed.server.region}: set AWS_REGION to that`,
      });
    }
    assert.deepEqual(ledger.contents, before);
    // What we have no note of is somebody else's, of our account or not.
    const other = { ...wanted, ledger: new MemoryLedger() };
    await assert.rejects(admin.ensure(other, t.signal), {
      reason: "Conflict",
      message: `bucket ${bucket} exists in another region`,
    });
    assert.deepEqual(other.ledger.written, []);

    proxy.decide = () => "pass";
    assert.equal(await admin.remove(wanted, t.signal), undefined);
    assert.equal(await bucketState(bed.client, bucket), undefined);
  });

  test("does not answer, or is not there", async (t) => {
    using bed = await prepareBuckets();
    const wanted = wantedBucket();
    await using proxy = await LossyProxy.to(bed.server.port);
    proxy.decide = () => "hang";
    const hanging = bed.admin({ endpoint: proxy.url, timeoutMs: 100 });
    await assert.rejects(hanging.ensure(wanted, t.signal), {
      reason: "Unreachable",
      message: `S3 at ${new URL(proxy.url).host}: headBucket of bucket ${wanted.bucket} was not answered within 0.1 s`,
    });
    const nobody = bed.admin({ endpoint: "http://127.0.0.1:1" });
    await assert.rejects(nobody.ensure(wanted, t.signal), {
      reason: "Unreachable",
      message: /: no answer: .*ECONNREFUSED/,
    });
    assert.deepEqual(wanted.ledger.written, []);
  });

  test("does not believe us: no key is told, and new ones are looked for", async (t) => {
    using bed = await prepareBuckets();
    const { account } = bed;
    let keys = { ...account, secretAccessKey: "something-else" };
    const admin = bed.admin({ keys: () => Promise.resolve(keys) });
    const wanted = wantedBucket();
    const error = await admin.ensure(wanted, t.signal).then(
      () => undefined,
      (error: Error) => error,
    );
    assert.equal((error as { reason?: string } | undefined)?.reason, "Refused");
    const told = JSON.stringify([
      error,
      error?.message,
      error?.stack,
      error?.cause,
      String(error?.cause),
    ]);
    for (const secret of [account.accessKeyId, account.secretAccessKey, keys.secretAccessKey]) {
      assert.equal(told.includes(secret), false, told);
    }
    keys = account;
    assert.equal((await admin.ensure(wanted, t.signal))[0], "createBucket");
  });

  test("without any credentials an app is told so", async (t) => {
    using bed = await prepareBuckets();
    const none = Object.assign(new Error("none found"), { name: "CredentialsProviderError" });
    const admin = bed.admin({ keys: () => Promise.reject(none) });
    await assert.rejects(admin.ensure(wantedBucket(), t.signal), {
      reason: "NotConfigured",
      message: /there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
    });
  });

  test("makes what it was asked for when nobody listens any more: it is waited for, and removed", async (t) => {
    using bed = await prepareBuckets();
    await using proxy = await LossyProxy.to(bed.server.port);
    for (const isMadeLate of [true, false]) {
      const wanted = wantedBucket();
      const { bucket, ledger } = wanted;
      await ledger.record({ kind: "Bucket", name: bucket, state: "Creating" });
      if (isMadeLate) await bed.client.createBucket({ Bucket: bucket });
      let asked = 0;
      proxy.decide = ({ method }) =>
        method === "HEAD" && asked++ === 0 ? answer(404, "NotFound") : "pass";
      const clock = new ManualClock();
      const admin = bed.admin({ endpoint: proxy.url, clock });
      // Nobody is held up: when to look again is said at once, by a clock that stands still.
      await assert.rejects(admin.remove(wanted, t.signal), {
        reason: "Unreachable",
        message: `bucket ${bucket} was to be made and is not there: it may still come to be, and is waited for`,
        retryAfterMs: 10_000,
      });
      assert.deepEqual([asked, ledger.contents], [1, [`Bucket ${bucket} Creating`]]);
      if (!isMadeLate) {
        await clock.advance(9_999);
        await assert.rejects(admin.remove(wanted, t.signal), { retryAfterMs: 1 });
        await clock.advance(1);
      }
      assert.equal(await admin.remove(wanted, t.signal), undefined);
      assert.deepEqual(ledger.contents, []);
      assert.equal(await bucketState(bed.client, bucket), undefined);
    }
  });

  test("lets another have the name at the last moment", async (t) => {
    using bed = await prepareBuckets({ role: "owner" });
    using other = await prepareBuckets({ role: "owner" });
    await using proxy = await LossyProxy.to(bed.server.port);
    const admin = bed.admin({ endpoint: proxy.url });
    for (const [who, what] of [
      [other, "BucketAlreadyExists"],
      [bed, "BucketAlreadyOwnedByYou"],
    ] as const) {
      const wanted = wantedBucket();
      const { bucket, ledger } = wanted;
      await who.client.createBucket({ Bucket: bucket });
      // It was not there a moment ago.
      proxy.decide = ({ method }) => (method === "HEAD" ? answer(404, "NotFound") : "pass");
      await assert.rejects(admin.ensure(wanted, t.signal), {
        reason: "Conflict",
        message: `bucket ${bucket} was made by somebody else at this moment`,
      });
      // Nothing says that it could be ours.
      assert.deepEqual(ledger.contents, [], what);
      proxy.decide = () => "pass";
      await assert.rejects(admin.ensure(wanted, t.signal), { reason: "Conflict" });
    }
    // But if an earlier call of ours was not answered, it is that one.
    const wanted = wantedBucket();
    await wanted.ledger.record({ kind: "Bucket", name: wanted.bucket, state: "Creating" });
    await bed.client.createBucket({ Bucket: wanted.bucket });
    proxy.decide = ({ method }) => (method === "HEAD" ? answer(404, "NotFound") : "pass");
    await assert.rejects(admin.ensure(wanted, t.signal), { reason: "Unreachable" });
    proxy.decide = () => "pass";
    assert.equal((await admin.ensure(wanted, t.signal))[0], "putBucketTagging");
  });
});
