// Two candidates, one of them stopped, cut off or told to go: there is never a second fenced writer.

import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { startOracle, type Oracle } from "../cluster.ts";
import { kubeconfigFor } from "../cluster-files.ts";
import { oracleTest } from "../oracle-test.ts";
import { TcpProxy } from "../tcp-proxy.ts";
import { until } from "../until.ts";

const times = { durationMs: 4_000, renewDeadlineMs: 2_500, renewMs: 500, lookMs: 500 };

/** Declares the test. */
export function describeElection(): void {
  oracleTest(
    "a leader that is stopped or cut off is followed, and never writes after that",
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      const ledger = { metadata: { name: "ledger" }, data: { entries: "" } };
      const path = "/api/v1/namespaces/default/configmaps";
      await oracle.client.send({ method: "POST", path, body: ledger }, t.signal);
      await using a = await Candidate.start(oracle, "a");
      await a.until("wrote", t.signal);
      await using b = await Candidate.start(oracle, "b");

      // Stopped for longer than its lease, with its clock none the wiser.
      a.process.kill("SIGSTOP");
      await b.until("wrote", t.signal);
      a.process.kill("SIGCONT");
      await a.until("ends", t.signal);

      // Cut off: it must notice by itself, and before the other begins.
      b.proxy.isRefusing = true;
      b.proxy.cut();
      await Promise.all([b.until("ends", t.signal), a.until("wrote", t.signal)]);
      b.proxy.isRefusing = false;

      // Half open: nothing fails, nothing answers.
      a.proxy.isRefusing = true;
      a.proxy.weather = { type: "half-open" };
      await Promise.all([a.until("ends", t.signal), b.until("wrote", t.signal)]);
      a.proxy.isRefusing = false;

      // A clean stop: the other follows at once.
      const beforeMs = performance.now();
      b.process.kill("SIGTERM");
      await b.until("stopped", t.signal);
      await a.until("leads", t.signal);
      const pauseMs = performance.now() - beforeMs;
      t.diagnostic(`the pause after a clean stop: ${pauseMs.toFixed(0)} ms`);
      assert.ok(pauseMs < 2_000, `nobody led for ${pauseMs} ms`);
      await a.until("wrote", t.signal);

      const { body } = await oracle.client.send({ path: `${path}/ledger` }, t.signal);
      const { entries } = (body as { data: { entries: string } }).data;
      const lines = entries.trim().split("\n");
      const tokens = lines.map((line) => BigInt(line.split(" ")[0] ?? ""));
      assert.deepEqual(
        tokens,
        tokens.toSorted(compare),
        "a later leader was followed by an earlier",
      );
      const holders = new Map(lines.map((line) => line.split(" ") as [string, string]));
      assert.deepEqual([...holders.values()], ["a", "b", "a", "b", "a"]);
    },
  );
}

const waitMsMax = 30_000;

/** The moments of one process, in order, each waited for once. */
class Candidate implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly proxy: TcpProxy;
  readonly #said: string[] = [];
  readonly #all: unknown[] = [];

  private constructor(process: ChildProcess, proxy: TcpProxy) {
    this.process = process;
    this.proxy = proxy;
    process.on("message", (message) => {
      this.#all.push(message);
      this.#said.push((message as { type: string }).type);
    });
  }

  static async start(oracle: Oracle, identity: string): Promise<Candidate> {
    const proxy = await TcpProxy.to(Number(new URL(oracle.url).port));
    const { certificate, key } = oracle.admin;
    const url = `https://127.0.0.1:${proxy.port}`;
    const file = join(oracle.folder, `candidate-${identity}.kubeconfig`);
    writeFileSync(file, kubeconfigFor({ url, ca: oracle.ca, certificate, key }));
    const program = join(import.meta.dirname, "elector-process.ts");
    // Without the flags and the environment of the runner, which would take it for a test.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = fork(program, [file, identity, JSON.stringify(times)], { execArgv: [], env });
    return new Candidate(child, proxy);
  }

  /** Waits until it says so; what it said before is over. */
  async until(type: string, signal: AbortSignal): Promise<void> {
    try {
      await until(
        () => this.#said.includes(type),
        AbortSignal.any([signal, AbortSignal.timeout(waitMsMax)]),
      );
    } catch (error) {
      throw new Error(`it never said ${type}, but ${JSON.stringify(this.#all)}`, { cause: error });
    }
    this.#said.splice(0, this.#said.indexOf(type) + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill("SIGKILL");
      await new Promise((resolve) => this.process.once("exit", resolve));
    }
    await this.proxy[Symbol.asyncDispose]();
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
