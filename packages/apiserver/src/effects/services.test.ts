import assert from "node:assert/strict";

import { silentLog, systemClock, type Clock, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { Body } from "@keelson/store";

import { messageOf, type Api, type Reply } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { core } from "../testing/objects.ts";
import { repairServices } from "./service-repair.ts";

interface Spec {
  readonly clusterIP?: string;
  readonly ports?: readonly { readonly nodePort?: number }[];
}

const service = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "NodePort", ports: [{ port: 80 }], ...spec },
});

const specOf = ({ object }: Reply): Spec => (object["spec"] ?? {}) as Spec;
const portOf = (reply: Reply): number => specOf(reply).ports?.[0]?.nodePort ?? 0;

/** How often an address is there: as an object that anybody can see. */
async function isTaken(api: Api, address: string): Promise<boolean> {
  return (await api.get(`/apis/networking.k8s.io/v1/ipaddresses/${address}`)).code === 200;
}

eachBackend(
  "services",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("have addresses and ports of their own, however many are made at once", async ({
      api,
      namespace,
    }) => {
      const services = core(await namespace(), "services");
      const made = await Promise.all(
        Array.from({ length: 64 }, (_, index) => api.create(services, service(`s-${index}`))),
      );
      assert.deepEqual(new Set(made.map(({ code }) => code)), new Set([201]));
      assert.equal(new Set(made.map((reply) => specOf(reply).clusterIP)).size, 64);
      assert.equal(new Set(made.map(portOf)).size, 64);
      const [first] = made;
      assert.ok(first !== undefined);
      const [clusterIP = "", nodePort] = [specOf(first).clusterIP, portOf(first)];
      const byAddress = await api.create(services, service("same", { clusterIP }));
      const byPort = await api.create(
        services,
        service("same", { ports: [{ port: 80, nodePort }] }),
      );
      assert.deepEqual([byAddress.code, byPort.code], [422, 422]);
      assert.match(messageOf(byAddress), /provided IP is already allocated/);
      assert.match(messageOf(byPort), /provided port is already allocated/);
    });

    it("give back what they had when they go, and what they took when they fail", async ({
      api,
      namespace,
    }) => {
      const services = core(await namespace(), "services");
      const created = await api.create(services, service("a"));
      const [clusterIP = "", nodePort] = [specOf(created).clusterIP, portOf(created)];
      const again = service("b", { clusterIP, ports: [{ port: 80, nodePort }] });
      await api.delete(`${services}/a`);
      await until(async () => !(await isTaken(api, clusterIP)), "the address is free");
      const invalid = { ...again, metadata: { name: "b", labels: { "not a label": "x" } } };
      assert.equal((await api.create(services, invalid)).code, 422);
      await until(
        async () =>
          (await api.send("POST", `${services}?dryRun=All`, { body: again })).code === 201,
        "a dry run finds them free",
      );
      await until(
        async () => (await api.create(services, again)).code === 201,
        "the address and the port can be had again",
      );
      assert.equal(await isTaken(api, clusterIP), true);
    });

    it("have a port for each of theirs, and leave the lowest to those who ask by number", async ({
      api,
      namespace,
    }) => {
      const services = core(await namespace(), "services");
      const ports = Array.from({ length: 100 }, (_, i) => ({ name: `p${i}`, port: i + 1 }));
      const created = [
        await api.create(services, service("a", { ports })),
        await api.create(services, service("b", { ports })),
      ];
      const given = created.flatMap((reply) => specOf(reply).ports ?? []);
      const low = given.filter(({ nodePort = 0 }) => nodePort < 30_086);
      assert.deepEqual([created.map(({ code }) => code), given.length, low], [[201, 201], 200, []]);
    });

    it("take and give back as their type changes", async ({ api, namespace }) => {
      const services = core(await namespace(), "services");
      const created = await api.create(services, service("a", { type: "ClusterIP" }));
      const { clusterIP = "" } = specOf(created);
      assert.equal(portOf(created), 0);
      const open = await api.merge(`${services}/a`, { spec: { type: "NodePort" } });
      assert.ok(portOf(open) >= 30_000 && specOf(open).clusterIP === clusterIP);
      const closed = await api.merge(`${services}/a`, { spec: { type: "ClusterIP" } });
      assert.deepEqual([portOf(closed), specOf(closed).clusterIP], [0, clusterIP]);
      const external = await api.merge(`${services}/a`, {
        spec: {
          type: "ExternalName",
          externalName: "example.com",
          clusterIP: null,
          clusterIPs: null,
        },
      });
      assert.deepEqual([external.code, specOf(external).clusterIP], [200, undefined]);
      await until(async () => !(await isTaken(api, clusterIP)), "the address is free");
      const reused = { ports: [{ port: 80, nodePort: portOf(open) }] };
      await until(
        async () => (await api.create(services, service("b", reused))).code === 201,
        "the port is free",
      );
    });

    it("lose nothing by a repair, which takes what no Service holds", async ({
      api,
      store,
      namespace,
    }, t) => {
      const services = core(await namespace(), "services");
      const created = await api.create(services, service("a"));
      const reserve = (kind: string, name: string, created: string): Promise<unknown> => {
        const metadata = {
          name,
          uid: `uid-${name}`,
          creationTimestamp: created,
          labels: { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" },
        };
        const body = Body.of({ apiVersion: "x/v1", kind: "X", metadata });
        return store.create({ kind, namespace: "", name }, body, t.signal);
      };
      const old = "2026-01-01T00:00:00Z";
      const now = new Date(systemClock.now()).toISOString();
      await reserve("IPAddress.networking.k8s.io", "10.97.0.1", old);
      await reserve("IPAddress.networking.k8s.io", "10.97.0.2", now);
      await reserve("NodePort.keelson.dev", "29999", old);
      const given = await repairServices({ store, clock: systemClock, log: silentLog }, t.signal);
      assert.deepEqual(given, ["10.97.0.1", "29999"]);
      // A day later whoever is held is still held.
      const tomorrow: Clock = { ...systemClock, now: () => systemClock.now() + 86_400_000 };
      const later = await repairServices({ store, clock: tomorrow, log: silentLog }, t.signal);
      assert.deepEqual(later, ["10.97.0.2"]);
      assert.equal(await isTaken(api, specOf(created).clusterIP ?? ""), true);
    });
  },
);
