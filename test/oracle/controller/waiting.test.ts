// Tests that mostly wait, for leases to run out and for tokens to be forgotten: side by side.

import { suite } from "node:test";

import { reasonForNoOracle } from "../build.ts";
import { describeCredentials } from "../client/credentials.ts";
import { startOracle } from "../cluster.ts";
import { describeElection } from "./election.ts";

suite("credentials and elections", { concurrency: true }, () => {
  describeCredentials();
  describeElection(
    "a leader that is stopped, suspended or cut off is followed, and never writes after that",
    (t) => startOracle({}, t.signal),
    reasonForNoOracle() ?? false,
  );
});
