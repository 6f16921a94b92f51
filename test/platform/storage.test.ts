// The storage of an app as the operator sees to it: buckets in a real S3 server, with what the app is told in a cluster.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cleanupStorage,
  prepareStorage,
  reconcileStorage,
  workloadOf,
  type App,
  type BucketAdmin,
  type StorageSettings,
} from "@keelson/platform";
import { appWith, MemoryLedger, ownerless } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { bucketState, prepareBuckets } from "./bucket-bed.ts";
import { LossyProxy } from "./lossy-proxy.ts";
import { withoutS3 } from "./s3-server.ts";
import { prepareChildren } from "./children-bed.ts";

clusterSuite("the storage of an app", () => {
  const options = { skip: withoutS3 };

  test("one private and one public bucket: names, variables and keys", options, async (t) => {
    await using bed = await prepare(t.signal, {
      buckets: [
        { name: "uploads", public: false, maxFileSize: "10Mi" },
        { name: "site-assets", public: true },
      ],
      origins: ["https://admin.example.com"],
    });
    const { reconcile, name, endpoint } = bed;
    const { changes, wanted, finding } = await reconcile();
    const made = ["createBucket", "putBucketTagging", "putBucketCors"];
    assert.deepEqual(changes, [...made, ...made, "putBucketPolicy"]);
    assert.deepEqual(
      wanted.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [`ConfigMap ${name}-storage`, `Secret ${name}-s3`],
    );
    assert.equal(finding, undefined);
    const [uploads, assets] = [`plattr-prod-${name}-uploads`, `plattr-prod-${name}-site-assets`];
    assert.deepEqual(await bed.variables("ConfigMap", "storage"), {
      S3_ENDPOINT: endpoint,
      S3_REGION: "us-east-1",
      S3_BUCKET_UPLOADS: uploads,
      S3_BUCKET_SITE_ASSETS: assets,
      S3_MAX_FILE_SIZE_UPLOADS: "10485760",
    });
    assert.deepEqual(await bed.variables("Secret", "s3"), bed.keys);
    for (const bucket of [uploads, assets]) {
      const { cors } = (await bucketState(bed.s3, bucket)) as {
        cors: { AllowedOrigins: string[] }[];
      };
      assert.deepEqual(cors[0]?.AllowedOrigins, [
        `https://${name}.example.com`,
        "https://admin.example.com",
      ]);
      await bed.s3.putObject({ Bucket: bucket, Key: "a", Body: "1" });
    }
    const read = async (bucket: string) => (await fetch(`${endpoint}/${bucket}/a`)).status;
    assert.deepEqual([await read(uploads), await read(assets)], [403, 200]);

    // Nothing differs, also for an operator that was started anew.
    const before = await bed.versions();
    const calls: string[] = [];
    assert.deepEqual((await reconcile({}, bed.noting(calls))).changes, []);
    assert.deepEqual(
      calls.filter((call) => !/^(get|head)/.test(call)),
      [],
    );
    assert.deepEqual(await bed.versions(), before);

    // Everything that is made of the domain follows it.
    bed.change({ domain: "shop.example.org" });
    assert.deepEqual((await reconcile()).changes, ["putBucketCors", "putBucketCors"]);
  });

  test("without buckets it is ready, and no store is asked", options, async (t) => {
    await using bed = await prepare(t.signal, { buckets: [] });
    const calls: string[] = [];
    const { changes, wanted } = await bed.reconcile({}, bed.noting(calls));
    assert.deepEqual([changes, calls, wanted.length], [[], [], 2]);
    const { endpoint } = bed;
    const variables = { S3_ENDPOINT: endpoint, S3_REGION: "us-east-1" };
    assert.deepEqual(await bed.variables("ConfigMap", "storage"), variables);
    await bed.cleanup("Delete", bed.noting(calls));
    assert.deepEqual(calls, []);
    assert.equal(await bed.variables("ConfigMap", "storage"), undefined);
    assert.equal(await bed.variables("Secret", "s3"), undefined);
  });

  test(
    "a store that is away keeps no app from starting, and is made up for later",
    options,
    async (t) => {
      await using bed = await prepare(t.signal, { buckets: [{ name: "uploads", public: false }] });
      await using proxy = await LossyProxy.to(bed.port);
      const away = bed.admin({ endpoint: proxy.url });
      proxy.decide = () => "lose request";
      await assert.rejects(bed.reconcile({}, away), { reason: "Unreachable" });
      assert.ok(await bed.variables("ConfigMap", "storage"));
      assert.deepEqual(await bed.variables("Secret", "s3"), bed.keys);
      proxy.decide = () => "pass";
      assert.equal((await bed.reconcile({}, away)).changes[0], "createBucket");

      // Going, too: what is left is in the ledger.
      proxy.decide = () => "lose request";
      await assert.rejects(bed.cleanup("Delete", away), { reason: "Unreachable" });
      assert.equal(bed.ledger.contents.length, 1);
      proxy.decide = () => "pass";
      assert.deepEqual(await bed.cleanup("Delete", away), {});
      assert.deepEqual(await bed.buckets(), []);
      assert.deepEqual(bed.ledger.contents, []);
    },
  );

  test("a bucket that is no longer wanted goes, or stays, by the policy", options, async (t) => {
    const [kept, dropped] = ["kept", "dropped"].map((name) => ({ name, public: false }));
    assert.ok(kept && dropped);
    await using bed = await prepare(t.signal, { buckets: [kept, dropped] });
    const { reconcile, name, ledger } = bed;
    const [keptName, droppedName] = [`plattr-prod-${name}-kept`, `plattr-prod-${name}-dropped`];
    const slow = bed.admin({ pagesMax: 1 });
    await reconcile();
    await bed.s3.putObject({ Bucket: droppedName, Key: "a", Body: "1" });

    bed.change({ storage: { enabled: true, buckets: [kept] }, deletionPolicy: "Retain" });
    await reconcile();
    assert.deepEqual(ledger.contents, [
      `Bucket ${keptName} Ready`,
      `Bucket ${droppedName} Retained`,
    ]);
    const { tags } = (await bucketState(bed.s3, droppedName)) as { tags: Record<string, string> };
    assert.equal(tags["platform.internal/retained"], "true");
    assert.deepEqual(await bed.variables("ConfigMap", "storage"), {
      S3_ENDPOINT: bed.endpoint,
      S3_REGION: "us-east-1",
      S3_BUCKET_KEPT: keptName,
    });
    // It is not looked at again, and wanted again it is the same.
    const calls: string[] = [];
    await reconcile({}, bed.noting(calls));
    assert.equal(calls.filter((call) => call === "headBucket").length, 1);
    bed.change({ storage: { enabled: true, buckets: [kept, dropped] } });
    assert.deepEqual((await reconcile()).changes, ["putBucketTagging"]);
    assert.deepEqual(((await bucketState(bed.s3, droppedName)) as { objects: object }).objects, [
      "a",
    ]);

    bed.change({ storage: { enabled: true, buckets: [kept] }, deletionPolicy: "Delete" });
    const { left, finding } = await reconcile({}, slow);
    assert.match(left ?? "", new RegExp(`^bucket ${droppedName} is being emptied: 1 objects`));
    assert.deepEqual(finding, { status: "True", reason: "Emptying", message: left });
    assert.equal((await reconcile({}, slow)).left, undefined);
    assert.deepEqual(await bed.buckets(), [keptName]);
    assert.deepEqual(ledger.contents, [`Bucket ${keptName} Ready`]);
  });

  test("it goes with the app, or stays, by the policy", options, async (t) => {
    await using bed = await prepare(t.signal, {
      buckets: ["one", "two"].map((name) => ({ name, public: false })),
    });
    const { reconcile, cleanup, name, ledger } = bed;
    const both = [`plattr-prod-${name}-one`, `plattr-prod-${name}-two`];
    await reconcile();
    assert.deepEqual(await cleanup("Retain"), {});
    assert.deepEqual(await bed.buckets(), both.toSorted());
    assert.deepEqual(
      ledger.contents,
      both.map((bucket) => `Bucket ${bucket} Retained`),
    );
    assert.equal(await bed.variables("ConfigMap", "storage"), undefined);

    await reconcile();
    await bed.s3.putObject({ Bucket: both[0], Key: "a", Body: "1" });
    const slow = bed.admin({ pagesMax: 1 });
    assert.match((await cleanup("Delete", slow)).left ?? "", /-one is being emptied: 1 objects/);
    assert.deepEqual(await cleanup("Delete", slow), {});
    assert.deepEqual(await cleanup("Delete", slow), {});
    assert.deepEqual([await bed.buckets(), ledger.contents], [[], []]);
    assert.equal(await bed.variables("Secret", "s3"), undefined);
  });

  test(
    "somebody else's bucket keeps nobody from the others, and none from going",
    options,
    async (t) => {
      await using bed = await prepare(t.signal, {
        buckets: ["a", "b", "c"].map((name) => ({ name, public: false })),
      });
      const [a, b, c] = ["a", "b", "c"].map((bucket) => `plattr-prod-${bed.name}-${bucket}`);
      for (const Bucket of [a, c]) await bed.s3.createBucket({ Bucket });
      await assert.rejects(bed.reconcile(), {
        reason: "Conflict",
        message: `bucket ${a} exists and belongs to no app of ours; bucket ${c} exists and belongs to no app of ours`,
      });
      assert.deepEqual(bed.ledger.contents, [`Bucket ${b} Ready`]);
      // Nor the app's own, that it has done with, from going.
      bed.change({ storage: { enabled: true, buckets: [{ name: "a", public: false }] } });
      await assert.rejects(bed.reconcile(), { reason: "Conflict" });
      assert.deepEqual([await bed.buckets(), bed.ledger.contents], [[a, c], []]);
      await bed.cleanup("Delete");
      assert.deepEqual(await bed.buckets(), [a, c]);
    },
  );

  test(
    "an app is told of no bucket that is somebody else's, until it is its own",
    options,
    async (t) => {
      await using bed = await prepare(t.signal, {
        buckets: [
          { name: "theirs", public: false, maxFileSize: "1Mi" },
          { name: "own", public: false },
        ],
      });
      const [theirs, own] = ["theirs", "own"].map((bucket) => `plattr-prod-${bed.name}-${bucket}`);
      const told = async () =>
        Object.entries((await bed.variables("ConfigMap", "storage")) ?? {})
          .filter(([name]) => /^S3_(BUCKET|MAX)_/.test(name))
          .map((one) => one.join(" "))
          .toSorted();
      await bed.s3.createBucket({ Bucket: theirs });
      await assert.rejects(bed.reconcile(), { reason: "Conflict" });
      assert.deepEqual(await told(), [`S3_BUCKET_OWN ${own}`]);

      // Nor for a moment where it is looked at again, be the store there or not.
      const versions = await bed.versions();
      await using proxy = await LossyProxy.to(bed.port);
      proxy.decide = () => "lose request";
      const away = bed.admin({ endpoint: proxy.url });
      await assert.rejects(bed.reconcile({}, away), { reason: "Unreachable" });
      await assert.rejects(bed.reconcile(), { reason: "Conflict" });
      assert.deepEqual(await bed.versions(), versions);

      await bed.s3.deleteBucket({ Bucket: theirs });
      await bed.reconcile();
      const all = [`S3_BUCKET_OWN ${own}`, `S3_BUCKET_THEIRS ${theirs}`];
      assert.deepEqual(await told(), [...all, "S3_MAX_FILE_SIZE_THEIRS 1048576"]);

      // One of its own that lost its tags is still what its pods use.
      await bed.s3.deleteBucketTagging({ Bucket: theirs });
      await assert.rejects(bed.reconcile(), { reason: "Conflict" });
      assert.deepEqual(await told(), [...all, "S3_MAX_FILE_SIZE_THEIRS 1048576"]);
    },
  );

  test("pods have a role, or keys; without either an app is told so", options, async (t) => {
    await using bed = await prepare(t.signal, { buckets: [{ name: "uploads", public: false }] });
    const { reconcile } = bed;
    const template = { appS3Secret: undefined, appRoleArnTemplate: "arn:aws:iam::1:role/{app}" };
    const withRole = await reconcile(template);
    assert.deepEqual(
      withRole.wanted.map(({ kind }) => kind),
      ["ConfigMap"],
    );
    assert.equal(withRole.finding, undefined);
    const withNothing = await reconcile({ appS3Secret: undefined, endpoint: undefined });
    assert.deepEqual(
      [withNothing.finding?.status, withNothing.finding?.reason],
      ["True", "NoCredentials"],
    );
    const { S3_ENDPOINT } = (await bed.variables("ConfigMap", "storage")) ?? {};
    assert.equal(S3_ENDPOINT, "https://s3.us-east-1.amazonaws.com");
    await assert.rejects(reconcile({ appS3Secret: undefined }), {
      reason: "NotConfigured",
      message: /set APP_S3_SECRET/,
    });
    await assert.rejects(reconcile({ appS3Secret: "not-there" }), {
      reason: "NotConfigured",
      message: /^Secret default\/not-there \(APP_S3_SECRET\) is missing/,
    });
  });

  test(
    "without a store an app is told so, and one that has no buckets needs none",
    options,
    async (t) => {
      await using bed = await prepare(t.signal, { buckets: [{ name: "uploads", public: false }] });
      await assert.rejects(bed.reconcile({}, "none"), { reason: "NotConfigured" });
      assert.deepEqual(await bed.cleanup("Delete", "none"), {});
      await bed.reconcile();
      await assert.rejects(bed.cleanup("Delete", "none"), {
        reason: "NotConfigured",
        message: /^bucket plattr-prod-.*-uploads cannot be removed/,
      });
    },
  );
});

test("the largest file of an app is what its Ingress lets through, while storage is on", async () => {
  const app = appOf("my-app", {
    storage: {
      enabled: true,
      buckets: [
        { name: "a", public: false, maxFileSize: "512Ki" },
        { name: "b", public: false, maxFileSize: "2Gi" },
        { name: "c", public: false },
      ],
    },
  });
  const limit = (one: App): string | undefined => {
    const ingress = workloadOf(one, workloadSettings, undefined).find(
      ({ kind }) => kind === "Ingress",
    );
    return ingress?.metadata.annotations?.["nginx.ingress.kubernetes.io/proxy-body-size"];
  };
  const { buckets = [] } = app.spec.storage ?? {};
  const off = { ...app, spec: { ...app.spec, storage: { enabled: false, buckets } } };
  assert.deepEqual([limit(app), limit(off)], ["2147483648", undefined]);
  const huge = [{ name: "d", public: false, maxFileSize: "1000000000000Gi" }];
  const endless = { ...app, spec: { ...app.spec, storage: { enabled: true, buckets: huge } } };
  assert.equal(limit(endless), "9007199254740991");
  // traefik is told by an object of its own.
  const told = (one: App): unknown[] => {
    const settings = { ...workloadSettings, ingressRewrite: "traefik" } as const;
    return workloadOf(one, settings, undefined)
      .filter(({ kind }) => kind === "Ingress" || kind === "Middleware")
      .map(({ kind, metadata: { name, annotations = {} }, spec }) => [
        `${kind} ${name}`,
        annotations["traefik.ingress.kubernetes.io/router.middlewares"],
        annotations["nginx.ingress.kubernetes.io/proxy-body-size"],
        kind === "Middleware" ? spec : undefined,
      ]);
  };
  const middleware = `${app.namespace}-my-app-body@kubernetescrd`;
  assert.deepEqual(told(app), [
    [
      "Middleware my-app-body",
      undefined,
      undefined,
      { buffering: { maxRequestBodyBytes: 2_147_483_648 } },
    ],
    ["Ingress my-app", middleware, undefined, undefined],
  ]);
  assert.deepEqual(told(off), [["Ingress my-app", undefined, undefined, undefined]]);
});

const workloadSettings = {
  ingressClass: "nginx",
  ingressRewrite: "nginx",
  clusterIssuer: "letsencrypt-prod",
} as const;

let count = 0;

function appOf(name: string, spec: Partial<App["spec"]>, uid = "0f8c2a1e"): App {
  return ownerless(appWith(spec, uid, name));
}

async function prepare(
  signal: AbortSignal,
  {
    buckets,
    origins = [],
  }: {
    readonly buckets: NonNullable<App["spec"]["storage"]>["buckets"];
    readonly origins?: readonly string[];
  },
) {
  await using setup = new AsyncDisposableStack();
  const bed = setup.use(await prepareBuckets());
  const { client, children } = setup.use(await prepareChildren(signal));
  const secrets = await client.resource({ apiVersion: "v1", kind: "Secret" }, signal);
  const configMaps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
  const keys = { S3_ACCESS_KEY: "an app's", S3_SECRET_KEY: "its secret" };
  await secrets.create(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "app-s3", namespace: "default" },
      stringData: { ...keys, OTHER: "not for apps" },
    },
    {},
    signal,
  );
  const name = `shop-${process.pid}-s${++count}`;
  let spec: Partial<App["spec"]> = {
    storage: { enabled: true, ...(buckets === undefined ? {} : { buckets }) },
    cors: { origins: [...origins] },
  };
  const uid = `0000-${count}`;
  const ledger = new MemoryLedger();
  const { endpoint, region, port } = bed.server;
  const usual = bed.admin();
  const step = (admin: BucketAdmin | "none", change: Partial<StorageSettings> = {}) => ({
    admin: admin === "none" ? undefined : admin,
    children,
    secrets,
    settings: { endpoint, region, appS3Secret: "app-s3", operatorNamespace: "default", ...change },
  });
  const kept = setup.move();
  return {
    name,
    endpoint,
    port,
    ledger,
    keys,
    s3: bed.client,
    admin: bed.admin,
    noting: bed.noting,
    change: (change: Partial<App["spec"]>): void => {
      spec = { ...spec, ...change };
    },
    reconcile: async (
      change: Partial<StorageSettings> = {},
      admin: BucketAdmin | "none" = usual,
    ) => {
      const given = step(admin, change);
      const app = appOf(name, spec, uid);
      const prepared = await prepareStorage(given, { app, ledger }, signal);
      const outcome = await reconcileStorage(given, { app, ledger, adopts: false }, signal);
      return { ...outcome, wanted: [...prepared, ...outcome.wanted] };
    },
    cleanup: (policy: "Delete" | "Retain", admin: BucketAdmin | "none" = usual) =>
      cleanupStorage(step(admin), { app: appOf(name, spec, uid), ledger, policy }, signal),
    /** What a child of the app says, in clear; undefined if there is none. */
    variables: async (
      kind: "ConfigMap" | "Secret",
      suffix: string,
    ): Promise<Record<string, string> | undefined> => {
      const resource = kind === "Secret" ? secrets : configMaps;
      const found = await resource.find(
        { namespace: "default", name: `${name}-${suffix}` },
        signal,
      );
      if (found === undefined) return undefined;
      const data = (found["data"] ?? {}) as Record<string, string>;
      if (kind === "ConfigMap") return { ...data };
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
      );
    },
    versions: async () => {
      const ref = (suffix: string) => ({ namespace: "default", name: `${name}-${suffix}` });
      const found = [
        await configMaps.find(ref("storage"), signal),
        await secrets.find(ref("s3"), signal),
      ];
      return found.map((object) => object?.metadata.resourceVersion);
    },
    /** Of the app, in order. */
    buckets: async () =>
      (await bed.server.buckets()).filter((bucket) => bucket.startsWith(`plattr-prod-${name}-`)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
