// Buckets in a real S3 server: whose they are, and what they are set to.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bucketState, prepareBuckets, wantedBucket } from "./bucket-bed.ts";
import { withoutS3 } from "./s3-server.ts";

const reading = [
  "headBucket",
  "getBucketTagging",
  "getBucketCors",
  "getBucketPolicy",
  "getPublicAccessBlock",
];

suite("buckets of apps", { skip: withoutS3 }, () => {
  test("are made once, set as they shall be, and then only looked at", async (t) => {
    using bed = await prepareBuckets();
    const origins = ["https://shop.example.com", "http://localhost:3000"];
    const wanted = wantedBucket({ origins });
    const { bucket, ledger, owner } = wanted;
    assert.deepEqual(await bed.admin().ensure(wanted, t.signal), [
      "createBucket",
      "putBucketTagging",
      "putBucketCors",
    ]);
    // Before it is made it is in the ledger.
    assert.deepEqual(ledger.written, [`Bucket ${bucket} Creating`, `Bucket ${bucket} Ready`]);
    const made = {
      tags: { "platform.internal/owner": `${owner.uid} apps/${owner.name}` },
      cors: [
        {
          AllowedOrigins: origins,
          AllowedMethods: ["GET", "PUT", "POST", "DELETE", "HEAD"],
          AllowedHeaders: ["*"],
          MaxAgeSeconds: 3600,
        },
      ],
      policy: undefined,
      objects: [],
    };
    assert.deepEqual(await bucketState(bed.client, bucket), made);

    const calls: string[] = [];
    assert.deepEqual(await bed.noting(calls).ensure(wanted, t.signal), []);
    assert.deepEqual(calls, reading);
    assert.equal(ledger.written.length, 2);

    // Browsers learn of it by asking.
    const preflight = await fetch(`${bed.server.endpoint}/${bucket}/a`, {
      method: "OPTIONS",
      headers: { origin: "http://localhost:3000", "access-control-request-method": "PUT" },
    });
    assert.equal(preflight.headers.get("access-control-allow-origin"), "http://localhost:3000");
  });

  test("what somebody changed is set back, and what others added stays", async (t) => {
    using bed = await prepareBuckets();
    const wanted = wantedBucket();
    const { bucket: Bucket } = wanted;
    const admin = bed.admin();
    await admin.ensure(wanted, t.signal);
    const before = await bucketState(bed.client, Bucket);
    const { TagSet = [] } = await bed.client.getBucketTagging({ Bucket });
    const theirs = { Key: "cost-centre", Value: "7" };
    await bed.client.putBucketTagging({ Bucket, Tagging: { TagSet: [...TagSet, theirs] } });
    const rule = { AllowedOrigins: ["*"], AllowedMethods: ["GET"] };
    await bed.client.putBucketCors({ Bucket, CORSConfiguration: { CORSRules: [rule] } });
    await bed.client.putBucketPolicy({ Bucket, Policy: policyText(Bucket, "s3:PutObject") });

    assert.deepEqual(await admin.ensure(wanted, t.signal), ["putBucketCors", "deleteBucketPolicy"]);
    const tags = { "cost-centre": "7", ...(before as { tags: object }).tags };
    assert.deepEqual(await bucketState(bed.client, Bucket), { ...before, tags });
    // Other origins are other rules.
    const moved = { ...wanted, origins: ["https://other.example.com"] };
    assert.deepEqual(await admin.ensure(moved, t.signal), ["putBucketCors"]);
    // Somebody removed it: it is made anew.
    await bed.client.deleteBucket({ Bucket });
    assert.equal((await admin.ensure(wanted, t.signal))[0], "createBucket");
    assert.deepEqual(await bucketState(bed.client, Bucket), before);
  });

  test("public ones are readable for everybody, others for nobody, and what was opened is closed", async (t) => {
    using bed = await prepareBuckets();
    const admin = bed.admin();
    const [open, closed] = [wantedBucket({ isPublic: true }), wantedBucket()];
    for (const wanted of [open, closed]) {
      await admin.ensure(wanted, t.signal);
      await bed.client.putObject({ Bucket: wanted.bucket, Key: "a/b.txt", Body: "hello" });
    }
    const read = async ({ bucket }: { readonly bucket: string }, path = "/a/b.txt") =>
      (await fetch(`${bed.server.endpoint}/${bucket}${path}`)).status;
    assert.deepEqual([await read(open), await read(closed)], [200, 403]);
    // One object at a time: nobody learns which there are, nor may anybody add one.
    assert.equal(await read(open, "?list-type=2"), 403);
    const put = await fetch(`${bed.server.endpoint}/${open.bucket}/c`, {
      method: "PUT",
      body: "x",
    });
    assert.equal(put.status, 403);
    const state = (await bucketState(bed.client, open.bucket)) as { policy: unknown };
    assert.deepEqual(state.policy, {
      Version: "2012-10-17",
      Statement: [
        {
          Sid: "PublicRead",
          Effect: "Allow",
          Principal: "*",
          Action: "s3:GetObject",
          Resource: `arn:aws:s3:::${open.bucket}/*`,
        },
      ],
    });
    assert.deepEqual(await admin.ensure(open, t.signal), []);

    const changes = await admin.ensure({ ...open, isPublic: false }, t.signal);
    assert.deepEqual([changes, await read(open)], [["deleteBucketPolicy"], 403]);
    assert.deepEqual(await admin.ensure({ ...closed, isPublic: true }, t.signal), [
      "putBucketPolicy",
    ]);
    assert.equal(await read(closed), 200);
  });

  test("one of another account is left alone", async (t) => {
    using bed = await prepareBuckets({ role: "owner" });
    using other = await prepareBuckets({ role: "owner" });
    const wanted = wantedBucket();
    const { bucket: Bucket, ledger } = wanted;
    await other.client.createBucket({ Bucket });
    await other.client.putObject({ Bucket, Key: "theirs", Body: "1" });
    const before = await bucketState(other.client, Bucket);
    await assert.rejects(bed.admin().ensure(wanted, t.signal), {
      reason: "Conflict",
      message: `bucket ${Bucket} is another account's, or closed to ours`,
    });
    assert.deepEqual(ledger.written, []);
    // Even if we were about to make it when they did.
    await ledger.record({ kind: "Bucket", name: Bucket, state: "Creating" });
    await assert.rejects(bed.admin().ensure(wanted, t.signal), { reason: "Conflict" });
    assert.equal(await bed.admin().remove(wanted, t.signal), undefined);
    assert.deepEqual(ledger.contents, []);
    assert.deepEqual(await bucketState(other.client, Bucket), before);
  });

  test("one without our mark, or with another's, is left alone", async (t) => {
    using bed = await prepareBuckets();
    const admin = bed.admin();
    const [full, empty, taken] = [wantedBucket(), wantedBucket(), wantedBucket()];
    const { owner, ledger } = wantedBucket();
    const stranger = { ...taken, owner, ledger };
    await bed.client.createBucket({ Bucket: full.bucket });
    await bed.client.putObject({ Bucket: full.bucket, Key: "a", Body: "1" });
    await bed.client.createBucket({ Bucket: empty.bucket });
    await admin.ensure(stranger, t.signal);
    for (const wanted of [full, empty, taken]) {
      const { bucket, ledger } = wanted;
      const before = await bucketState(bed.client, bucket);
      const whose =
        wanted === taken
          ? `belongs to apps/${stranger.owner.name} (uid ${stranger.owner.uid})`
          : "exists and belongs to no app of ours";
      const refusal = { reason: "Conflict", message: `bucket ${bucket} ${whose}` };
      await assert.rejects(admin.ensure({ ...wanted, adopts: true }, t.signal), refusal);
      assert.deepEqual(ledger.written, []);
      // Nor when the ledger has it: it is only forgotten.
      for (const state of ["Ready", "Deleting"] as const) {
        await ledger.record({ kind: "Bucket", name: bucket, state });
        await assert.rejects(admin.ensure(wanted, t.signal), refusal);
        assert.equal(await admin.remove(wanted, t.signal), undefined);
        await ledger.record({ kind: "Bucket", name: bucket, state });
        await admin.retain(wanted, t.signal);
        assert.deepEqual(ledger.contents, []);
      }
      assert.deepEqual(await bucketState(bed.client, bucket), before);
    }
  });

  test("an unmarked one is ours if we were about to make it and nothing is in it", async (t) => {
    using bed = await prepareBuckets();
    const admin = bed.admin();
    const made = async (): Promise<ReturnType<typeof wantedBucket>> => {
      const wanted = wantedBucket();
      await bed.client.createBucket({ Bucket: wanted.bucket });
      await wanted.ledger.record({ kind: "Bucket", name: wanted.bucket, state: "Creating" });
      return wanted;
    };
    const begun = await made();
    assert.equal((await admin.ensure(begun, t.signal))[0], "putBucketTagging");
    assert.deepEqual(begun.ledger.contents, [`Bucket ${begun.bucket} Ready`]);

    const full = await made();
    await bed.client.putObject({ Bucket: full.bucket, Key: "a", Body: "1" });
    await assert.rejects(admin.ensure(full, t.signal), { reason: "Conflict" });
    await admin.remove(full, t.signal);
    assert.deepEqual(full.ledger.contents, []);
    await bed.client.headBucket({ Bucket: full.bucket });

    const leaving = await made();
    await admin.remove(leaving, t.signal);
    assert.deepEqual(leaving.ledger.contents, []);
    assert.equal(await bucketState(bed.client, leaving.bucket), undefined);
  });

  test("two apps of which the names make one: the first has it, the other when that is gone", async (t) => {
    using bed = await prepareBuckets();
    const admin = bed.admin();
    const one = wantedBucket();
    const other = { ...one, owner: wantedBucket().owner, ledger: wantedBucket().ledger };
    const results = await Promise.allSettled(
      [one, other].map((wanted) => admin.ensure(wanted, t.signal)),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.deepEqual(other.ledger.contents, []);
    await admin.remove(one, t.signal);
    await admin.ensure(other, t.signal);
    const { tags } = (await bucketState(bed.client, one.bucket)) as { tags: object };
    assert.deepEqual(tags, {
      "platform.internal/owner": `${other.owner.uid} apps/${other.owner.name}`,
    });
  });

  test("what was retained is taken over by its namesake alone, and only if that asks for it", async (t) => {
    using bed = await prepareBuckets();
    const admin = bed.admin();
    const wanted = wantedBucket({ isPublic: true });
    const { bucket: Bucket, owner } = wanted;
    await admin.ensure(wanted, t.signal);
    await bed.client.putObject({ Bucket, Key: "kept", Body: "1" });
    await admin.retain(wanted, t.signal);
    await admin.retain(wanted, t.signal);
    assert.deepEqual(wanted.ledger.contents, [`Bucket ${Bucket} Retained`]);
    const { tags } = (await bucketState(bed.client, Bucket)) as { tags: object };
    assert.deepEqual(tags, {
      "platform.internal/owner": `${owner.uid} apps/${owner.name}`,
      "platform.internal/retained": "true",
    });

    const successor = {
      ...wanted,
      owner: { ...owner, uid: wantedBucket().owner.uid },
      ledger: wantedBucket().ledger,
    };
    const stranger = { ...wanted, owner: wantedBucket().owner, ledger: successor.ledger };
    await assert.rejects(admin.ensure({ ...stranger, adopts: true }, t.signal), {
      reason: "Conflict",
      message: /which is gone and left it behind: only an Application of that namespace and name/,
    });
    await assert.rejects(admin.ensure(successor, t.signal), {
      reason: "Conflict",
      message: /annotate this one with platform\.internal\/adopt: "true"/,
    });
    assert.deepEqual(successor.ledger.written, []);
    assert.deepEqual(await admin.ensure({ ...successor, adopts: true }, t.signal), [
      "putBucketTagging",
    ]);
    const state = (await bucketState(bed.client, Bucket)) as { tags: object; objects: string[] };
    assert.deepEqual(
      [state.tags, state.objects],
      [{ "platform.internal/owner": `${successor.owner.uid} apps/${owner.name}` }, ["kept"]],
    );
    // Whoever retained it has nothing to remove any more.
    await admin.remove(wanted, t.signal);
    assert.deepEqual(await bucketState(bed.client, Bucket), state);
  });
});

function policyText(bucket: string, action: string): string {
  const statement = {
    Effect: "Allow",
    Principal: "*",
    Action: action,
    Resource: [`arn:aws:s3:::${bucket}/*`],
  };
  return JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
}
