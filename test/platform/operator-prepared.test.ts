// What needs no service is there, and is mended, while services hang, refuse and are waited for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { withoutWaitsFrom } from "./clocks.ts";
import { LossyProxy } from "./lossy-proxy.ts";
import { namespace, newName, OperatorBed } from "./operator-bed.ts";

const secrets = { apiVersion: "v1", kind: "Secret" };
const configMaps = { apiVersion: "v1", kind: "ConfigMap" };

clusterSuite("an app without its services", () => {
  test("P28: runs, says so and is mended, however many wait for a Keycloak that hangs", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using keycloak = await LossyProxy.to(1);
    await using store = await LossyProxy.to(1);
    let isHeld = false;
    keycloak.decide = () => {
      isHeld = true;
      return "hang";
    };
    const refused = "<Error><Code>InvalidAccessKeyId</Code><Message>no</Message></Error>";
    store.decide = () => ({ status: 403, body: refused });
    const appS3Secret = "app-s3";
    await (
      await bed.resource(secrets)
    ).create(
      {
        ...secrets,
        metadata: { name: appS3Secret, namespace },
        stringData: { S3_ACCESS_KEY: "key", S3_SECRET_KEY: "secret" },
      },
      {},
      t.signal,
    );
    await using _operator = bed.start({
      // What hangs does so until it is cut, and what waits for half a minute is never tried again.
      clock: withoutWaitsFrom(10_000),
      settings: {
        ...bed.settings,
        concurrency: 2, // Then each service has a place for one.
        auth: {
          ...bed.settings.auth,
          access: () => Promise.resolve({ url: keycloak.url, user: "admin", password: "secret" }),
        },
        storage: {
          region: "us-east-1",
          endpoint: store.url,
          appS3Secret,
          keys: () => Promise.resolve({ accessKeyId: "key", secretAccessKey: "secret" }),
        },
      },
    });
    const [first, ...others] = [newName(), newName(), newName()] as const;
    const spec = {
      imageRef: "registry.example.com/shop:1",
      auth: { enabled: true },
      storage: { enabled: true, buckets: [{ name: "uploads" }] },
    };
    await bed.apply(first, { ...spec, storage: { enabled: false } });
    await until(() => isHeld, t.signal);
    const said = [
      "StorageReady False Refused",
      "AuthReady Unknown Waiting",
      "DeploymentReady True Available",
    ];
    for (const name of others) await bed.apply(name, spec);
    for (const name of others) {
      await bed.until(name, ({ conditions }) => said.every((one) => conditions.includes(one)));
    }

    const [other] = others;
    const children = [
      [configMaps, `${other}-auth`],
      [configMaps, `${other}-storage`],
      [secrets, `${other}-s3`],
    ] as const;
    for (const [kind, name] of children) {
      const before = await bed.find(kind, name);
      assert.ok(before !== undefined, name);
      await (await bed.resource(kind)).delete({ namespace, name }, t.signal);
      await until(async () => {
        const uid = (await bed.find(kind, name))?.metadata.uid;
        return uid !== undefined && uid !== before.metadata.uid;
      }, t.signal);
    }
    await until(async () => (await bed.events(other)).includes("DriftRepaired"), t.signal);
    await bed.until(other, ({ conditions }) => said.every((one) => conditions.includes(one)));

    keycloak.decide = () => "lose request";
    keycloak.cut();
    await bed.until(first, ({ conditions }) =>
      ["AuthReady False Unreachable", "DeploymentReady True Available"].every((one) =>
        conditions.includes(one),
      ),
    );
  });
});
