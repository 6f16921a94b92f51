#!/usr/bin/env node
// A real cluster for a developer, until Ctrl-C.
//
//   npm run oracle:up              API server, controllers, scheduler, KWOK with one Node
//   npm run oracle:up -- --bare    API server and etcd alone

import { dirname } from "node:path";

import { reasonForNoOracle } from "./build.ts";
import { startOracle } from "./cluster.ts";
import { programPath } from "./programs.ts";

const reason = reasonForNoOracle();
if (reason !== undefined) {
  console.error(`The oracle cannot run: ${reason}.`);
  process.exit(1);
}

const interrupted = new AbortController();
const stop = (): void => interrupted.abort(new Error("interrupted"));
process.once("SIGINT", stop);
process.once("SIGTERM", stop);

const everything = { controllers: ["*"], scheduler: true, kwok: true };
const options = process.argv.includes("--bare") ? {} : everything;
const startedAt = performance.now();
await using oracle = await startOracle(options, interrupted.signal);
console.log(`Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. In another terminal:

  export KUBECONFIG=${oracle.kubeconfig}
  export PATH=${dirname(programPath("kubectl"))}:${dirname(programPath("helm"))}:$PATH
  kubectl get nodes

API server   ${oracle.url}
Token        ${oracle.admin.token}
Certificate  ${oracle.folder}/ca.crt
Logs         ${oracle.folder}/*.log

Ctrl-C ends it and removes everything.`);

await new Promise<void>((resolve) => {
  const keepAlive = setInterval(() => undefined, 60_000);
  interrupted.signal.addEventListener("abort", () => {
    clearInterval(keepAlive);
    resolve();
  });
});
console.log("\nStopping.");
