// A leader and one who stands by, by a clock that the test moves: what the second asks, and when it leads.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";
import { operatorElectionTimes as times } from "@keelson/platform";

import { LeaseServer } from "./lease-server.ts";
import { Member } from "./member.ts";

/** Four ways over the wire, and no more. */
const answersMs = 500;

async function pair(): Promise<{ readonly leader: Member; readonly other: Member }> {
  const place = { clock: new ManualClock(), server: new LeaseServer() };
  const leader = new Member(times, "leader", place);
  await leader.leads();
  const other = new Member(times, "other", place);
  return { leader, other };
}

suite("who stands by", () => {
  test("hears of the Lease, and asks for it once", async () => {
    const { leader, other } = await pair();
    await leader.clock.advance(10 * times.durationMs);
    assert.deepEqual([other.wire.looks, other.terms.length, leader.holder], [1, 0, "leader"]);
    await Promise.all([other.end(), leader.end()]);
  });

  test("leads as soon as the Lease is given back", async () => {
    const { leader, other } = await pair();
    await leader.clock.advance(3 * times.durationMs);
    leader.letGo();
    await leader.clock.advance(2 * answersMs);
    assert.deepEqual([other.terms.length, other.holder], [1, "other"]);
    await Promise.all([other.end(), leader.end()]);
  });

  test("leads as soon as the Lease is deleted", async () => {
    const { leader, other } = await pair();
    leader.wire.isCut = true;
    await leader.clock.advance(times.lookMs);
    leader.server.delete("lease");
    await leader.clock.advance(2 * answersMs);
    assert.deepEqual([other.terms.length, other.holder], [1, "other"]);
    await Promise.all([other.end(), leader.end()]);
  });

  test("waits for as long as the Lease lasts where nothing is heard of its holder", async () => {
    const { leader, other } = await pair();
    await leader.clock.advance(3 * times.durationMs);
    leader.wire.isCut = true;
    await leader.clock.advance(times.durationMs - times.renewMs - answersMs);
    assert.equal(other.terms.length, 0);
    await leader.clock.advance(times.renewMs + 3 * answersMs);
    assert.deepEqual([other.terms.length, leader.terms[0]?.isHeld], [1, false]);
    await Promise.all([other.end(), leader.end()]);
  });

  test("does not believe a watch that is silent", async () => {
    const { leader, other } = await pair();
    await leader.clock.advance(times.durationMs);
    other.wire.isStalled = true;
    await leader.clock.advance(3 * times.durationMs);
    assert.deepEqual([other.terms.length, leader.holder], [0, "leader"]);
    leader.letGo();
    await leader.clock.advance(times.renewDeadlineMs + 2 * answersMs);
    assert.deepEqual([other.terms.length, other.holder], [1, "other"]);
    await Promise.all([other.end(), leader.end()]);
  });

  test("looks now and then where it may not watch", async () => {
    const { leader, other } = await pair();
    other.wire.hasNoWatches = true;
    await leader.clock.advance(2 * times.durationMs);
    assert.deepEqual([other.terms.length, leader.holder], [0, "leader"]);
    leader.letGo();
    await leader.clock.advance(times.lookMs + 3 * answersMs);
    assert.deepEqual([other.terms.length, other.holder], [1, "other"]);
    await Promise.all([other.end(), leader.end()]);
  });
});
