import assert from "node:assert/strict";
import { test } from "node:test";

import type { StepError } from "../steps/step-error.ts";
import { nameDriverError } from "./driver-errors.ts";

test("a server without room for more has answered, and says what would help", () => {
  for (const [code, message, hint, said] of [
    [
      "53200",
      "out of shared memory",
      'You might need to increase "max_locks_per_transaction".',
      'short of resources: out of shared memory; You might need to increase "max_locks_per_transaction"',
    ],
    [
      "53300",
      "sorry, too many clients already",
      undefined,
      "short of resources: sorry, too many clients already",
    ],
    ["08006", "connection failure", undefined, "no answer: connection failure"],
  ] as const) {
    const error = Object.assign(new Error(message), { code, hint });
    const named = nameDriverError(error, "dropSchema", "PostgreSQL at db:5432") as StepError;
    assert.deepEqual(
      [named.reason, named.message],
      ["Unreachable", `PostgreSQL at db:5432: ${said}`],
    );
  }
});
