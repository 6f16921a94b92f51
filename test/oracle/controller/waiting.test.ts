// Tests that mostly wait, for leases to run out and for tokens to be forgotten: side by side.

import { suite } from "node:test";

import { describeCredentials } from "../client/credentials.ts";
import { describeElection } from "./election.ts";

suite("credentials and elections", { concurrency: true }, () => {
  describeCredentials();
  describeElection();
});
