// What makes an app run, in a cluster: it takes all of it, and an apply that would change nothing is seen before.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { Client, type DynamicObject } from "@keelson/client";
import { fieldManager, isApplied, workloadOf } from "@keelson/platform";
import { appWith, ownerless } from "@keelson/platform/testing";
import { clusterSuite, startCluster } from "../tools/test-cluster.ts";

const settings = {
  ingressClass: "nginx",
  ingressRewrite: "nginx",
  clusterIssuer: "letsencrypt-prod",
} as const;
const whole = appWith({
  database: { enabled: true },
  storage: { enabled: true, buckets: [{ name: "up", public: false, maxFileSize: "10Mi" }] },
  cors: { origins: ["https://other.example.com"] },
  envVars: [
    { name: "A", value: "1" },
    { name: "PORT", value: "4000" },
    { name: "B", secretKeyRef: { name: "s", key: "k" } },
  ],
});
const pods = { image: "registry.example.com/my-app:1", checksum: "c1" };

clusterSuite("a workload", () => {
  test("is taken by the cluster, and needs no second apply", async (t) => {
    const { signal } = t;
    await using cluster = await startCluster({ simulatesWorkloads: false }, signal);
    await using client = new Client({ access: cluster.accessAt(cluster.port) });
    const apply = async (object: DynamicObject): Promise<DynamicObject> =>
      (await client.resource(object, signal)).apply(object, { fieldManager }, signal);
    const applyAll = async (objects: readonly DynamicObject[]) => {
      const applied: DynamicObject[] = [];
      for (const object of objects) applied.push(await apply(object));
      return applied;
    };
    /** The kinds that an apply would touch. */
    const touched = (desired: readonly DynamicObject[], live: readonly DynamicObject[]) =>
      desired
        .filter((object, index) => !isApplied(object, live[index] ?? object))
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);

    const desired = workloadOf(ownerless(whole), settings, pods);
    const live = await applyAll(desired);
    assert.deepEqual(
      live.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [
        "ServiceAccount my-app",
        "Deployment my-app",
        "Service my-app",
        "HorizontalPodAutoscaler my-app",
        "Ingress my-app",
        "Ingress my-app-api",
      ],
    );
    assert.deepEqual(touched(desired, live), []);

    // What is no longer wanted is still ours.
    const without = workloadOf(ownerless(appWith({})), settings, pods);
    assert.deepEqual(touched(without, live), [
      "Deployment my-app",
      "Service my-app",
      "Ingress my-app",
    ]);
    // Another image, another checksum, another number of pods.
    const another = workloadOf(
      ownerless(appWith({ ...whole.spec, scaling: { min: 3, max: 20, targetCPU: 70 } })),
      settings,
      { ...pods, checksum: "c2" },
    );
    assert.deepEqual(touched(another, live), [
      "Deployment my-app",
      "HorizontalPodAutoscaler my-app",
    ]);

    const deployments = await client.resource(
      { apiVersion: "apps/v1", kind: "Deployment" },
      signal,
    );
    const patch = (body: JsonObject) =>
      deployments.patch(
        { namespace: "default", name: "my-app" },
        { type: "strategic", body, options: { fieldManager: "somebody" } },
        signal,
      );
    const [, deployment] = desired;
    assert.ok(deployment !== undefined);
    // Somebody's own fields are somebody's.
    const labelled = await patch({ metadata: { labels: { team: "a" } }, spec: { replicas: 7 } });
    assert.equal(isApplied(deployment, labelled), true);
    // Ours are ours, even in the middle of a list.
    const app = { name: "app", image: "registry.example.com/my-app:0" };
    const edited = await patch({ spec: { template: { spec: { containers: [app] } } } });
    assert.equal(isApplied(deployment, edited), false);

    const repaired = await apply(deployment);
    assert.equal(isApplied(deployment, repaired), true);
    const { replicas } = repaired["spec"] as { replicas: number };
    assert.deepEqual([repaired.metadata.labels?.["team"], replicas], ["a", 7]);
  });

  test("shows an app its variables, its own winning over ours", () => {
    const [, deployment] = workloadOf(whole, settings, pods);
    assert.ok(deployment !== undefined);
    const { template } = deployment["spec"] as unknown as {
      template: {
        spec: { containers: { name: string; env: JsonObject[]; envFrom: JsonObject[] }[] };
      };
    };
    const [app, rest] = template.spec.containers;
    assert.deepEqual(app?.envFrom, [
      { secretRef: { name: "my-app-db" } },
      { configMapRef: { name: "my-app-storage" } },
      { secretRef: { name: "my-app-s3", optional: true } },
      { secretRef: { name: "my-app-env", optional: true } },
    ]);
    assert.deepEqual(app?.env, [
      { name: "PORT", value: "4000" },
      { name: "HOSTNAME", value: "0.0.0.0" },
      { name: "POSTGREST_URL", value: "https://my-app.example.com/api/rest" },
      { name: "POSTGREST_INTERNAL_URL", value: "http://localhost:3001" },
      { name: "A", value: "1" },
      { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
    ]);
    assert.deepEqual(rest?.env.slice(1), [
      { name: "PGRST_DB_SCHEMAS", value: "prod_my_app" },
      { name: "PGRST_DB_ANON_ROLE", value: "prod_my_app_anon" },
      { name: "PGRST_SERVER_PORT", value: "3001" },
      { name: "PGRST_DB_CHANNEL_ENABLED", value: "true" },
      {
        name: "PGRST_SERVER_CORS_ALLOWED_ORIGINS",
        value: "https://my-app.example.com,https://other.example.com",
      },
    ]);
  });

  test("routes the API apart, with either controller", () => {
    const shown = (rewrite: "nginx" | "traefik") =>
      workloadOf(whole, { ...settings, ingressRewrite: rewrite }, pods)
        .filter(({ metadata: { name } }) => name === "my-app-api")
        .map(({ kind, metadata: { annotations }, spec }) => {
          const { rules } = spec as unknown as {
            rules?: { http: { paths: { path: string; pathType: string }[] } }[];
          };
          const paths = rules?.[0]?.http.paths.map(({ path, pathType }) => `${pathType} ${path}`);
          return [kind, annotations, paths ?? spec];
        });
    assert.deepEqual(shown("nginx"), [
      [
        "Ingress",
        { "nginx.ingress.kubernetes.io/rewrite-target": "/$2" },
        ["ImplementationSpecific /api/rest(/|$)(.*)"],
      ],
    ]);
    assert.deepEqual(shown("traefik"), [
      ["Middleware", undefined, { stripPrefix: { prefixes: ["/api/rest"] } }],
      [
        "Ingress",
        {
          "traefik.ingress.kubernetes.io/router.middlewares": "default-my-app-api@kubernetescrd",
        },
        ["Exact /api/rest", "Prefix /api/rest/"],
      ],
    ]);
  });

  test("without an image nothing runs, and without a database there is no REST", () => {
    assert.deepEqual(
      workloadOf(appWith({}), settings, undefined).map(
        ({ kind, metadata }) => `${kind} ${metadata.name}`,
      ),
      ["ServiceAccount my-app", "Service my-app", "Ingress my-app"],
    );
  });
});
