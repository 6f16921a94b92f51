// Repairs that somebody undoes (6.3), and waits that end when what was missing appears (4.2, F23, F26).

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../tools/until.ts";
import { applied, definitionOf, startBed, synced, web, type Details } from "./bed.ts";
import { clusterSuite } from "../tools/test-cluster.ts";

const ref = { namespace: "default", name: "web" };

clusterSuite("repairs and waits", () => {
  test("6.3: from the third repair of a field on it waits and names who undoes it; a new wish does not", async (t) => {
    await using it = await startBed(t.signal);
    let mayRepair = true;
    it.startWorker({
      onStatement: async ({ statement, phase }) => {
        if (statement === "claimWork" && phase === "before") await until(() => mayRepair, t.signal);
      },
    });
    const id = await it.create(web);
    await it.becomes(id, synced);
    const maps = await it.configMaps();
    const meddle = (a: string) =>
      maps.patch(
        ref,
        { type: "merge", body: { data: { a } }, options: { fieldManager: "meddler" } },
        t.signal,
      );
    const isRepaired = async () => {
      const object = await maps.get(ref, t.signal);
      return (object["data"] as { a: string }).a === "1" && (await it.status(id)) === "synced";
    };
    for (const value of ["x", "y"]) {
      await meddle(value);
      await until(isRepaired, t.signal);
    }
    // The third waits for a second, the fourth for two, and both are told: for as long as nobody repairs.
    let contested: Details;
    for (let round = 0; round < 2; round++) {
      mayRepair = false;
      await meddle(`z${round}`);
      contested = await it.becomes(
        id,
        (body) => body.status === "drifted" && reasonOf(body) === "Contested",
      );
      mayRepair = true;
      if (round === 0) await until(isRepaired, t.signal);
    }
    const { message } = conditionOf(contested);
    assert.match(message, /\/data\/a .* by meddler: the next repair waits 2 s/);
    await it.rest.ask("PUT", `/resources/${id}`, { desired_spec: { data: { a: "wanted" } } });
    const next = await it.becomes(id, (body) => body.generation === 2 && synced(body));
    assert.equal(next.current.spec.data.a, "wanted");
  });

  test("F23, F26: Deployment, custom resource, definition, Namespace in that order: each follows what it missed", async (t) => {
    await using it = await startBed(t.signal);
    // Whoever waited for its next try instead would wait for minutes.
    it.startWorker({ backoffMs: { min: 300_000, max: 300_000 } });
    const group = "shop.example.com";
    const inTeam = { cluster_id: "prod", namespace: "team" };
    const container = { name: "web", image: "nginx:1" };
    const deployment = await it.create({
      ...inTeam,
      kind: "Deployment",
      name: "web",
      desired_spec: {
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [container] },
          },
        },
      },
    });
    const widget = await it.create({
      ...inTeam,
      kind: "Widget",
      name: "one",
      api_version: `${group}/v1`,
      desired_spec: { spec: { size: 3 } },
    });
    const failed = (body: Details) => body.status === "error";
    const classOf = async (id: number) => (await it.becomes(id, failed)).last_error.class as string;
    assert.deepEqual(
      [await classOf(deployment), await classOf(widget)],
      ["no-namespace", "no-kind"],
    );
    await it.create(definitionOf(group, "Widget", "widgetses"));
    await it.becomes(widget, (body) => body.last_error?.class === "no-namespace");
    await it.create({ cluster_id: "prod", kind: "Namespace", name: "team", desired_spec: {} });
    await it.becomes(deployment, applied(1));
    await it.becomes(widget, synced);
    // The new kind is watched too: its drift is repaired, and its deletion seen.
    const widgets = await it.client.resource(
      { apiVersion: `${group}/v1`, kind: "Widget" },
      t.signal,
    );
    const one = { namespace: "team", name: "one" };
    await widgets.patch(one, { type: "merge", body: { spec: { size: 4 } } }, t.signal);
    await until(async () => {
      const { spec } = (await widgets.get(one, t.signal)) as unknown as { spec: { size: number } };
      return spec.size === 3;
    }, t.signal);
    await it.rest.ask("DELETE", `/resources/${widget}`);
    await it.goes(widget);
    assert.equal(await widgets.find(one, t.signal), undefined);
  });
});

function conditionOf(body: Details): { reason: string; message: string } {
  return body.conditions.find(({ type }: { type: string }) => type === "Drifted");
}

function reasonOf(body: Details): string {
  return conditionOf(body).reason;
}
