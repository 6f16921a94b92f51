// An app that asks for everything, with every service there, and with some of them away.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { test } from "node:test";
import { leftovers, nothing } from "@keelson/platform/testing";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { sharedKeycloak, withoutKeycloak } from "./keycloak-server.ts";
import { LeapingClock } from "./clocks.ts";
import { namespace, newName, OperatorBed } from "./operator-bed.ts";
import { sharedS3, withoutS3 } from "./s3-server.ts";

const image = "registry.example.com/shop:1";
const configMaps = { apiVersion: "v1", kind: "ConfigMap" };
const everything = {
  imageRef: image,
  database: { enabled: true },
  storage: { enabled: true, buckets: [{ name: "uploads" }] },
  auth: { enabled: true },
  redis: { enabled: true },
  search: { enabled: true },
};
const skip = withoutKeycloak || withoutS3;

/** What Keycloak says of a client. */
interface Client {
  readonly id: string;
  readonly redirectUris: readonly string[];
}

clusterSuite("the services of an app", () => {
  test("P17, P34: all of them are there, and go in order", { skip }, async (t) => {
    await using bed = await OperatorBed.prepare({ hasStorage: true, hasLogin: true }, t.signal);
    const calls: string[] = [];
    bed.start({
      onCall: ({ service, name, when }) => {
        if (when === "before") calls.push(`${service} ${name}`);
      },
    });
    const name = newName();
    await bed.apply(name, everything);
    const running = await bed.until(name, ({ phase }) => phase === "Running");
    assert.deepEqual(
      running.conditions
        .filter((one) => !one.startsWith("IngressReady"))
        .map((one) => one.split(" ").slice(0, 2).join(" ")),
      [
        "DatabaseReady True",
        "StorageReady True",
        "AuthReady True",
        "RedisReady True",
        "SearchReady True",
        "DeploymentReady True",
        "Ready True",
      ],
    );
    const variables: Record<string, unknown> = {};
    for (const part of ["storage", "auth", "redis", "search"]) {
      Object.assign(variables, (await bed.find(configMaps, `${name}-${part}`))?.["data"]);
    }
    const { endpoint } = await sharedS3();
    assert.deepEqual(variables, {
      S3_ENDPOINT: endpoint,
      S3_REGION: "us-east-1",
      S3_BUCKET_UPLOADS: `plattr-prod-${name}-uploads`,
      AUTH_ISSUER_URL: `https://auth.example.com/realms/${name}`,
      AUTH_CLIENT_ID: name,
      REDIS_URL: "redis://redis.example.com:6379",
      REDIS_HOST: "redis.example.com",
      REDIS_PORT: "6379",
      OPENSEARCH_URL: "https://search.example.com",
      OPENSEARCH_INDEX_PREFIX: `prod_${name.replaceAll("-", "_")}_`,
    });

    calls.length = 0;
    await bed.delete(name);
    await bed.untilGone(name);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    const { ask } = await sharedKeycloak();
    assert.equal(await ask("GET", `/${name}`), undefined);
    const buckets = await (await sharedS3()).buckets();
    assert.deepEqual(
      buckets.filter((bucket) => bucket.includes(name)),
      [],
    );
    // What runs, the login, the buckets, the database; the finalizer last.
    const first = (sign: RegExp) => calls.findIndex((call) => sign.test(call));
    const order = [
      first(/DELETE .*\/ingresses\//),
      first(/DELETE .*\/deployments\//),
      first(/^keycloak del/i),
      first(/^s3 deleteBucket$/i),
      first(/^sql dropRole/),
      first(/^sql dropSchema/),
      calls.findLastIndex((call) => /^kubernetes PATCH .*\/applications\/[^/]+$/.test(call)),
    ];
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
      calls.join("\n"),
    );
    assert.ok(
      order.every((index) => index >= 0),
      `${order.join()}\n${calls.join("\n")}`,
    );
    const writes = calls.filter((call) => !/^kubernetes GET|\/events/.test(call));
    assert.match(writes.at(-1) ?? "", /^kubernetes PATCH .*\/applications\/[^/]+$/);
  });

  test(
    "P28: a Keycloak that hangs keeps nobody from running, and is caught up with",
    { skip },
    async (t) => {
      await using bed = await OperatorBed.prepare({ hasStorage: true, hasLogin: true }, t.signal);
      const { port, access } = await sharedKeycloak();
      let [isHanging, asked] = [true, 0];
      // Connections are taken, and nothing is answered.
      await using way = await listening((client) => {
        asked += 1;
        if (isHanging) return client.on("error", () => undefined);
        const server = connect(port, "127.0.0.1");
        return void pipeline(client, server, client, () => undefined);
      });
      const url = `http://127.0.0.1:${way.port}`;
      const clock = new LeapingClock();
      bed.start({
        clock,
        settings: {
          ...bed.settings,
          auth: { ...bed.settings.auth, access: async () => ({ ...(await access()), url }) },
        },
      });
      const name = newName();
      await bed.apply(name, everything);
      await until(() => asked > 0, t.signal);
      clock.leap(10_000);
      const without = await bed.until(
        name,
        ({ conditions }) =>
          conditions.includes("AuthReady False Unreachable") &&
          conditions.includes("DeploymentReady True Available"),
      );
      assert.match(without.messages["AuthReady"] ?? "", /not answered within 10 s/);
      assert.notEqual(without.phase, "Running");
      isHanging = false;
      clock.leap(30_000);
      await bed.until(name, ({ phase }) => phase === "Running");
      await bed.delete(name);
      await bed.untilGone(name);
      await until(async () => (await bed.events(name)).includes("CleanedUp"), t.signal);
    },
  );

  test(
    "every pass compares all services, and what Secrets say reaches apps",
    { skip },
    async (t) => {
      await using bed = await OperatorBed.prepare({ hasStorage: true, hasLogin: true }, t.signal);
      bed.start();
      const name = newName();
      const schema = `prod_${name.replaceAll("-", "_")}`;
      await bed.apply(name, { ...everything, auth: { enabled: true, providers: ["github"] } });
      const running = await bed.until(name, ({ phase }) => phase === "Running");
      assert.ok(running.conditions.includes("AuthReady True ProviderNotConfigured"));

      // Somebody has been everywhere.
      const { ask } = await sharedKeycloak();
      const server = await sharedS3();
      const s3 = server.clientOf(server.root);
      const Bucket = `plattr-prod-${name}-uploads`;
      const clientOf = async () =>
        (await ask<Client[]>("GET", `/${name}/clients?clientId=${name}`))?.[0];
      const before = await clientOf();
      await ask("PUT", `/${name}/clients/${before?.id ?? ""}`, {
        ...before,
        redirectUris: ["https://evil.example.com/*"],
      });
      await s3.deleteBucketCors({ Bucket });
      await bed.database.query(`REVOKE USAGE ON SCHEMA ${schema} FROM ${schema}_anon`);
      // Something else brings the app up.
      const annotations = { "example.com/touched": "yes" };
      await bed.patch({ apiVersion: "v1", kind: "Service" }, name, { metadata: { annotations } });
      await until(async () => {
        const [right] = await bed.database.query<{ has: boolean }>(
          `SELECT has_schema_privilege('${schema}_anon', '${schema}', 'USAGE') AS has`,
        );
        return right?.has;
      }, t.signal);
      await until(
        () =>
          s3.getBucketCors({ Bucket }).then(
            ({ CORSRules = [] }) => CORSRules.length > 0,
            () => false,
          ),
        t.signal,
      );
      await until(
        async () => (await clientOf())?.redirectUris[0] === `https://${name}.example.com/*`,
        t.signal,
      );

      const secrets = { apiVersion: "v1", kind: "Secret" };
      const write = async (secret: string, stringData: Record<string, string>): Promise<void> => {
        const object = { ...secrets, metadata: { name: secret, namespace }, stringData };
        await (await bed.resource(secrets)).apply(object, { fieldManager: "admin" }, t.signal);
      };
      await write("plattr-idp-github", { clientId: "shop", clientSecret: "whisper" });
      await bed.until(name, ({ conditions }) => conditions.includes("AuthReady True Provisioned"));
      await (await bed.resource(secrets)).delete({ namespace, name: "apps-s3" }, t.signal);
      await bed.until(name, ({ conditions }) =>
        conditions.includes("StorageReady False NotConfigured"),
      );
      await write("apps-s3", { S3_ACCESS_KEY: "another", S3_SECRET_KEY: "one" });
      await bed.until(name, ({ conditions }) =>
        conditions.includes("StorageReady True Provisioned"),
      );
      assert.equal((await bed.secret(`${name}-s3`))?.["S3_ACCESS_KEY"], "another");
      await (
        await bed.resource(secrets)
      ).delete({ namespace, name: "plattr-idp-github" }, t.signal);
    },
  );

  test("nothing is configured: each part says so, and what needs none of it runs", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    bed.start({ settings: { ...bed.settings, database: {}, redis: undefined, search: undefined } });
    const name = newName();
    await bed.apply(name, everything);
    const told = await bed.until(name, ({ conditions }) => conditions.length > 6);
    assert.deepEqual(
      told.conditions.filter((one) => one.endsWith("NotConfigured")),
      ["Database", "Storage", "Auth", "Redis", "Search"].map(
        (part) => `${part}Ready False NotConfigured`,
      ),
    );
    for (const variable of ["DB_ADMIN_URL", "AWS_REGION", "KEYCLOAK_ADMIN_URL", "REDIS_ENDPOINT"]) {
      assert.ok(Object.values(told.messages).some((message) => message.includes(variable)));
    }
    await bed.delete(name);
    await bed.untilGone(name);
  });
});

async function listening(
  onConnection: (client: Socket) => unknown,
): Promise<AsyncDisposable & { readonly port: number }> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    onConnection(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
