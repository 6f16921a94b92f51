// Previews and Applications that want the same: a host, or a place at a service.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterSuite } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { withoutWaitsFrom } from "./clocks.ts";
import { newName } from "./operator-bed.ts";
import { PreviewBed } from "./preview-bed.ts";

const ingressKind = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" } as const;
const image = "registry.example.com/shop:1";

clusterSuite("previews beside Applications", () => {
  test("a host is no preview's while an Application asks for it", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    await using _operator = bed.operators.start({ clock: withoutWaitsFrom(10_001) });
    await bed.namespaced(["staging", "dev"]);
    await bed.parent({ imageRef: image });
    await bed.preview("pr", { applicationRef: `staging/${bed.app}` });
    await bed.until("pr", ({ phase }) => phase === "Running");
    const host = `pr-42.${bed.app}.preview.example.com`;
    const place = `preview-${bed.app}-pr-42`;
    const routed = async () =>
      (await bed.operators.find(ingressKind, `${bed.app}-pr42`, place)) !== undefined;
    assert.ok(await routed());

    const other = newName();
    await bed.operators.apply(other, { imageRef: image, domain: host });
    const taken = await bed.until("pr", ({ phase }) => phase === "Failed");
    assert.ok(taken.conditions.includes("IngressReady False Conflict"), taken.conditions.join());
    assert.match(
      taken.messages["IngressReady"] ?? "",
      new RegExp(`^host ${host} belongs to Application default/${other}`),
    );
    assert.equal(taken.url, undefined);
    await until(async () => !(await routed()), t.signal);
    await bed.operators.until(other, ({ phase }) => phase === "Running");

    await bed.operators.apply(other, { imageRef: image, domain: `other.${host}` });
    await bed.until("pr", ({ phase }) => phase === "Running");
    assert.ok(await routed());
  });

  test("previews wait beside Applications for one service, at their ends, too", async (t) => {
    await using bed = await PreviewBed.prepare(t.signal);
    const { operators, app } = bed;
    const gate = Promise.withResolvers<void>();
    let [hanging, most] = [0, 0];
    await using _operator = operators.start({
      settings: { ...operators.settings, concurrency: 2 }, // Then PostgreSQL has a place for one.
      onCall: async ({ name, when }) => {
        if (name !== "findOwned" || when === "after") return; // What nobody asks who does not remove.
        hanging += 1;
        most = Math.max(most, hanging);
        await gate.promise;
        hanging -= 1;
      },
    });
    await bed.namespaced(["staging", "dev"]);
    await bed.parent({ imageRef: image, database: { enabled: true } });
    await bed.preview("pr", { applicationRef: `staging/${app}` });
    await operators.until(app, ({ phase }) => phase === "Running", "staging");
    await bed.until("pr", ({ phase }) => phase === "Running");

    await operators.delete(app, "staging");
    await until(() => hanging === 1, t.signal);
    await bed.delete("pr");
    const waiting = await bed.until("pr", ({ conditions }) =>
      conditions.includes("DatabaseReady False CleaningUp"),
    );
    assert.match(waiting.messages["DatabaseReady"] ?? "", /waits for its turn/);
    // One of the two workers is left to others.
    const other = newName();
    await operators.apply(other, { imageRef: image });
    await operators.until(other, ({ phase }) => phase === "Running");
    gate.resolve();
    await operators.untilGone(app, "staging");
    await bed.untilGone("pr");
    assert.equal(most, 1);
  });
});
