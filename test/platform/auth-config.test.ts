// What an app is told of its login needs no Keycloak.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanupAuth, RealmAdmin, StepError } from "@keelson/platform";
import { clusterSuite } from "../tools/test-cluster.ts";
import { prepareCluster, tenant } from "./auth-bed.ts";

clusterSuite("the login of an app without a Keycloak", () => {
  test("is said to be missing, the app starts all the same, and nothing is left behind", async (t) => {
    await using bed = await prepareCluster(t.signal, "https://auth.example.com/");
    const shop = tenant({ environment: "staging" });
    const { name } = shop.app.names;
    await assert.rejects(bed.reconcile(shop, { admin: undefined }), {
      reason: "NotConfigured",
      message:
        "no Keycloak is configured: set KEYCLOAK_ADMIN_URL, KEYCLOAK_ADMIN_USER and KEYCLOAK_ADMIN_PASSWORD",
    });
    assert.deepEqual(await bed.configMap(shop), {
      AUTH_ISSUER_URL: `https://auth.example.com/realms/${name}-staging`,
      AUTH_CLIENT_ID: name,
    });

    // Of a realm that never was nothing is asked.
    const never = new RealmAdmin({
      access: () => Promise.reject(new StepError("Refused", "asked")),
    });
    await assert.rejects(bed.reconcile(shop, { admin: never }), { message: "asked" });
    await bed.cleanup(shop, "Delete", never);
    await bed.cleanup(shop, "Retain", never);
    assert.equal(await bed.configMap(shop), undefined);

    await shop.ledger.record({ kind: "Realm", name: "left", state: "Ready" });
    const step = { admin: undefined, children: bed.children };
    await assert.rejects(cleanupAuth(step, { ...shop, policy: "Delete" }, t.signal), {
      reason: "NotConfigured",
      message: /^realm left cannot be removed: no Keycloak is configured, set KEYCLOAK_ADMIN_URL/,
    });
  });
});
