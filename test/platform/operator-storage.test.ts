// Applications with buckets, from apply to running and back, with an S3 server that has its bad moments.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, type Clock } from "@keelson/base";
import type { CallPoint, OperatorSettings } from "@keelson/platform";
import { leftovers, nothing } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { bucketState, prepareBuckets, type BucketBed } from "./bucket-bed.ts";
import { LossyProxy, type Answer } from "./lossy-proxy.ts";
import { namespace, newName, OperatorBed, seenIn, type Seen } from "./operator-bed.ts";
import { withoutS3 } from "./s3-server.ts";

const previewKind = {
  apiVersion: "platform.internal/v1alpha1",
  kind: "PreviewEnvironment",
} as const;
const image = "registry.example.com/shop:1";
const keys = { S3_ACCESS_KEY: "an app's", S3_SECRET_KEY: "its secret" };

function answer(status: number, code: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>as told</Message></Error>` };
}

clusterSuite("an app with buckets", () => {
  const options = { skip: withoutS3 };

  test(
    "P11, P12, P23, P38: runs, changes its mind, and goes without a trace",
    options,
    async (t) => {
      using s3 = await prepareBuckets();
      await using bed = await OperatorBed.prepare({}, t.signal);
      const settings = await withStorage(bed, s3, t.signal);
      const name = newName();
      const bucketOf = (bucket: string) => `plattr-prod-${name}-${bucket}`;
      await using _operator = bed.start({ settings });

      // Without buckets, too, it runs.
      await bed.apply(name, { imageRef: image, storage: { enabled: true } });
      const first = await bed.until(name, isRunning);
      assert.ok(
        first.conditions.includes("StorageReady True Provisioned"),
        first.conditions.join(),
      );
      assert.deepEqual(first.owned, []);

      const buckets = [{ name: "uploads" }, { name: "assets", public: true }, { name: "extra" }];
      await bed.apply(name, { imageRef: image, storage: { enabled: true, buckets } });
      const all = await bed.until(name, ranAs(2));
      assert.deepEqual(
        all.owned,
        ["uploads", "assets", "extra"].map((bucket) => `Bucket ${bucketOf(bucket)} Ready`),
      );
      assert.deepEqual(await bed.secret(`${name}-s3`), keys);
      for (const bucket of ["uploads", "assets", "extra"]) {
        await s3.client.putObject({ Bucket: bucketOf(bucket), Key: "a", Body: "1" });
      }
      const read = async (bucket: string) =>
        (await fetch(`${s3.server.endpoint}/${bucketOf(bucket)}/a`)).status;
      assert.deepEqual([await read("uploads"), await read("assets")], [403, 200]);

      // One is closed, one removed by the policy, and then the feature is switched off.
      await bed.apply(name, {
        imageRef: image,
        storage: { enabled: true, buckets: [{ name: "uploads" }, { name: "assets" }] },
      });
      const fewer = await bed.until(name, ranAs(3));
      assert.deepEqual(
        fewer.owned,
        ["uploads", "assets"].map((bucket) => `Bucket ${bucketOf(bucket)} Ready`),
      );
      assert.equal(await read("assets"), 403);
      assert.equal(await bucketState(s3.client, bucketOf("extra")), undefined);
      await bed.apply(name, { imageRef: image, storage: { enabled: false } });
      const off = await bed.until(name, ranAs(4));
      assert.deepEqual(off.owned, []);
      assert.ok(!off.conditions.some((condition) => condition.startsWith("StorageReady")));
      assert.equal(await bed.secret(`${name}-s3`), undefined);
      assert.deepEqual(await bucketsOf(s3, name), []);

      await bed.apply(name, { imageRef: image, storage: { enabled: true, buckets } });
      await bed.until(name, ranAs(5));
      await s3.client.putObject({ Bucket: bucketOf("extra"), Key: "b", Body: "1" });
      await s3.client.createMultipartUpload({ Bucket: bucketOf("extra"), Key: "c" });
      await bed.delete(name);
      await bed.untilGone(name);
      assert.deepEqual(await bucketsOf(s3, name), []);
      assert.equal(
        await bed.find({ apiVersion: "v1", kind: "ConfigMap" }, `${name}-storage`),
        undefined,
      );
    },
  );

  test(
    "P27: a store that answers 503, then 403, is asked again, and keeps nobody else waiting",
    options,
    async (t) => {
      using s3 = await prepareBuckets();
      await using proxy = await LossyProxy.to(s3.server.port);
      await using bed = await OperatorBed.prepare({}, t.signal);
      const settings = await withStorage(bed, s3, t.signal, proxy.url);
      const [name, other] = [newName(), newName()];
      proxy.decide = () => answer(503, "SlowDown");
      await using _operator = bed.start({ settings });
      const storage = { enabled: true, buckets: [{ name: "uploads" }] };
      await bed.apply(name, { imageRef: image, storage });
      await bed.until(name, ({ conditions }) =>
        conditions.includes("StorageReady False Unreachable"),
      );
      proxy.decide = () => answer(403, "InvalidAccessKeyId");
      await bed.apply(other, { imageRef: image, database: { enabled: true } });
      await bed.until(other, isRunning);
      const refused = await bed.until(name, ({ conditions }) =>
        conditions.includes("StorageReady False Refused"),
      );
      assert.equal(refused.phase, "Failed");
      // The app is there nevertheless: it has all its variables.
      assert.ok(await bed.find({ apiVersion: "apps/v1", kind: "Deployment" }, name));
      await until(async () => (await bed.events(name)).includes("RetryBackoff"), t.signal);
      proxy.decide = () => "pass";
      // It would be asked again in half a minute; whoever changes something is not kept waiting.
      await bed.apply(name, { imageRef: image, storage, envVars: [{ name: "A", value: "1" }] });
      await bed.until(name, ranAs(2));
    },
  );

  test("whoever is put off waits until it is called", options, async (t) => {
    using s3 = await prepareBuckets();
    await using proxy = await LossyProxy.to(s3.server.port);
    await using bed = await OperatorBed.prepare({}, t.signal);
    // With two workers the store has a place for one.
    const settings = {
      ...(await withStorage(bed, s3, t.signal, proxy.url)),
      concurrency: 2,
      database: { adminUrl: () => Promise.resolve("postgres://nobody@127.0.0.1:1/nowhere") },
    };
    const [failing, hanging, other] = [newName(), newName(), newName()];
    let isHeld = false;
    proxy.decide = ({ url }) => {
      if (!url.includes(hanging)) return "lose request";
      isHeld = true;
      return "hang";
    };
    let looks = 0;
    const clock: Clock = {
      ...systemClock,
      monotonic: () => {
        looks += 1;
        return systemClock.monotonic();
      },
      // What hangs does so until it is cut.
      after: (ms, callback) => systemClock.after(ms === 10_000 ? 300_000 : ms, callback),
    };
    let connects = 0;
    const onCall = ({ name, when }: CallPoint): void => {
      if (name === "connect" && when === "before") connects += 1;
    };
    await using _operator = bed.start({ settings, clock, onCall });
    const storage = { enabled: true, buckets: [{ name: "uploads" }] };
    const isAway = ({ conditions }: Seen) => conditions.includes("StorageReady False Unreachable");
    await bed.apply(failing, { storage });
    await bed.until(failing, isAway);
    await bed.apply(hanging, { storage });
    await until(() => isHeld, t.signal);
    // What fails meanwhile is said at once.
    await bed.apply(other, { storage, database: { enabled: true } });
    const both = ["DatabaseReady False Unreachable", "StorageReady Unknown Waiting"];
    await bed.until(other, ({ conditions }) => both.every((one) => conditions.includes(one)));
    looks = 0;
    // By then the first is due, too, and finds no place.
    const before = connects;
    await until(() => connects >= before + 2, t.signal);
    assert.ok(looks < 500, `${looks} looks at the clock`);
    proxy.decide = () => "pass";
    proxy.cut();
    for (const name of [failing, hanging]) {
      await bed.until(name, ({ conditions }) =>
        conditions.includes("StorageReady True Provisioned"),
      );
    }
  });

  test(
    "P51: an app and its preview go only when the store is back, and then wholly",
    options,
    async (t) => {
      const { signal } = t;
      using s3 = await prepareBuckets();
      await using proxy = await LossyProxy.to(s3.server.port);
      await using bed = await OperatorBed.prepare({}, signal);
      const settings = await withStorage(bed, s3, signal, proxy.url);
      const name = newName();
      await using _operator = bed.start({ settings });
      await bed.apply(name, {
        imageRef: image,
        database: { enabled: true },
        storage: { enabled: true, buckets: [{ name: "uploads" }] },
      });
      const previews = await bed.resource(previewKind);
      const ref = { namespace, name: `${name}-7` };
      const spec = { applicationRef: name, pullRequest: 7, branch: "b" };
      await previews.create({ ...previewKind, metadata: ref, spec }, {}, signal);
      const preview = async (): Promise<Seen | undefined> => {
        const object = await previews.find(ref, signal);
        return object === undefined ? undefined : seenIn(object);
      };
      const running = await bed.until(name, isRunning);
      assert.equal(running.messages["StorageReady"], "1 bucket is there");
      await until(async () => (await preview())?.phase === "Running", signal);
      const buckets = [`plattr-preview-${name}-pr7-uploads`, `plattr-prod-${name}-uploads`];
      assert.deepEqual(await bucketsOf(s3, name), buckets);

      proxy.decide = () => "lose request";
      await bed.delete(name);
      await previews.delete(ref, signal);
      const failed = "StorageReady False CleanupFailed";
      const stuck = await bed.until(name, ({ conditions }) => conditions.includes(failed));
      const other = await until(async () => {
        const seen = await preview();
        return seen?.conditions.includes(failed) === true && seen;
      }, signal);
      for (const [index, { phase, messages }] of [other, stuck].entries()) {
        assert.equal(phase, "Terminating");
        assert.match(messages["StorageReady"] ?? "", new RegExp(`bucket ${buckets[index]}`));
      }
      proxy.decide = () => "pass";
      await bed.untilGone(name);
      await until(async () => (await preview()) === undefined, signal);
      assert.deepEqual(await bucketsOf(s3, name), []);
      assert.deepEqual(await leftovers(bed.database, name), nothing);
    },
  );
});

/** Everything that this generation asks for is there. */
function ranAs(generation: number): (seen: Seen) => boolean {
  return (seen) => isRunning(seen) && seen.observedGeneration === generation;
}

function isRunning({ phase }: Seen): boolean {
  return phase === "Running";
}

async function bucketsOf({ server }: BucketBed, name: string): Promise<string[]> {
  return (await server.buckets()).filter((bucket) => bucket.includes(`-${name}-`));
}

async function withStorage(
  bed: OperatorBed,
  { server, account }: BucketBed,
  signal: AbortSignal,
  endpoint = server.endpoint,
): Promise<OperatorSettings> {
  const secrets = await bed.resource({ apiVersion: "v1", kind: "Secret" });
  await secrets.create(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "app-s3", namespace },
      stringData: keys,
    },
    {},
    signal,
  );
  const { region } = server;
  const storage = { region, endpoint, appS3Secret: "app-s3", keys: () => Promise.resolve(account) };
  return { ...bed.settings, storage };
}
