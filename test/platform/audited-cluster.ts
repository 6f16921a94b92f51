// A cluster that tells who changed what: a server of ours by its audit, or a real Kubernetes by its audit log.

import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mastersGroup, type Audit, type Authenticator } from "@keelson/apiserver";
import { startTestServer } from "@keelson/apiserver/testing";
import { systemClock, type Clock } from "@keelson/base";
import { fixedCredentials } from "@keelson/client";
import { isOracle } from "../tools/test-cluster.ts";
import { accessTo, portOf } from "../oracle/client/bed.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { startOracle } from "../oracle/cluster.ts";
import type { BedCluster } from "./operator-bed.ts";

/** A change that somebody asked for, whatever became of it. */
export interface Write {
  /** Since the epoch, when it arrived. */
  readonly atMs: number;
  readonly user: string;
  readonly what: string;
}

export interface AuditedCluster extends BedCluster, AsyncDisposable {
  /** For somebody of that name who may do everything, by a port of 127.0.0.1. */
  kubeconfigOf(user: string, port: number): Promise<string>;
  /** In the order of their arrival. */
  writes(): Promise<readonly Write[]>;
}

export async function startAuditedCluster(signal: AbortSignal): Promise<AuditedCluster> {
  return isOracle ? await realCluster(signal) : await ownServer(signal);
}

const reads = new Set(["get", "list", "watch", ""]);

async function ownServer(signal: AbortSignal): Promise<AuditedCluster> {
  const lagMs = 120_000; // What it makes is that old at once, and can expire without anybody waiting for it.
  const clock: Clock = { ...systemClock, now: () => systemClock.now() - lagMs };
  const writes: Write[] = [];
  const audit: Audit = ({ user, attributes, path, startedAtMs }) => {
    const verb = attributes?.verb ?? "";
    if (reads.has(verb)) return;
    writes.push({ atMs: startedAtMs + lagMs, user: user?.name ?? "", what: `${verb} ${path}` });
  };
  const server = await startTestServer(
    { simulatesWorkloads: true, clock, authenticator: byToken, audit },
    signal,
  );
  return {
    port: Number(new URL(server.url).port),
    accessAt: (port) => ({ server: `http://127.0.0.1:${port}`, credentials: fixedCredentials({}) }),
    kubeconfigOf: (user, port) =>
      Promise.resolve(kubeconfigFor({ url: `http://127.0.0.1:${port}`, ca: "", token: user })),
    writes: () => Promise.resolve(writes.toSorted((a, b) => a.atMs - b.atMs)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Everybody is who the token says, or the tester; and may do everything. */
const byToken: Authenticator = {
  authenticate: ({ authorization = "Bearer tester" }) => {
    const name = authorization.slice("Bearer ".length);
    return { user: { name, uid: "", groups: [mastersGroup, "system:authenticated"], extra: {} } };
  },
};

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", verbs: ["create", "update", "patch", "delete", "deletecollection"] },
    { level: "None" },
  ],
};

async function realCluster(signal: AbortSignal): Promise<AuditedCluster> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "keelson-audit-"));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const [policy, log] = [join(folder, "policy.json"), join(folder, "audit.log")];
  await writeFile(policy, JSON.stringify(auditPolicy));
  await appendFile(log, "");
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
  const oracle = undo.use(
    await startOracle(
      { controllers: ["*"], scheduler: true, kwok: true, flags: { "kube-apiserver": flags } },
      signal,
    ),
  );
  const kept = undo.move();
  return {
    port: portOf(oracle),
    accessAt: (port) => accessTo(oracle, port),
    kubeconfigOf: async (name, port) => {
      const pair = await oracle.issue({ name, groups: [mastersGroup] });
      return kubeconfigFor({ url: `https://127.0.0.1:${port}`, ca: oracle.ca, ...pair });
    },
    writes: async () => {
      const lines = (await readFile(log, "utf8")).split("\n").slice(0, -1);
      return lines.map(writeOf).toSorted((a, b) => a.atMs - b.atMs);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function writeOf(line: string): Write {
  const { user, verb, requestURI, requestReceivedTimestamp } = JSON.parse(line) as {
    user: { username: string };
    verb: string;
    requestURI: string;
    requestReceivedTimestamp: string;
  };
  return {
    atMs: Date.parse(requestReceivedTimestamp),
    user: user.username,
    what: `${verb} ${requestURI}`,
  };
}
