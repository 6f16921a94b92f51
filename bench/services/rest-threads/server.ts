// A thread with one server, bare or ours, so that each is compiled for itself. It tells where it listens, and how
// much of the processor it took whenever it is asked.

import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import {
  believingAuthenticator,
  buildRest,
  gatewayAuthenticator,
  PrometheusMetrics,
  tokenAuthenticator,
  type Authenticator,
  type RouteModule,
} from "@keelson/keelson";
import { fastify } from "fastify";

export type Mode = "bare" | "none" | "token" | "gateway";
const { mode, token, secret } = workerData as {
  readonly mode: Mode;
  readonly token: string;
  readonly secret: string;
};

const echo: RouteModule = {
  name: "echo",
  prefix: "/api/v1",
  bodyBytesMax: 1_048_576,
  routes: () => (app, _options, done) => {
    app.post("/echo", (request) => request.body);
    done();
  },
};

async function authenticatorOf(mode: Exclude<Mode, "bare">): Promise<Authenticator> {
  switch (mode) {
    case "none":
      return believingAuthenticator();
    case "gateway":
      return gatewayAuthenticator({ secret, acceptsCertificates: false });
    case "token": {
      const folder = await mkdtemp(join(tmpdir(), "keelson-bench-"));
      const tokensFile = join(folder, "tokens.json");
      const tokens = [{ name: "bench", sha256: hash("sha256", token), role: "admin" }];
      await writeFile(tokensFile, JSON.stringify({ tokens }));
      const authenticator = await tokenAuthenticator({
        tokensFile,
        clock: systemClock,
        log: silentLog,
      });
      await rm(folder, { recursive: true });
      return authenticator;
    }
  }
}

async function listen(): Promise<string> {
  if (mode === "bare") {
    const app = fastify();
    app.post("/api/v1/echo", (request) => request.body);
    return app.listen({ host: "127.0.0.1", port: 0 });
  }
  const rest = await buildRest({
    authenticator: await authenticatorOf(mode),
    corsOrigins: mode === "none" ? undefined : ["*"],
    modules: [echo],
    limits: { readMs: 30_000, writeMs: 30_000, idleMs: 120_000, drainMs: 1_000 },
    clock: systemClock,
    random: systemRandom,
    logsRequests: false,
    log: silentLog,
    metrics: new PrometheusMetrics({ withProcess: false }),
  });
  return rest.listen({ address: "127.0.0.1", port: 0 });
}

/* oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin. */
parentPort?.postMessage(await listen());
parentPort?.on("message", () => {
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage(user + system);
});
