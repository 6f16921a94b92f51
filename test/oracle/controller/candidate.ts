// One candidate of an election, as a process behind a network and a clock of its own.

import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ElectionTimes } from "@keelson/controller";

import { portOf, type Reachable } from "../client/bed.ts";
import { kubeconfigFor } from "../cluster-files.ts";
import { TcpProxy } from "../../tools/tcp-proxy.ts";
import { until } from "../../tools/until.ts";
import { endsWithUs } from "../../tools/ends-with-us.ts";

export interface CandidateOptions {
  readonly target: Reachable & { readonly folder: string };
  readonly identity: string;
  readonly times: Partial<ElectionTimes>;
  /** For its clock. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Said {
  readonly type: "leads" | "wrote" | "fenced" | "ends" | "stopped" | "failed";
  readonly token?: string;
}

const waitMsMax = 240_000;

export class Candidate implements AsyncDisposable {
  readonly identity: string;
  readonly proxy: TcpProxy;
  readonly said: Said[] = [];
  readonly #process: ChildProcess;

  private constructor(identity: string, process: ChildProcess, proxy: TcpProxy) {
    this.identity = identity;
    this.#process = process;
    this.proxy = proxy;
    process.on("message", (message) => void this.said.push(message as Said));
  }

  static async start(options: CandidateOptions): Promise<Candidate> {
    const { target, identity, times, environment = {} } = options;
    const proxy = await TcpProxy.to(portOf(target));
    const { certificate, key } = target.admin;
    const url = `https://127.0.0.1:${proxy.port}`;
    const file = join(target.folder, `candidate-${identity}.kubeconfig`);
    writeFileSync(file, kubeconfigFor({ url, ca: target.ca, certificate, key }));
    const program = join(import.meta.dirname, "elector-process.ts");
    // Without the flags and the environment of the runner, which would take it for a test.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const child = endsWithUs(
      fork(program, [file, identity, JSON.stringify(times)], {
        execArgv: [],
        env: { ...inherited, ...environment },
      }),
    );
    return new Candidate(identity, child, proxy);
  }

  /** The token of its present term, once it has written in it. */
  get term(): bigint | undefined {
    const last = this.said.findLast(({ type }) => type !== "fenced" && type !== "failed");
    return last?.type === "wrote" ? BigInt(last.token ?? 0) : undefined;
  }

  /** The token it has last written with. */
  get lastToken(): bigint {
    const last = this.said.findLast(({ type }) => type === "wrote");
    return BigInt(last?.token ?? 0);
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGTERM"): void {
    this.#process.kill(name);
  }

  /** Waits until something is so; what it said is told where it never is. */
  async until<Fact>(
    ask: (candidate: this) => Fact | undefined | false,
    signal: AbortSignal,
  ): Promise<Fact> {
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(waitMsMax)]);
      return await until(() => ask(this), bounded);
    } catch (error) {
      const last = JSON.stringify(this.said.slice(-10));
      throw new Error(`${this.identity} has said at last: ${last}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill("SIGKILL");
      await new Promise((resolve) => this.#process.once("exit", resolve));
    }
    await this.proxy[Symbol.asyncDispose]();
  }
}
