// What becomes of an app that runs: restarts, repairs, changes of what it asks for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { leftovers, nothing } from "@keelson/platform/testing";
import type { JsonObject } from "@keelson/base";
import { refOf, type DynamicObject } from "@keelson/client";
import { measure } from "../apiserver/scenarios/length.ts";
import { clusterSuite, isOracle, ownTest } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { withoutWaitsFrom } from "./clocks.ts";
import { searchPathsAt } from "./drivers.ts";
import { applications, namespace, newName, OperatorBed, type Seen } from "./operator-bed.ts";
import { withoutS3 } from "./s3-server.ts";
import { podSpecOf, targetIn } from "./service-target.ts";

const image = "registry.example.com/shop:1";
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
const services = { apiVersion: "v1", kind: "Service" };
const secrets = { apiVersion: "v1", kind: "Secret" };
const middlewares = { apiVersion: "traefik.io/v1alpha1", kind: "Middleware" };
const jobs = { apiVersion: "batch/v1", kind: "Job" };
const pods = { apiVersion: "v1", kind: "Pod" };
const ingresses = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };

interface Containers {
  readonly replicas?: number;
  readonly template: {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: { readonly containers: readonly { readonly name: string; image: string }[] };
  };
}

interface Timed {
  readonly type: string;
  readonly reason: string;
  readonly observedGeneration: number;
}

function specOf(deployment: DynamicObject | undefined): Containers {
  return deployment?.["spec"] as unknown as Containers;
}

function portsOf(service: DynamicObject | undefined): number[] {
  const { ports = [] } = (service?.["spec"] ?? {}) as unknown as { ports?: { port: number }[] };
  return ports.map(({ port }) => port);
}

function imageOf(deployment: DynamicObject | undefined): string | undefined {
  return specOf(deployment)?.template.spec.containers.find(({ name }) => name === "app")?.image;
}

/** It runs, and has its address where there are any. */
function isSettled({ phase, conditions }: Seen): boolean {
  const hasAddress = isOracle || conditions.some((one) => one.startsWith("IngressReady True "));
  return phase === "Running" && hasAddress;
}

clusterSuite("the operator, while apps run", () => {
  test("P19, P20: a restart writes no child, and every password stays", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const names = Array.from({ length: measure({ gate: 3, full: 100 }) }, newName);
    {
      await using _first = bed.start();
      for (const name of names) {
        await bed.apply(name, { imageRef: image, database: { enabled: true } });
      }
      for (const name of names) await bed.until(name, isSettled);
    }
    const [children, passwords] = [await bed.children(), await passwordsOf(bed, names)];
    const versions = await versionsOf(bed, names);
    const writes: string[] = [];
    const second = bed.start({
      onCall: ({ service, name, when }) => {
        const isWrite = service === "kubernetes" && !name.startsWith("GET ");
        if (isWrite && when === "before") writes.push(name);
      },
    });
    // It has looked at all of them once it repairs what somebody does now.
    await until(() => second.operator.isReady, t.signal);
    const [first = ""] = names;
    await (await bed.resource(services)).delete({ namespace, name: first }, t.signal);
    await until(async () => (await bed.find(services, first)) !== undefined, t.signal);
    // The cluster writes the statuses of some, at moments of its own: who scales looks for the first time after a quarter of a minute.
    const ofOthers = (all: readonly string[]) =>
      all
        .filter((one) => !one.startsWith(`Service ${first} `))
        .map((one) => one.replace(/^((?:Deployment|HorizontalPodAutoscaler) \S+) .*/, "$1"));
    assert.deepEqual(ofOthers(await bed.children()), ofOthers(children));
    assert.deepEqual(await passwordsOf(bed, names), passwords);
    assert.deepEqual(await versionsOf(bed, names), versions);
    assert.deepEqual(
      writes.filter((name) => !name.includes("/events")),
      [`PATCH /api/v1/namespaces/${namespace}/services/${first}`],
    );
  });

  test("P10, P19: psql and both drivers log in with the Secret, whatever happens to it", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const name = newName();
    const schema = `prod_${name.replaceAll("-", "_")}`;
    const urlNow = async (): Promise<string> =>
      (await bed.secret(`${name}-db`))?.["DATABASE_URL"] ?? "";
    const allEnter = async (url: string): Promise<void> => {
      assert.deepEqual(await searchPathsAt(url), [schema, schema, schema]);
    };
    let url = "";
    {
      await using _first = bed.start();
      await bed.apply(name, { imageRef: image, database: { enabled: true } });
      await bed.until(name, ({ phase }) => phase === "Running");
      url = await urlNow();
      await allEnter(url);
    }
    await using _second = bed.start();
    await allEnter(await urlNow());
    // A Secret that is deleted is made anew, with another password.
    await (await bed.resource(secrets)).delete({ namespace, name: `${name}-db` }, t.signal);
    await until(async () => ![url, ""].includes(await urlNow()), t.signal);
    const enters = async (): Promise<boolean> =>
      await bed.database.queryAs(await urlNow(), "SELECT 1").then(
        () => true,
        () => false,
      );
    await until(enters, t.signal);
    await allEnter(await urlNow());
    // A password that somebody else sets is set back when the app is next looked at.
    url = await urlNow();
    await bed.database.query(`ALTER ROLE ${schema}_app PASSWORD 'mine'`);
    const annotations = { "example.com/touched": "yes" };
    await bed.patch(services, name, { metadata: { annotations } });
    await until(enters, t.signal);
    assert.equal(await urlNow(), url);
    await allEnter(url);
    await bed.delete(name);
    await bed.untilGone(name);
  });

  test("P22: what somebody deletes or edits is put right", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const name = newName();
    await bed.apply(name, { imageRef: image, database: { enabled: true } });
    await bed.until(name, ({ phase }) => phase === "Running");
    const before = await bed.secret(`${name}-db`);

    await bed.patch(deployments, name, {
      spec: { template: { spec: { containers: [{ name: "app", image: "evil:1" }] } } },
    });
    await until(async () => imageOf(await bed.find(deployments, name)) === image, t.signal);
    await (await bed.resource(services)).delete({ namespace, name }, t.signal);
    await until(async () => (await bed.find(services, name)) !== undefined, t.signal);
    const ref = { namespace, name: `${name}-db` };
    await (await bed.resource(secrets)).delete(ref, t.signal);
    const after = await until(async () => await bed.secret(ref.name), t.signal);
    assert.notEqual(after["DB_PASSWORD"], before?.["DB_PASSWORD"]);
    await until(
      () =>
        bed.database.queryAs(after["DATABASE_URL"] ?? "", "SELECT 1").then(
          () => true,
          () => false,
        ),
      t.signal,
    );
    await until(async () => (await bed.events(name)).includes("DriftRepaired"), t.signal);
    await bed.until(name, ({ phase }) => phase === "Running");
  });

  test("P21: the number of pods is the autoscaler's, whatever else changes", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const name = newName();
    await bed.apply(name, { imageRef: image });
    await bed.until(name, ({ phase }) => phase === "Running");
    await bed.patch(deployments, name, { spec: { replicas: 7 } });
    await bed.apply(name, { imageRef: "registry.example.com/shop:2" });
    const running = await bed.until(
      name,
      ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 2,
    );
    const deployment = await bed.find(deployments, name);
    assert.deepEqual(
      [imageOf(deployment), specOf(deployment).replicas],
      ["registry.example.com/shop:2", 7],
    );
    assert.match(running.messages["DeploymentReady"] ?? "", /7 pods ready/);
  });

  test("P16: variables of all kinds, and one rollout for each change of them", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const name = newName();
    await (
      await bed.resource(secrets)
    ).create(
      { ...secrets, metadata: { name: "mail", namespace }, stringData: { key: "1", other: "1" } },
      {},
      t.signal,
    );
    const envVars = [
      { name: "PLAIN", value: "x" },
      { name: "MAIL_KEY", secretKeyRef: { name: "mail", key: "key" } },
    ];
    await bed.apply(name, { imageRef: image, envVars });
    await bed.until(name, ({ phase }) => phase === "Running");
    const checksum = async () =>
      specOf(await bed.find(deployments, name)).template.metadata.annotations?.[
        "platform.internal/checksum"
      ];
    /** Each rollout has one of its own. */
    const rollouts = async () => {
      const sets = await bed.resource({ apiVersion: "apps/v1", kind: "ReplicaSet" });
      const { items } = await sets.list({ namespace }, t.signal);
      return items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name).length;
    };
    const first = await checksum();

    await (
      await bed.resource(secrets)
    ).create(
      { ...secrets, metadata: { name: `${name}-env`, namespace }, stringData: { A: "1" } },
      {},
      t.signal,
    );
    const second = await until(async () => {
      const now = await checksum();
      return now !== first && (await rollouts()) > 1 && now;
    }, t.signal);
    await bed.until(name, ({ phase }) => phase === "Running");
    assert.equal(await rollouts(), 2);
    // What it does not read is no change; what it reads is.
    await bed.patch(secrets, "mail", { stringData: { other: "2" } });
    await bed.patch(secrets, "mail", { stringData: { key: "2" } });
    await until(async () => (await checksum()) !== second && (await rollouts()) > 2, t.signal);
    await bed.until(name, ({ phase }) => phase === "Running");
    assert.equal(await rollouts(), 3);
  });

  test("P23: a database that is switched off goes, and with Retain waits for who adopts it", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start();
    const name = newName();
    const schema = `prod_${name.replaceAll("-", "_")}`;
    const on = { imageRef: image, database: { enabled: true } };
    await bed.apply(name, { ...on, deletionPolicy: "Retain" });
    await bed.until(name, ({ phase }) => phase === "Running");
    const { DATABASE_URL: url = "" } = (await bed.secret(`${name}-db`)) ?? {};
    await bed.database.queryAs(url, "CREATE TABLE kept AS SELECT 1 AS one");

    await bed.apply(name, { imageRef: image, deletionPolicy: "Retain" });
    const off = await bed.until(name, ({ observedGeneration }) => observedGeneration === 2);
    assert.ok(off.owned.includes(`Schema ${schema} Retained`), String(off.owned));
    assert.equal(
      off.conditions.some((one) => one.startsWith("DatabaseReady")),
      false,
    );
    assert.deepEqual(
      [
        await bed.find(secrets, `${name}-db`),
        await bed.find(ingresses, `${name}-api`),
        specOf(await bed.find(deployments, name)).template.spec.containers.map(({ name }) => name),
        portsOf(await bed.find(services, name)),
      ],
      [undefined, undefined, ["app"], [80]],
    );
    await assert.rejects(bed.database.queryAs(url, "SELECT 1"));

    await bed.delete(name);
    await bed.untilGone(name);
    // Another of the same name must say that it wants what is there.
    await bed.apply(name, { ...on, deletionPolicy: "Delete" });
    const refused = await bed.until(name, ({ phase }) => phase === "Failed");
    assert.ok(
      refused.conditions.includes("DatabaseReady False Conflict"),
      String(refused.conditions),
    );
    await bed.patchApplication(name, {
      metadata: { annotations: { "platform.internal/adopt": "true" } },
    });
    await bed.until(name, ({ phase }) => phase === "Running");
    const { DATABASE_URL: again = "" } = (await bed.secret(`${name}-db`)) ?? {};
    assert.deepEqual(await bed.database.queryAs(again, "TABLE kept"), [{ one: 1 }]);

    await bed.apply(name, { imageRef: image });
    await bed.until(name, ({ observedGeneration }) => observedGeneration === 2);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    await bed.delete(name);
    await bed.untilGone(name);
  });

  ownTest("what is left of routes for traefik goes with nginx, and nothing else", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await serveMiddlewares(bed, t.signal);
    const name = newName();
    {
      const settings = { ...bed.settings, ingressRewrite: "traefik" } as const;
      await using _traefik = bed.start({ settings });
      await bed.apply(name, { imageRef: image, database: { enabled: true } });
      await bed.until(name, ({ phase }) => phase === "Running");
      assert.notEqual(await bed.find(middlewares, `${name}-api`), undefined);
    }
    // Somebody's own, and one that somebody has made of ours.
    const { labels = {} } = (await bed.find(middlewares, `${name}-api`))?.metadata ?? {};
    for (const metadata of [{ name: "own" }, { name: "copied", labels }]) {
      const foreign = { ...middlewares, metadata: { ...metadata, namespace } };
      await (await bed.resource(middlewares)).create(foreign, {}, t.signal);
    }
    await using _nginx = bed.start();
    await until(async () => (await bed.find(middlewares, `${name}-api`)) === undefined, t.signal);
    assert.notEqual(await bed.find(middlewares, "own"), undefined);
    assert.notEqual(await bed.find(middlewares, "copied"), undefined);
    await bed.delete(name);
    await bed.untilGone(name);
  });

  // How a Job ends is up to its own controller, where there is one.
  ownTest("a new image waits for its migrations, and what runs goes on until then", async (t) => {
    await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
    bed.start({ clock: withoutWaitsFrom(10_001) });
    const name = newName();
    const database = { enabled: true, migrations: { engine: "knex" } };
    await bed.apply(name, { imageRef: image, database });
    const waiting = await bed.until(name, ({ conditions }) =>
      conditions.includes("DatabaseReady False Migrating"),
    );
    assert.equal(waiting.phase, "Provisioning");
    assert.equal(await bed.find(deployments, name), undefined);
    assert.equal(waiting.observedGeneration, undefined);
    await bed.endJob(name, "Complete");
    await until(async () => imageOf(await bed.find(deployments, name)) === image, t.signal);
    await bed.until(name, ({ observedGeneration }) => observedGeneration === 1);

    const targets = async () => {
      const service = await bed.find({ apiVersion: "v1", kind: "Service" }, name);
      const pod = podSpecOf(await bed.find(deployments, name));
      return [80, 3001].map((port) => targetIn(service, pod, port));
    };
    assert.deepEqual(await targets(), [3000, 3001]);
    await bed.apply(name, { imageRef: "registry.example.com/shop:2", port: 9000, database });
    await bed.until(name, ({ conditions }) => conditions.includes("DatabaseReady False Migrating"));
    await bed.endJob(name, "Failed");
    const failed = await bed.until(name, ({ conditions }) =>
      conditions.includes("DatabaseReady False MigrationFailed"),
    );
    assert.equal(failed.phase, "Failed");
    assert.equal(imageOf(await bed.find(deployments, name)), image);
    // What runs is still reached, though the new image would listen elsewhere.
    assert.deepEqual(await targets(), [3000, 3001]);
    assert.equal(failed.observedGeneration, 1);

    // Until somebody mends it, what it has is looked after nevertheless.
    const secrets = { apiVersion: "v1", kind: "Secret" };
    const before = await bed.find(secrets, `${name}-db`);
    await (await bed.resource(secrets)).delete({ namespace, name: `${name}-db` }, t.signal);
    await until(async () => {
      const uid = (await bed.find(secrets, `${name}-db`))?.metadata.uid;
      return uid !== undefined && uid !== before?.metadata.uid;
    }, t.signal);
  });

  ownTest("what runs keeps what it reads until a new image takes its place", async (t) => {
    const hasStorage = withoutS3 === false;
    await using bed = await OperatorBed.prepare(
      { simulatesWorkloads: false, hasStorage },
      t.signal,
    );
    bed.start({ clock: withoutWaitsFrom(10_001) });
    const name = newName();
    const database = { enabled: true, migrations: { engine: "knex" } };
    const buckets = [{ name: "uploads" }];
    const storage = hasStorage ? { storage: { enabled: true, buckets } } : {};
    const read = [
      ["ConfigMap", "redis"],
      ...(hasStorage
        ? [
            ["ConfigMap", "storage"],
            ["Secret", "s3"],
          ]
        : []),
    ] as const;
    const uids = async () =>
      await Promise.all(
        read.map(async ([kind = "", what]) => {
          const found = await bed.find({ apiVersion: "v1", kind }, `${name}-${what}`);
          return found?.metadata.uid;
        }),
      );
    const deploy = async (
      imageRef: string,
      ending: "Complete" | "Failed",
      spec: JsonObject = {},
    ) => {
      await bed.apply(name, { imageRef, database, deletionPolicy: "Retain", ...spec });
      await bed.until(name, ({ conditions }) =>
        conditions.includes("DatabaseReady False Migrating"),
      );
      await bed.endJob(name, ending);
    };
    await deploy("shop:1", "Complete", { redis: { enabled: true }, ...storage });
    await bed.until(name, ({ observedGeneration }) => observedGeneration === 1);
    const before = await uids();
    assert.ok(!before.includes(undefined));

    await deploy("shop:2", "Failed");
    await bed.until(name, ({ conditions }) =>
      conditions.includes("DatabaseReady False MigrationFailed"),
    );
    assert.equal(imageOf(await bed.find(deployments, name)), "shop:1");
    assert.deepEqual(await uids(), before);

    await deploy("shop:3", "Complete");
    await bed.until(name, ({ observedGeneration }) => observedGeneration === 3);
    assert.equal(imageOf(await bed.find(deployments, name)), "shop:3");
    assert.deepEqual(
      await uids(),
      before.map(() => undefined),
    );
  });

  ownTest(
    "an image that may not migrate, for it runs as root, may once it is told a user",
    async (t) => {
      await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
      bed.start({ clock: withoutWaitsFrom(10_001) });
      const name = newName();
      const database = { enabled: true, migrations: { engine: "prisma" } };
      await bed.apply(name, { imageRef: image, database });
      const jobsOf = async () => {
        const { items } = await (await bed.resource(jobs)).list({ namespace }, t.signal);
        return items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name);
      };
      const job = await until(async () => (await jobsOf())[0], t.signal);
      const { template } = job["spec"] as unknown as {
        template: { metadata: JsonObject; spec: JsonObject };
      };
      const ref = { namespace, name: `${name}-migrates` };
      const { creationTimestamp: _none, ...metadata } = template.metadata;
      const podResource = await bed.resource(pods);
      await podResource.create(
        { ...pods, metadata: { ...metadata, ...ref }, spec: template.spec },
        {},
        t.signal,
      );
      const waiting = {
        reason: "CreateContainerConfigError",
        message: "container has runAsNonRoot and image will run as root",
      };
      const status = { name: "migrate", image, imageID: "", ready: false, restartCount: 0 };
      const body = { status: { containerStatuses: [{ ...status, state: { waiting } }] } };
      await podResource.patch(
        ref,
        { type: "merge", body, options: { subresource: "status" } },
        t.signal,
      );
      const refused = await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False ImageRunsAsRoot"),
      );
      assert.match(
        refused.messages["DeploymentReady"] ?? "",
        /^the image of container migrate runs as root, which pod .*-migrates does not allow: .* set spec\.runAsUser$/,
      );

      await bed.apply(name, { imageRef: image, database, runAsUser: 1001 });
      await until(
        async () => (await jobsOf()).every(({ metadata }) => metadata.uid !== job.metadata.uid),
        t.signal,
      );
      await podResource.delete({ ...ref, gracePeriodSeconds: 0 }, t.signal);
      await bed.until(name, ({ conditions }) =>
        conditions.includes("DeploymentReady False Waiting"),
      );
      await bed.endJob(name, "Complete");
      await until(async () => imageOf(await bed.find(deployments, name)) === image, t.signal);
    },
  );

  ownTest("a migration that is at work ends before that of a newer image begins", async (t) => {
    await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
    bed.start({ clock: withoutWaitsFrom(10_001) });
    const name = newName();
    const resource = await bed.resource(jobs);
    const jobOf = async (image: string) => {
      const { items } = await resource.list({ namespace }, t.signal);
      return items.find(
        (job) =>
          job.metadata.ownerReferences?.[0]?.name === name &&
          specOf(job).template.spec.containers[0]?.image === image,
      );
    };
    const ask = async (imageRef: string) => {
      const database = { enabled: true, migrations: { engine: "knex" } };
      const { metadata } = await bed.apply(name, { imageRef, database });
      await bed.until(name, ({ object }) => {
        const { conditions = [] } = (object["status"] ?? {}) as unknown as {
          conditions?: readonly Timed[];
        };
        const { reason, observedGeneration } =
          conditions.find(({ type }) => type === "DatabaseReady") ?? {};
        return reason === "Migrating" && observedGeneration === metadata.generation;
      });
    };
    const [first, second, third] = ["shop:1", "shop:2", "shop:3"] as const;
    await ask(first);
    const working = await until(() => jobOf(first), t.signal);
    const report = async (ready: number) => {
      const body = { status: { active: ready, ready, startTime: "2026-01-01T00:00:00Z" } };
      const patch = { type: "merge", body, options: { subresource: "status" } } as const;
      await resource.patch(refOf(working), patch, t.signal);
    };
    await report(1);
    await ask(second);
    assert.equal((await jobOf(first))?.metadata.uid, working.metadata.uid);
    assert.equal(await jobOf(second), undefined);
    await report(0);
    await until(async () => (await jobOf(second)) !== undefined, t.signal);
    // What has not begun is not waited for: its image may not even be there.
    await ask(third);
    for (const image of [first, second]) {
      await until(async () => (await jobOf(image)) === undefined, t.signal);
    }
    assert.equal(await bed.find(deployments, name), undefined);
    await bed.endJob(name, "Complete");
    await until(async () => imageOf(await bed.find(deployments, name)) === third, t.signal);
  });

  ownTest(
    "a database that is wanted again when half of it is gone begins anew, with its migrations",
    async (t) => {
      await using bed = await OperatorBed.prepare({ simulatesWorkloads: false }, t.signal);
      let isCut = true;
      bed.start({
        clock: withoutWaitsFrom(10_001),
        onCall: ({ service, name, when }) => {
          if (isCut && service === "sql" && name === "dropSchema" && when === "before") {
            throw new Error("cut off");
          }
        },
      });
      const name = newName();
      const migrations = { engine: "knex" };
      await bed.apply(name, { imageRef: image, database: { enabled: true, migrations } });
      const migrating = "DatabaseReady False Migrating";
      await bed.until(name, ({ conditions }) => conditions.includes(migrating));
      await bed.endJob(name, "Complete");
      await bed.until(name, ({ observedGeneration }) => observedGeneration === 1);
      const { DATABASE_URL: url = "" } = (await bed.secret(`${name}-db`)) ?? {};
      await bed.database.queryAs(url, "CREATE TABLE todos (id integer)");

      await bed.apply(name, { imageRef: image, database: { enabled: false, migrations } });
      await bed.until(name, ({ conditions }) =>
        conditions.includes("DatabaseReady False CleanupFailed"),
      );
      await bed.apply(name, { imageRef: image, database: { enabled: true, migrations } });
      await bed.until(name, ({ conditions }) => conditions.includes("DatabaseReady False Error"));
      isCut = false;
      await bed.until(name, ({ conditions }) => conditions.includes(migrating));
      const { DATABASE_URL: again = "" } = (await bed.secret(`${name}-db`)) ?? {};
      await bed.database.queryAs(again, "CREATE TABLE todos (id integer)");
      await bed.endJob(name, "Complete");
      await bed.until(name, ({ observedGeneration }) => observedGeneration === 3);
    },
  );
});

/** As a cluster with traefik does. */
async function serveMiddlewares(bed: OperatorBed, signal: AbortSignal): Promise<void> {
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name: "v1alpha1", served: true, storage: true };
  const definition: DynamicObject = {
    ...kind,
    metadata: { name: "middlewares.traefik.io" },
    spec: {
      group: "traefik.io",
      scope: "Namespaced",
      names: { plural: "middlewares", singular: "middleware", kind: "Middleware" },
      versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
    },
  };
  await (await bed.resource(kind)).create(definition, {}, signal);
  await until(async () => {
    bed.client.kinds.invalidate();
    const found = await bed.resource(middlewares).catch(() => undefined);
    return (await found?.list({}, signal).catch(() => undefined)) !== undefined;
  }, signal);
}

async function passwordsOf(bed: OperatorBed, names: readonly string[]): Promise<unknown[]> {
  return await Promise.all(names.map((name) => bed.secret(`${name}-db`)));
}

async function versionsOf(bed: OperatorBed, names: readonly string[]): Promise<unknown[]> {
  return await Promise.all(
    names.map(async (name) => (await bed.find(applications, name))?.metadata.resourceVersion),
  );
}
