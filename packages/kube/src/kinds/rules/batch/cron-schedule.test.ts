import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { scheduleProblem } from "./cron-schedule.ts";
import { isTimeZone } from "./time-zones.ts";

suite("schedules of CronJobs", () => {
  const schedules = [
    ["* * * * *", undefined],
    ["*/9007199254740993 * * * *", undefined],
    [
      "9007199254740993 * * * *",
      "end of range (9007199254740993) above maximum (59): 9007199254740993",
    ],
    [
      "9223372036854775808 * * * *",
      'failed to parse int from 9223372036854775808: strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
    ["5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["*\u0085* * * *", undefined],
    ["*\ufeff* * * *", "expected exactly 5 fields, found 4: [*\ufeff* * * *]"],
    ["TZ=../x * * * * *", "provided bad location ../x: time: invalid location name"],
    ["TZ=Us/Eastern * * * * *", "provided bad location Us/Eastern: unknown time zone Us/Eastern"],
  ] as const;
  for (const [schedule, problem] of schedules) {
    test(`${JSON.stringify(schedule)} is judged`, () => {
      assert.equal(scheduleProblem(schedule), problem);
    });
  }

  test("zones are known in their own spelling, links too", () => {
    const names = ["Europe/Berlin", "europe/berlin", "US/Eastern", "Us/Eastern", "GB", "Factory"];
    assert.deepEqual(
      names.filter((name) => isTimeZone(name)),
      ["Europe/Berlin", "US/Eastern", "GB", "Factory"],
    );
  });
});
