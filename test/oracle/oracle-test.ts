// Tests that need the oracle: where it cannot run, each is skipped by its name, with the reason.

import { test, type TestContext } from "node:test";

import { reasonForNoOracle } from "./build.ts";

const skip = reasonForNoOracle() ?? false;

/** As `test` of `node:test`. */
export function oracleTest(name: string, run: (t: TestContext) => Promise<void>): void {
  void test(name, { skip }, run);
}
