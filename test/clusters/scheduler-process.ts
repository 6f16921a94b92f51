#!/usr/bin/env node
// A scheduler to be killed: it takes small batches from the database whose URL it is given, and says so after each.
// After so many it takes no more: however late it is killed, something is left.

import { openDatabase } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { schedulerOn } from "./scheduler-bed.ts";

const batchesMax = 100;
let batches = 0;
const database = openDatabase({
  url: process.argv[2] ?? "",
  name: "killed",
  searchPath: ["lifecycle", "public"],
  ...patience,
  onStatement: async ({ statement, phase }) => {
    if (statement !== "announceDue" || phase !== "after") return;
    process.stdout.write("batch\n");
    batches += 1;
    if (batches >= batchesMax) await new Promise<never>(() => undefined);
  },
});
await schedulerOn(database, { batchMax: 5 }).run(new AbortController().signal);
