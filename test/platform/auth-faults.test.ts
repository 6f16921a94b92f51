// A Keycloak that hangs, refuses, is busy, forgets who we are, or fails at any call.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import type { CallPoint, RealmAdmin, StepError } from "@keelson/platform";
import { MemoryLedger } from "@keelson/platform/testing";
import { FaultyWire } from "../clusters/pubsub-emulator.ts";
import { clusterSuite } from "../tools/test-cluster.ts";
import { HttpProxy } from "../tools/http-proxy.ts";
import { noting, prepareAuth, tenant, type AuthBed, type Tenant } from "./auth-bed.ts";
import { withoutKeycloak, type KeycloakServer } from "./keycloak-server.ts";
import { LossyProxy } from "./lossy-proxy.ts";

const skip = withoutKeycloak;

clusterSuite("a Keycloak in trouble", () => {
  test(
    "P28: it hangs, the app has its variables, and all is well once it answers",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      const { port } = bed.keycloak;
      await using wire = await FaultyWire.to(`127.0.0.1:${port}`);
      const access = accessAt(bed, `http://${wire.host}/`);
      const shop = tenant();
      const { realm } = shop.app.names;
      const server = `Keycloak at ${wire.host}`;
      wire.mode = "hang";
      const impatient = bed.admin({ access, timeoutMs: 300 });
      await assert.rejects(bed.reconcile(shop, { admin: impatient }), {
        reason: "Unreachable",
        message: `${server}: logIn was not answered within 0.3 s`,
      });
      assert.equal(
        (await bed.configMap(shop))?.["AUTH_ISSUER_URL"],
        `${bed.keycloak.url}/realms/${realm}`,
      );
      assert.deepEqual(shop.ledger.written, []);
      wire.mode = "refuse";
      const admin = bed.admin({ access });
      await assert.rejects(bed.reconcile(shop, { admin }), ({ reason, message }: StepError) => {
        assert.equal(reason, "Unreachable");
        assert.ok(message.startsWith(`${server}: no answer to logIn: `), message);
        return true;
      });

      wire.mode = "pass";
      assert.deepEqual((await bed.reconcile(shop, { admin })).changes, [
        "createRealm",
        "createClient",
      ]);
      wire.mode = "hang";
      await assert.rejects(bed.cleanup(shop, "Delete", impatient), { reason: "Unreachable" });
      // Whoever is told to stop does not wait for the answer.
      const stop = new AbortController();
      const told = bed.admin({
        access,
        onCall: () => void setImmediate(() => stop.abort(new Error("enough"))),
      });
      await assert.rejects(
        told.remove({ owner: shop.app.owner, ledger: shop.ledger }, stop.signal),
        /^Error: enough$/,
      );
      wire.mode = "pass";
      await bed.cleanup(shop, "Delete", admin);
      assert.equal(await bed.keycloak.ask("GET", `/${realm}`), undefined);
    },
  );

  test(
    "it is busy for so long, or broken: that is passed on, without a secret",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      await using proxy = await HttpProxy.to(bed.keycloak.port);
      const admin = bed.admin({ access: accessAt(bed, proxy.url) });
      const { password } = await bed.keycloak.access();
      for (const [code, reason, retryAfterMs] of [
        [429, "Unreachable", 7_000],
        [503, "Unreachable", 7_000],
        [500, "Unreachable", undefined],
        [403, "Refused", undefined],
        [400, "Refused", undefined],
      ] as const) {
        proxy.intercept = ({ method, path }) =>
          method === "POST" && path === "/admin/realms"
            ? {
                code,
                ...(retryAfterMs === undefined ? {} : { headers: { "retry-after": "7" } }),
                body: { errorMessage: "so it is" },
              }
            : undefined;
        const shop = tenant();
        await assert.rejects(bed.reconcile(shop, { admin }), (error: StepError) => {
          assert.deepEqual(
            [error.reason, error.retryAfterMs],
            [reason, retryAfterMs],
            error.message,
          );
          assert.match(
            error.message,
            new RegExp(
              `^Keycloak at 127\\.0\\.0\\.1:\\d+: createRealm .*: ${code} \\(so it is\\)$`,
            ),
          );
          assert.ok(!JSON.stringify([error, error.cause, error.stack]).includes(password));
          return true;
        });
      }
    },
  );

  test(
    "a 404 of somebody before it is no word of Keycloak's: nothing is forgotten for it",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      await using proxy = await HttpProxy.to(bed.keycloak.port);
      const admin = bed.admin({ access: accessAt(bed, proxy.url) });
      const [shop, wrong] = [tenant(), tenant()];
      const { realm } = shop.app.names;
      await bed.reconcile(shop, { admin });
      const before = shop.ledger.contents;
      const unreachable = {
        reason: "Unreachable",
        message: /found nothing there \(KEYCLOAK_ADMIN_URL says where\): 404/,
      };
      for (const body of [{}, { message: "no route" }, { error: "no such service" }]) {
        proxy.intercept = () => ({ code: 404, body });
        await assert.rejects(bed.cleanup(shop, "Delete", admin), unreachable);
        await assert.rejects(bed.reconcile(shop, { admin }), unreachable);
        assert.deepEqual(shop.ledger.contents, before);
      }
      // As with an address that is wrong from the start: there is not even a token.
      const lost = bed.admin({ access: accessAt(bed, `${proxy.url}/auth`) });
      proxy.intercept = () => undefined;
      await assert.rejects(bed.reconcile(wrong, { admin: lost }), unreachable);
      assert.deepEqual(wrong.ledger.contents, []);
      await bed.cleanup(shop, "Delete", admin);
      assert.equal(await bed.keycloak.ask("GET", `/${realm}`), undefined);
    },
  );

  test("somebody was faster: what was made is ours if it says so", { skip }, async (t) => {
    await using bed = await prepareAuth(t.signal);
    await using proxy = await HttpProxy.to(bed.keycloak.port);
    const admin = bed.admin({ access: accessAt(bed, proxy.url) });
    /** As if another call had been first, perhaps our own of which no answer came. */
    const forestalled = async (shop: Tenant, attributes: object) => {
      const made = { realm: shop.app.names.realm, enabled: true, attributes };
      proxy.intercept = async ({ method, path }) => {
        if (method !== "POST" || path !== "/admin/realms") return undefined;
        await bed.keycloak.ask("POST", "", made);
        return { code: 409, body: { errorMessage: "Conflict detected. See logs for details" } };
      };
      return await bed.reconcile(shop, { admin });
    };
    const ours = tenant();
    const { uid, namespace, name } = ours.app.owner;
    const mark = { "platform.internal/owner": `${uid} ${namespace}/${name}` };
    assert.deepEqual((await forestalled(ours, mark)).changes, ["createClient"]);
    const theirs = tenant();
    const { realm } = theirs.app.names;
    await assert.rejects(forestalled(theirs, {}), {
      reason: "Conflict",
      message: `realm ${realm} exists and belongs to no app of ours`,
    });
    // It was about to be made, so it is in the ledger; and is not ours, so it stays.
    await bed.cleanup(theirs, "Delete");
    assert.deepEqual(theirs.ledger.contents, []);
    assert.notEqual(await bed.keycloak.ask("GET", `/${realm}`), undefined);
  });

  test(
    "a realm that is being made is nobody's yet: it is asked for again soon",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      await using proxy = await HttpProxy.to(bed.keycloak.port);
      const admin = bed.admin({ access: accessAt(bed, proxy.url) });
      proxy.intercept = ({ method, path }) =>
        method === "POST" && path === "/admin/realms"
          ? { code: 409, body: { errorMessage: "Conflict detected. See logs for details" } }
          : undefined;
      const shop = tenant();
      await assert.rejects(bed.reconcile(shop, { admin }), { reason: "Unreachable" });
      proxy.intercept = () => undefined;
      await bed.reconcile(shop, { admin });
      await bed.cleanup(shop, "Delete");
    },
  );

  test("a realm that comes to be only after its app is gone goes too", { skip }, async (t) => {
    await using bed = await prepareAuth(t.signal);
    const shop = tenant();
    const { uid, namespace, name } = shop.app.owner;
    const { realm } = shop.app.names;
    const crashing = bed.admin({
      onCall: ({ name: call }) => {
        if (call === "createRealm") throw new Error("crash");
      },
    });
    await assert.rejects(bed.reconcile(shop, { admin: crashing }), /crash/);
    assert.deepEqual(shop.ledger.contents, [`Realm ${realm} Creating`]);
    // What the operator had asked for before it ended, Keycloak does while the next one looks.
    const attributes = { "platform.internal/owner": `${uid} ${namespace}/${name}` };
    const clock = new ManualClock();
    const admin = bed.admin({ clock });
    // Nobody is held up: when to look again is said at once, by a clock that stands still.
    await assert.rejects(bed.cleanup(shop, "Delete", admin), {
      reason: "Unreachable",
      message: `realm ${realm} was to be made and is not there: it may still come to be, and is waited for`,
      retryAfterMs: 10_000,
    });
    assert.deepEqual(shop.ledger.contents, [`Realm ${realm} Creating`]);
    await bed.keycloak.ask("POST", "", { realm, enabled: true, attributes });
    await bed.cleanup(shop, "Delete", admin);
    assert.deepEqual(
      [await bed.keycloak.ask("GET", `/${realm}`), shop.ledger.contents],
      [undefined, []],
    );
    // One that never comes to be is forgotten in the end.
    const other = tenant();
    await assert.rejects(bed.reconcile(other, { admin: crashing }), /crash/);
    await assert.rejects(bed.cleanup(other, "Delete", admin), { retryAfterMs: 10_000 });
    await clock.advance(10_000);
    await bed.cleanup(other, "Delete", admin);
    assert.deepEqual(other.ledger.contents, []);
  });

  test(
    "a realm whose creation was not answered is waited for, and goes too",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      const shop = tenant();
      const { uid, namespace, name } = shop.app.owner;
      const { realm } = shop.app.names;
      await using proxy = await LossyProxy.to(bed.keycloak.port);
      proxy.decide = ({ method, url }) => {
        const isCreation = method === "POST" && url === "/admin/realms";
        return isCreation ? "lose request" : "pass";
      };
      const access = accessAt(bed, proxy.url);
      const admin = bed.admin({ access });
      await assert.rejects(bed.reconcile(shop, { admin }), { reason: "Unreachable" });
      await assert.rejects(bed.cleanup(shop, "Delete", admin), {
        reason: "Unreachable",
        message: `the creation of realm ${realm} was not answered: it may still come to be, and is waited for`,
      });
      assert.deepEqual(shop.ledger.contents, [`Realm ${realm} Creating`]);
      // At last Keycloak has done it.
      const attributes = { "platform.internal/owner": `${uid} ${namespace}/${name}` };
      await bed.keycloak.ask("POST", "", { realm, enabled: true, attributes });
      await bed.cleanup(shop, "Delete", admin);
      assert.deepEqual(
        [await bed.keycloak.ask("GET", `/${realm}`), shop.ledger.contents],
        [undefined, []],
      );
      // One that never comes to be is forgotten in the end.
      const other = tenant();
      const impatient = bed.admin({ access, unansweredMs: 0 });
      await assert.rejects(bed.reconcile(other, { admin: impatient }), { reason: "Unreachable" });
      await bed.cleanup(other, "Delete", impatient);
      assert.deepEqual(other.ledger.contents, []);
      // One that did, and that somebody took away, is not waited for.
      const third = tenant();
      await assert.rejects(bed.reconcile(third, { admin }), { reason: "Unreachable" });
      proxy.decide = () => "pass";
      await bed.reconcile(third, { admin });
      await bed.keycloak.ask("DELETE", `/${third.app.names.realm}`);
      await bed.cleanup(third, "Delete", admin);
      assert.deepEqual(third.ledger.contents, []);
    },
  );

  test(
    "who has no rights is refused; a password that was changed is asked for again",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      const { keycloak } = bed;
      const helper = await addAdministrator(keycloak, `helper-${tenant().app.names.name}`);
      let asked = 0;
      let password = helper.password;
      const calls: string[] = [];
      const admin = bed.admin({
        // It stands still: however long this takes, a token is held until Keycloak refuses it.
        clock: new ManualClock(),
        onCall: noting(calls),
        access: () => {
          asked += 1;
          return Promise.resolve({ url: keycloak.url, user: helper.user, password });
        },
      });
      const shop = tenant();
      await assert.rejects(bed.reconcile(shop, { admin }), {
        reason: "Refused",
        message: /createRealm is refused: 403/,
      });
      await helper.mayEverything();
      await bed.reconcile(shop, { admin });
      assert.equal(asked, 1);

      // Its sessions are ended: the token in its hand is worth nothing.
      await helper.endSessions();
      calls.length = 0;
      await bed.reconcile(shop, { admin });
      assert.deepEqual(calls.slice(0, 3), ["findRealm", "logIn", "findRealm"]);
      assert.equal(asked, 1);

      await helper.setPassword("ch@nged");
      await helper.endSessions();
      await assert.rejects(bed.reconcile(shop, { admin }), ({ reason, message }: StepError) => {
        assert.match(message, /logIn is refused: 401 \(Invalid user credentials\)$/);
        return reason === "Refused";
      });
      assert.equal(asked, 2);
      password = "ch@nged";
      await bed.reconcile(shop, { admin });
      assert.equal(asked, 3);
    },
  );

  test(
    "it fails at each call, before and after: in the end all is as if it never had",
    { skip },
    async (t) => {
      await using bed = await prepareAuth(t.signal);
      await bed.secret("google", { clientId: "g", clientSecret: "s" });
      const { app } = tenant({}, { auth: { enabled: true, providers: ["google"] } });
      const { realm } = app.names;
      /** Runs again and again, each time as far as no run has come; the last one passes. Gives where each ended. */
      const failing = async (work: (admin: RealmAdmin) => Promise<unknown>): Promise<string[]> => {
        const ended: string[] = [];
        for (;;) {
          let here: string | undefined;
          const onCall = ({ name, when }: CallPoint): void => {
            const point = `${when} ${name}`;
            if (ended.includes(point)) return;
            here = point;
            throw new Error("crash");
          };
          const outcome = await work(bed.admin({ onCall })).catch((error: Error) => error.message);
          if (here === undefined) return ended;
          assert.match(String(outcome), /crash$/);
          ended.push(here);
        }
      };
      const points = (...calls: readonly string[]) =>
        calls.flatMap((call) => [`before ${call}`, `after ${call}`]);

      const calm: Tenant = { app, ledger: new MemoryLedger() };
      await bed.reconcile(calm);
      const undisturbed = await stateOf(bed, realm);
      await bed.cleanup(calm, "Delete");
      const shop: Tenant = { app, ledger: new MemoryLedger() };
      assert.deepEqual(
        await failing((admin) => bed.reconcile(shop, { admin })),
        points(
          "logIn",
          "findRealm",
          "createRealm",
          "findClient",
          "createClient",
          "findProviders",
          "createProvider",
        ),
      );
      assert.deepEqual(await stateOf(bed, realm), undisturbed);
      assert.deepEqual(shop.ledger.contents, [`Realm ${realm} Ready`]);
      assert.deepEqual(
        await failing((admin) => bed.cleanup(shop, "Delete", admin)),
        points("logIn", "findRealm", "deleteRealm"),
      );
      assert.deepEqual(
        [
          await bed.keycloak.ask("GET", `/${realm}`),
          shop.ledger.contents,
          await bed.configMap(shop),
        ],
        [undefined, [], undefined],
      );
    },
  );
});

/** To Keycloak by another way. */
function accessAt({ keycloak }: AuthBed, url: string) {
  return async () => ({ ...(await keycloak.access()), url });
}

/** A realm without what Keycloak invents for each: ids, keys, times. */
async function stateOf({ keycloak: { ask } }: AuthBed, realm: string): Promise<unknown> {
  const parts = await Promise.all([
    ask("GET", `/${realm}`),
    ask("GET", `/${realm}/clients`),
    ask("GET", `/${realm}/identity-provider/instances?briefRepresentation=false`),
  ]);
  const invented =
    /^(id|internalId|containerId|client\.secret\.creation\.time|secret|defaultRole)$/;
  return JSON.parse(
    JSON.stringify(parts, (key, value: unknown) => {
      if (invented.test(key)) return undefined;
      // The order of lists is invented, too.
      const byText = (one: unknown, other: unknown): number =>
        JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
      return Array.isArray(value) && typeof value[0] === "string" ? value.toSorted(byText) : value;
    }),
  );
}

/** A second administrator of Keycloak, who may nothing at first. */
async function addAdministrator({ ask }: KeycloakServer, user: string) {
  const password = "helper's";
  await ask("POST", "/master/users", {
    username: user,
    enabled: true,
    email: `${user}@example.com`,
    firstName: "a",
    lastName: "b",
    credentials: [{ type: "password", value: password, temporary: false }],
  });
  const [{ id } = { id: "" }] =
    (await ask<{ id: string }[]>("GET", `/master/users?exact=true&username=${user}`)) ?? [];
  const path = `/master/users/${id}`;
  return {
    user,
    password,
    mayEverything: async () => {
      const role = await ask("GET", "/master/roles/admin");
      await ask("POST", `${path}/role-mappings/realm`, [role] as object);
    },
    endSessions: () => ask("POST", `${path}/logout`),
    setPassword: (value: string) =>
      ask("PUT", `${path}/reset-password`, { type: "password", value, temporary: false }),
  };
}
