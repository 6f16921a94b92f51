// The commands about resources before the real API and a real worker: what people read, and how scripts are told. One bed
// for all, in this order: each part goes on with what the one before has left.

import { after, before, suite } from "node:test";
import { testApplying } from "./commands/applying.ts";
import { testChanging } from "./commands/changing.ts";
import { testEnding, testNamesakes, testProcess, testRefusals } from "./commands/ending.ts";
import { testGlobals } from "./commands/globals.ts";
import { openLab, type CommandLab } from "./commands/lab.ts";
import { testTrying } from "./commands/trying.ts";
import { testReading, testWatching } from "./commands/reading.ts";

suite("commands about resources", () => {
  const lab = {} as CommandLab; // Filled before the first test.
  before(async () => {
    Object.assign(lab, await openLab());
  });
  after(() => lab[Symbol.asyncDispose]());

  testApplying(lab);
  testReading(lab);
  testTrying(lab);
  testChanging(lab);
  testWatching(lab);
  testEnding(lab);
  testNamesakes(lab);
  testGlobals(lab);
  testProcess(lab);
  testRefusals(lab);
});
