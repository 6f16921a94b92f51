import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, systemRandom } from "@keelson/base";

import type { CallPoint } from "../steps/call-point.ts";
import { openServices } from "./services.ts";
import type { OperatorSettings } from "./settings.ts";

test("the administrator's URL is asked for as everything else outside is: noted, and not without the Lease", async () => {
  const signal = new AbortController().signal;
  let asked = 0;
  const settings: OperatorSettings = {
    namespace: "default",
    baseDomain: "example.com",
    previewHosts: "nested",
    ingressClass: "nginx",
    ingressRewrite: "nginx",
    clusterIssuer: "letsencrypt-prod",
    concurrency: 8,
    database: {
      adminUrl: () => {
        asked += 1;
        return Promise.resolve("postgresql://boss@db.example.com/apps");
      },
    },
    storage: undefined,
    auth: { access: undefined, publicUrl: "https://auth.example.com" },
    redis: { endpoint: "redis.example.com:6379", tls: false },
    search: { endpoint: "https://search.example.com" },
  };
  const points: CallPoint[] = [];
  let isLost = true;
  const onCall = (point: CallPoint): void => {
    if (isLost) throw new Error("the lease is not ours any more");
    points.push(point);
  };
  await using services = openServices(settings, {
    onCall,
    clock: systemClock,
    random: systemRandom,
  });
  await assert.rejects(async () => await services.database?.server(signal), /not ours any more/);
  assert.equal(asked, 0);
  isLost = false;
  const { host } = (await services.database?.server(signal)) ?? {};
  assert.deepEqual([host, asked], ["db.example.com", 1]);
  assert.deepEqual(points, [
    { service: "sql", name: "adminUrl", when: "before" },
    { service: "sql", name: "adminUrl", when: "after" },
  ]);
});
