import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog, systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { TargetContact } from "./target-contact.ts";

/** A contact that nobody runs: what it would ask with is never used. */
function contactOf(): TargetContact {
  return new TargetContact({
    clusterId: "prod",
    client: undefined as never,
    database: undefined as never,
    owner: "w",
    limits: { staleMs: 60_000 },
    onRecovered: () => undefined,
    clock: new ManualClock(),
    random: systemRandom,
    log: silentLog,
  });
}

suite("contact with a target", () => {
  test("nobody waits for a target that is away once they are told to stop, however late they come", async () => {
    const contact = contactOf();
    await contact.whenThere(new AbortController().signal);
    contact.lose({ about: "target", reason: "unreachable", message: "no answer" });
    assert.ok(contact.isLost);
    const stop = new AbortController();
    const early = contact.whenThere(stop.signal);
    stop.abort();
    await assert.rejects(early, { name: "AbortError" });
    await assert.rejects(contact.whenThere(stop.signal), { name: "AbortError" });
  });
});
