// Every call to an S3 server fails once: its request is lost, its answer is lost, or we are told to stop before or after
// it. What comes next ends as if nothing had been.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { BucketAdmin } from "@keelson/platform";
import { bucketState, prepareBuckets, wantedBucket, type BucketBed } from "./bucket-bed.ts";
import { LossyProxy } from "./lossy-proxy.ts";
import { withoutS3 } from "./s3-server.ts";

type Work = (admin: BucketAdmin, signal: AbortSignal) => Promise<unknown>;

/** Runs `work` with a fault at its n-th point; false when there is no such point. */
type Disturb = (n: number, work: Work) => Promise<boolean>;

suite("an S3 server that fails at any call", { skip: withoutS3 }, () => {
  for (const fate of ["lose request", "lose answer"] as const) {
    test(`${fate}: what is begun again ends in the same state`, async (t) => {
      using bed = await prepareBuckets();
      await using proxy = await LossyProxy.to(bed.server.port);
      await hold(bed, t.signal, async (n, work) => {
        let passed = 0;
        proxy.decide = () => (passed++ === n ? fate : "pass");
        const admin = bed.admin({ endpoint: proxy.url });
        await failing(work(admin, t.signal), { reason: "Unreachable" });
        return passed > n;
      });
    });
  }

  test("told to stop: what is begun again ends in the same state", async (t) => {
    using bed = await prepareBuckets();
    await hold(bed, t.signal, async (n, work) => {
      const stop = new AbortController();
      let passed = 0;
      const onCall = (): void => {
        if (passed++ === n) stop.abort(new Error("no longer the leader"));
      };
      await failing(work(bed.admin({ onCall }), stop.signal), { message: "no longer the leader" });
      return passed > n;
    });
  });
});

async function hold(bed: BucketBed, signal: AbortSignal, disturb: Disturb): Promise<void> {
  const calm = bed.admin();
  const { client } = bed;
  const first = wantedBucket({ isPublic: true });
  await calm.ensure(first, signal);
  const undisturbed = await bucketState(client, first.bucket);
  await calm.remove(first, signal);

  const counts = {
    making: await countPoints(async (n) => {
      const wanted = { ...first, ledger: wantedBucket().ledger };
      const wasThere = await disturb(n, (admin, stop) => admin.ensure(wanted, stop));
      await calm.ensure(wanted, signal);
      assert.deepEqual(await bucketState(client, wanted.bucket), undisturbed, `point ${n}`);
      assert.deepEqual(wanted.ledger.contents, [`Bucket ${wanted.bucket} Ready`]);
      await calm.remove(wanted, signal);
      return wasThere;
    }),
    closing: await countPoints(async (n) => {
      const wanted = { ...first, ledger: wantedBucket().ledger };
      await calm.ensure(wanted, signal);
      const changed = { ...wanted, isPublic: false, origins: ["https://other.example.com"] };
      const wasThere = await disturb(n, (admin, stop) => admin.ensure(changed, stop));
      assert.equal((await calm.ensure(changed, signal)).length <= 2, true);
      assert.deepEqual(await calm.ensure(changed, signal), []);
      await calm.remove(wanted, signal);
      return wasThere;
    }),
    retaining: await countPoints(async (n) => {
      const wanted = { ...first, ledger: wantedBucket().ledger };
      await calm.ensure(wanted, signal);
      const wasThere = await disturb(n, (admin, stop) => admin.retain(wanted, stop));
      await calm.retain(wanted, signal);
      assert.deepEqual(wanted.ledger.contents, [`Bucket ${wanted.bucket} Retained`]);
      await calm.remove(wanted, signal);
      return wasThere;
    }),
    removing: await countPoints(async (n) => {
      const wanted = { ...first, ledger: wantedBucket().ledger };
      const Bucket = wanted.bucket;
      await calm.ensure(wanted, signal);
      await client.putObject({ Bucket, Key: "a", Body: "1" });
      await client.createMultipartUpload({ Bucket, Key: "b" });
      const wasThere = await disturb(n, (admin, stop) => admin.remove(wanted, stop));
      await calm.remove(wanted, signal);
      assert.equal(await bucketState(client, Bucket), undefined, `point ${n}`);
      assert.deepEqual(wanted.ledger.contents, []);
      return wasThere;
    }),
    // Whoever made it ended before it was marked.
    removingUnmarked: await countPoints(async (n) => {
      const wanted = { ...first, ledger: wantedBucket().ledger };
      const { bucket } = wanted;
      await client.createBucket({ Bucket: bucket });
      await wanted.ledger.record({ kind: "Bucket", name: bucket, state: "Creating" });
      const wasThere = await disturb(n, (admin, stop) => admin.remove(wanted, stop));
      await bed.admin({ settleMs: 0 }).remove(wanted, signal);
      assert.equal(await bucketState(client, bucket), undefined, `point ${n}`);
      assert.deepEqual(wanted.ledger.contents, []);
      return wasThere;
    }),
  };
  // Otherwise nothing was disturbed.
  const { making, closing, retaining, removing, removingUnmarked } = counts;
  assert.ok(making >= 8 && closing >= 6 && retaining >= 3 && removing >= 8, JSON.stringify(counts));
  assert.ok(removingUnmarked >= 6, JSON.stringify(counts));
}

/** Calls `round` with 0, 1, 2, … until it says that there is no such point. */
async function countPoints(round: (n: number) => Promise<boolean>): Promise<number> {
  for (let n = 0; ; n += 1) {
    if (!(await round(n))) return n;
  }
}

/** That it fails in no other way, if it fails. */
async function failing(work: Promise<unknown>, expected: object): Promise<void> {
  const outcome = await work.then(
    () => undefined,
    (error: Error) => error,
  );
  if (outcome === undefined) return;
  assert.throws(() => {
    throw outcome;
  }, expected);
}
