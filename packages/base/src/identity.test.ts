import assert from "node:assert/strict";
import { test } from "node:test";

import { allowsCluster, fleetRoleFrom, hasFleetRole } from "./identity.ts";
import { testIdentity } from "./testing/identity.ts";

test("clusters limit what an identity may reach in fleet", () => {
  assert.ok(allowsCluster(testIdentity({ clusters: "all" }), "prod"));
  assert.ok(allowsCluster(testIdentity({ clusters: new Set(["prod"]) }), "prod"));
  assert.ok(!allowsCluster(testIdentity({ clusters: new Set(["prod"]) }), "dev"));
  assert.ok(!allowsCluster(testIdentity({ clusters: new Set() }), "dev"));
});

test("a stronger role in fleet includes the weaker ones, and none includes nothing", () => {
  const needed = ["reader", "editor", "admin"] as const;
  const granted = [undefined, ...needed].map((fleetRole) =>
    needed.map((role) => hasFleetRole(testIdentity({ fleetRole }), role)),
  );
  assert.deepEqual(granted, [
    [false, false, false],
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
});

test("the strongest of the fleet roles counts", () => {
  assert.equal(fleetRoleFrom(["controller"]), undefined);
  assert.equal(fleetRoleFrom(["fleet:reader", "x"]), "reader");
  assert.equal(fleetRoleFrom(["fleet:reader", "fleet:admin", "fleet:editor"]), "admin");
  assert.equal(fleetRoleFrom(["admin", "fleet:Admin"]), undefined);
});
