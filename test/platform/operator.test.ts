// Applications as the operator sees to them, from apply to running and back, in a cluster and a real PostgreSQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { leftovers, nothing } from "@keelson/platform/testing";
import { clusterSuite } from "../fleet/cluster.ts";
import { newName, OperatorBed } from "./operator-bed.ts";

const image = "registry.example.com/shop:1";

clusterSuite("the operator", () => {
  test("brings an app with a database from nothing to running, and takes it away again", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    await using _operator = bed.start();
    const name = newName();
    const role = `prod_${name.replaceAll("-", "_")}`;
    await bed.apply(name, { imageRef: image, database: { enabled: true } });
    const running = await bed.until(name, ({ phase }) => phase === "Running");
    assert.deepEqual(
      running.conditions.map((one) => one.split(" ").slice(0, 2).join(" ")).slice(0, 2),
      ["DatabaseReady True", "DeploymentReady True"],
    );
    assert.deepEqual(running.owned.toSorted(), [
      `Role ${role}_anon Ready`,
      `Role ${role}_app Ready`,
      `Schema ${role} Ready`,
    ]);
    assert.equal(running.observedGeneration, 1);
    assert.equal(running.url, `https://${name}.example.com`);
    const { DATABASE_URL: url = "" } = (await bed.secret(`${name}-db`)) ?? {};
    assert.deepEqual(await bed.database.queryAs(url, "SHOW search_path"), [{ search_path: role }]);

    await bed.delete(name);
    await bed.untilGone(name);
    assert.deepEqual(await leftovers(bed.database, name), nothing);
    for (const [apiVersion, kind, child] of [
      ["v1", "Secret", `${name}-db`],
      ["apps/v1", "Deployment", name],
      ["v1", "Service", name],
      ["networking.k8s.io/v1", "Ingress", `${name}-api`],
    ] as const) {
      assert.equal(await bed.find({ apiVersion, kind }, child), undefined, kind);
    }
  });
});
