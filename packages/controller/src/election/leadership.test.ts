import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { KubeObject } from "@keelson/client";
import { failures } from "@keelson/kube";

import { fencingAnnotation, fencingTokenOf, Leadership } from "./leadership.ts";

const never = new AbortController().signal;
const ref = { name: "ledger" };

interface Ledger extends KubeObject {
  readonly entries: readonly string[];
}

suite("Leadership", () => {
  test("writes with its token, and goes on from what somebody else has written in between", async () => {
    const store = ledgerAt(0n);
    store.disturb = 2;
    await add(leadership(7n), store);
    assert.deepEqual(store.object.entries, ["stranger", "stranger", "7"]);
    assert.equal(fencingTokenOf(store.object), 7n);
  });

  test("does not write after a later leader, however late it finds out", async () => {
    const store = ledgerAt(0n);
    const [first, second] = [leadership(7n), leadership(9n)];
    store.beforeUpdate = async () => {
      store.beforeUpdate = undefined;
      await add(second, store);
    };
    await assert.rejects(add(first, store), { code: "FENCED", token: 7n, seen: 9n });
    assert.deepEqual(store.object.entries, ["9"]);
    assert.throws(() => first.check(store.object), { code: "FENCED" });
    second.check(store.object);
  });

  test("tells when it may not be believed any more", () => {
    let isHeld = true;
    const term = new Leadership({
      lease: "operator",
      token: 1n,
      isHeld: () => isHeld,
      lost: never,
    });
    term.throwIfLost();
    isHeld = false;
    assert.throws(() => term.throwIfLost(), {
      code: "LEADERSHIP_LOST",
      message: "the lease operator is not ours any more",
    });
  });

  test("what is no token is none", () => {
    const tokens = ["", "x", "-1", "18446744073709551616"].map((text) =>
      fencingTokenOf({ ...blank, metadata: { annotations: { [fencingAnnotation]: text } } }),
    );
    assert.deepEqual(tokens, [0n, 0n, 0n, 18446744073709551616n]);
  });
});

const blank = { apiVersion: "v1", kind: "Ledger" } as const;

function leadership(token: bigint): Leadership {
  return new Leadership({ lease: "ledger", token, isHeld: () => true, lost: never });
}

async function add(term: Leadership, store: ReturnType<typeof ledgerAt>): Promise<void> {
  const change = (ledger: Ledger): Ledger => ({
    ...ledger,
    entries: [...ledger.entries, String(term.token)],
  });
  await term.update({ resource: store.resource, ref }, change, never);
}

/** One object with a version, as a server keeps it. */
function ledgerAt(token: bigint) {
  const annotations = { [fencingAnnotation]: String(token) };
  const store = {
    object: {
      ...blank,
      metadata: { name: "ledger", resourceVersion: "1", annotations },
      entries: [] as readonly string[],
    } as Ledger,
    /** How often a stranger writes first. */
    disturb: 0,
    beforeUpdate: undefined as (() => Promise<void>) | undefined,
    put: (object: Ledger): Ledger => {
      const resourceVersion = String(Number(store.object.metadata.resourceVersion) + 1);
      store.object = { ...object, metadata: { ...object.metadata, resourceVersion } };
      return store.object;
    },
    resource: {
      get: async () => store.object,
      update: async (object: Ledger) => {
        await store.beforeUpdate?.();
        if (store.disturb > 0) {
          store.disturb -= 1;
          const entries = [...store.object.entries, "stranger"];
          store.put({ ...store.object, entries });
        }
        if (object.metadata.resourceVersion !== store.object.metadata.resourceVersion) {
          throw failures.conflict({ group: "", resource: "ledgers" }, "ledger", "it has moved on");
        }
        return store.put(object);
      },
    },
  };
  return store;
}
