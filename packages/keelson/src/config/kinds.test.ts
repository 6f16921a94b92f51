import assert from "node:assert/strict";
import { test } from "node:test";

import { quantity } from "./kinds.ts";

const read = (text: string): string => quantity.read(text, { folder: "/" });

test("an amount is read in the form in which a cluster keeps it", () => {
  assert.deepEqual(["5000m", "1500m", "3072Mi", "0.5Gi", "5", "2e3", "1Ti"].map(read), [
    "5",
    "1500m",
    "3Gi",
    "512Mi",
    "5",
    "2e3",
    "1Ti",
  ]);
});

test("an amount that is none, or nothing, is refused", () => {
  for (const text of ["", "much", "0", "-1", "1 Gi"]) {
    assert.throws(() => read(text), /must be an amount of Kubernetes above zero/, text);
  }
});
