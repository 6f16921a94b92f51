// One leader and its Lease, by a clock that the test moves: a renewal that fails, an answer that is lost, a stop.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { usualElectionTimes } from "@keelson/controller";
import { operatorElectionTimes } from "@keelson/platform";

import type { WriteFault } from "./lease-server.ts";
import { Member } from "./member.ts";

/** A request and its answer take less. */
const answerMs = 200;

for (const [whose, times] of [
  ["the operator's times", operatorElectionTimes],
  ["the usual times", usualElectionTimes],
] as const) {
  suite(`a leader with ${whose}`, () => {
    const { renewMs, renewDeadlineMs } = times;
    for (const fault of ["refused", "unheard", "unanswered"] as const satisfies WriteFault[]) {
      test(`leads on after a renewal that was ${fault}`, async () => {
        const leader = new Member(times);
        const term = await leader.leads();
        leader.wire.faults.push(fault);
        for (let passedMs = 0; passedMs < 3 * renewDeadlineMs; passedMs += 100) {
          await leader.clock.advance(100);
          assert.equal(term.isHeld, true, `after ${passedMs} ms`);
        }
        assert.equal(leader.terms.length, 1);
        await leader.end();
      });
    }

    test("counts from the renewal after one whose answer was lost", async () => {
      const leader = new Member(times);
      const term = await leader.leads();
      leader.wire.faults.push("unheard");
      await leader.clock.advance(renewMs + times.lookMs + 3 * answerMs);
      leader.wire.isCut = true;
      await leader.clock.advance(renewDeadlineMs - 3 * answerMs);
      assert.equal(term.isHeld, true);
      await leader.clock.advance(renewDeadlineMs);
      assert.deepEqual([term.isHeld, term.lost.aborted], [false, true]);
      await leader.end();
    });

    test("that is told to stop leads until its work has ended, and can still lose", async () => {
      const leader = new Member(times);
      const term = await leader.leads();
      leader.tellToStop();
      await leader.clock.advance(3 * renewDeadlineMs);
      assert.deepEqual([term.isHeld, term.lost.aborted, leader.holder], [true, false, "only"]);
      term.throwIfLost();
      leader.wire.isCut = true;
      await leader.clock.advance(renewDeadlineMs + renewMs);
      assert.deepEqual([term.isHeld, term.lost.aborted], [false, true]);
      assert.throws(() => term.throwIfLost(), { code: "LEADERSHIP_LOST" });
      leader.wire.isCut = false;
      await leader.end();
      assert.equal(leader.terms.length, 1);
    });

    test("gives the Lease back when its work has ended", async () => {
      const leader = new Member(times);
      await leader.leads();
      await leader.end();
      assert.equal(leader.holder, "");
    });
  });
}

test("times that leave no second try are refused", async () => {
  const times = { ...usualElectionTimes, renewMs: 9_000 };
  const leader = new Member(times);
  await assert.rejects(leader.end(), /a second try/);
});
