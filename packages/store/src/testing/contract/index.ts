// The suite: every rule of the store's contract, on whatever database a fixture brings.

import { suite, type SuiteContext } from "node:test";
import type { Fixture } from "../bed.ts";
import { describeBodies } from "./bodies.ts";
import { describeCompaction } from "./compaction.ts";
import { describeFaults } from "./faults.ts";
import { describeLists } from "./lists.ts";
import { describeObjects } from "./objects.ts";
import { describeReplicas } from "./replicas.ts";
import { describeWatches } from "./watches.ts";
import { describeWriters } from "./writers.ts";

/** Registers the suite for one backend. A fixture that cannot run here is skipped, with its reason. */
export function describeStore(fixture: Fixture): void {
  const options = fixture.missing === undefined ? {} : { skip: fixture.missing };
  suite(`store on ${fixture.name}`, options, (_context: SuiteContext) => {
    describeObjects(fixture);
    describeBodies(fixture);
    describeWriters(fixture);
    describeLists(fixture);
    describeWatches(fixture);
    describeCompaction(fixture);
    describeFaults(fixture);
    if (fixture.isShared) describeReplicas(fixture);
  });
}
