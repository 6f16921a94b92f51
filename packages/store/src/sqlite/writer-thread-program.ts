// What runs in the thread of writer-thread.ts: it has a connection of its own that writes.

import { parentPort, workerData } from "node:worker_threads";
import { Connection, openWriter } from "./connection.ts";
import { packOutcomes, unpackBatch } from "./packed-batch.ts";
import { Transactions } from "./transactions.ts";
import type { Failure, Reply, Request } from "./writer-thread.ts";

const port = parentPort;
if (port === null) throw new Error("this program is a thread of another");
const transactions = new Transactions(
  new Connection(openWriter(workerData as string), () => undefined),
);

port.on("message", (request: Request | "close") => {
  if (request === "close") {
    transactions.close();
    port.close();
  } else {
    port.postMessage(replyTo(request));
  }
});

port.postMessage("ready");

function replyTo(request: Request): Reply {
  try {
    transactions.learn(request.bounds);
    const result = run(request);
    return { bounds: transactions.bounds, result };
  } catch (error) {
    return { bounds: transactions.bounds, failure: failureOf(error) };
  }
}

function run(request: Request): unknown {
  switch (request.name) {
    case "commit": {
      const { head, outcomes } = transactions.commit(unpackBatch(request.batch), request.now);
      return { head, packed: packOutcomes(outcomes) };
    }
    case "cut":
      return transactions.cut(request.upTo, request.limits);
    case "leap":
      return transactions.leap();
  }
}

function failureOf(error: unknown): Failure {
  const { message, errcode } = error as Error & { readonly errcode?: number };
  return { message, errcode };
}
