// What runs in the thread of checkpointer.ts: a connection of its own, that writes nothing but pages that are committed.

import { parentPort, workerData } from "node:worker_threads";
import { openCheckpointer } from "./checkpointer-connection.ts";

const port = parentPort;
if (port === null) throw new Error("this program is a thread of another");
const database = openCheckpointer(workerData as string);

port.on("message", (request: "checkpoint" | "close") => {
  if (request === "close") {
    database.close();
    port.close();
    return;
  }
  try {
    // Passive: it waits for nobody, and nobody for it.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // The disk may be full. Whoever commits will meet it, and say so.
  }
  port.postMessage("done");
});
