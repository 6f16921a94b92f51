// The operator is ended before and after every call that changes something, and another goes on where it was: the end is
// always that of a life without any of it, and nothing is left behind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@keelson/base";
import type { CallPoint } from "@keelson/platform";
import { leftovers, nothing, stateOf } from "@keelson/platform/testing";
import { clusterSuite } from "../fleet/cluster.ts";
import { until } from "../oracle/until.ts";
import { newName, OperatorBed, type RunningOperator } from "./operator-bed.ts";
import { sharedKeycloak, withoutKeycloak } from "./keycloak-server.ts";
import { sharedS3, withoutS3 } from "./s3-server.ts";

/** At how many calls of each phase, by a seed; `all` in long runs. */
const { KEELSON_TEST_KILLS: wanted = "1", KEELSON_TEST_SEED: seed = String(Date.now()) } =
  process.env;

const hasLogin = withoutKeycloak === false;
const hasStorage = withoutS3 === false;
const shared = {
  database: { enabled: true },
  ...(hasLogin ? { auth: { enabled: true } } : {}),
  redis: { enabled: true },
};
const created = {
  ...shared,
  imageRef: "registry.example.com/shop:1",
  search: { enabled: true },
  envVars: [{ name: "A", value: "1" }],
  ...(hasStorage ? { storage: { enabled: true, buckets: [{ name: "up" }] } } : {}),
};
/** Another image, another host, another bucket instead of the first, and no search. */
const changed = {
  ...shared,
  imageRef: "registry.example.com/shop:2",
  ...(hasStorage ? { storage: { enabled: true, buckets: [{ name: "down", public: true }] } } : {}),
  scaling: { min: 3, max: 4, targetCPU: 50 },
  domain: "shop.example.org",
};

/** One phase of a life, and when it is over. */
interface Phase {
  readonly name: string;
  begin(bed: OperatorBed, app: string): Promise<unknown>;
  untilOver(bed: OperatorBed, app: string): Promise<unknown>;
}

const phases: readonly Phase[] = [
  {
    name: "create",
    begin: (bed, app) => bed.apply(app, created),
    untilOver: (bed, app) =>
      bed.until(
        app,
        ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 1,
      ),
  },
  {
    name: "update",
    begin: (bed, app) => bed.apply(app, changed),
    untilOver: (bed, app) =>
      bed.until(
        app,
        ({ phase, observedGeneration }) => phase === "Running" && observedGeneration === 2,
      ),
  },
  {
    name: "delete",
    begin: (bed, app) => bed.delete(app),
    untilOver: (bed, app) => bed.untilGone(app),
  },
];

clusterSuite("an operator that is ended", () => {
  for (const [index, phase] of phases.entries()) {
    test(`P29: at any call of ${phase.name}, and another goes on`, async (t) => {
      await using bed = await OperatorBed.prepare({ hasStorage, hasLogin }, t.signal);
      const earlier = phases.slice(0, index);
      const later = phases.slice(index + 1);
      /** What there is after the phase, and how many calls it took; with `killAt` it is ended at that one. */
      const live = async (killAt: number) => {
        const app = newName();
        {
          await using _before = bed.start();
          for (const one of earlier) {
            await one.begin(bed, app);
            await one.untilOver(bed, app);
          }
        }
        await phase.begin(bed, app);
        const counter = new Counter(killAt);
        {
          await using mortal = bed.start({ onCall: (point) => counter.pass(point) });
          await Promise.race([
            phase.untilOver(bed, app).catch(() => undefined),
            until(() => counter.isKilled, t.signal).catch(() => undefined),
          ]);
          await mortal.stop().catch(() => undefined);
        }
        await using _next: RunningOperator = bed.start();
        await phase.untilOver(bed, app);
        const end = await endOf(bed, app);
        for (const one of later) {
          await one.begin(bed, app);
          await one.untilOver(bed, app);
        }
        assert.deepEqual(await leftovers(bed.database, app), nothing, counter.last);
        assert.deepEqual(await bucketsOf(app), [], counter.last);
        assert.equal(await realmOf(app), undefined, counter.last);
        return { end, counter };
      };
      const { end: undisturbed, counter: whole } = await live(Infinity);
      assert.ok(whole.count > 10, `${whole.count} calls are too few to be all`);
      const random = seededRandom(`${seed} ${phase.name}`);
      const all = Array.from({ length: whole.count }, (_, call) => call + 1);
      const chosen = wanted === "all" ? all : random.shuffle(all).slice(0, Number(wanted));
      let kills = 0;
      for (const first of chosen) {
        let killAt = first;
        let { end, counter } = await live(killAt);
        // How many calls there are depends on when changes are heard of: it may have been over before.
        while (!counter.isKilled && killAt > 1) {
          killAt = Math.ceil(killAt / 2);
          ({ end, counter } = await live(killAt));
        }
        assert.deepEqual(end, undisturbed, `seed ${seed}, call ${killAt}: ${counter.last}`);
        if (counter.isKilled) kills += 1;
      }
      t.diagnostic(`${whole.count} calls, ended at ${kills} of them, seed ${seed}`);
      assert.ok(kills > 0);
    });
  }
});

/** Counts the calls that may change something, and ends the operator at one of them: nothing passes any more. */
class Counter {
  readonly #killAt: number;
  count = 0;
  isKilled = false;
  last = "";

  constructor(killAt: number) {
    this.#killAt = killAt;
  }

  pass({ service, name, when }: CallPoint): void {
    if (this.isKilled) throw new Error("the operator has ended");
    const isRead = service === "kubernetes" && name.startsWith("GET ");
    if (isRead || name.includes("/events")) return;
    this.count += 1;
    if (this.count !== this.#killAt) return;
    this.isKilled = true;
    this.last = `${when} ${service} ${name}`;
    throw new Error("the operator has ended");
  }
}

async function realmOf(app: string): Promise<unknown> {
  if (!hasLogin) return undefined;
  const { ask } = await sharedKeycloak();
  const realm = await ask<{ enabled: boolean; attributes: object }>("GET", `/${app}`);
  const clients = await ask<{ clientId: string; redirectUris: string[] }[]>(
    "GET",
    `/${app}/clients`,
  );
  const { enabled, attributes } = realm ?? {};
  const client = clients?.find(({ clientId }) => clientId === app);
  return realm === undefined
    ? undefined
    : { enabled, attributes, redirectUris: client?.redirectUris };
}

async function bucketsOf(app: string): Promise<readonly string[]> {
  if (!hasStorage) return [];
  const buckets = await (await sharedS3()).buckets();
  return buckets.filter((bucket) => bucket.includes(`-${app}-`));
}

/** Everything that an app came to, without what chance decides. */
async function endOf(bed: OperatorBed, app: string): Promise<unknown> {
  const role = `prod_${app.replaceAll("-", "_")}`;
  const names = { schema: role, appRole: `${role}_app`, anonRole: `${role}_anon` };
  const seen = await bed.see(app);
  const { DATABASE_URL: url } = (await bed.secret(`${app}-db`)) ?? {};
  const enters = url === undefined ? [] : await bed.database.queryAs(url, "SELECT 1 AS one");
  const children = (await bed.children())
    .filter((child) => child.includes(app))
    .map((child) => child.split(" ").slice(0, 2).join(" "));
  const state = {
    children,
    enters,
    conditions: seen?.conditions,
    owned: seen?.owned.toSorted(),
    url: seen?.url,
    finalizers: seen?.object.metadata.finalizers,
    buckets: await bucketsOf(app),
    realm: seen === undefined ? undefined : await realmOf(app),
    catalog: seen === undefined ? undefined : await stateOf(bed.database, names),
  };
  const uid = seen?.object.metadata.uid ?? app;
  return JSON.parse(
    JSON.stringify(state)
      .replaceAll(uid, "<uid>")
      .replaceAll(app, "<app>")
      .replaceAll(app.replaceAll("-", "_"), "<app_>"),
  ) as unknown;
}
