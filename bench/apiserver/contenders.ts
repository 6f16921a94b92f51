// The servers that are measured, and the program that measures them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { residentBytes } from "../../test/e2e/resident.ts";
import { CertificateAuthority, type KeyPair } from "../../test/tools/certificates.ts";
import { startOracle } from "../../test/oracle/cluster.ts";
import {
  failuresOf,
  LoadGenerator,
  missedBy,
  type LoadOptions,
  type LoadResult,
} from "../../test/apiserver/loadgen.ts";
import { startOurs, type OursOptions } from "../../test/apiserver/ours.ts";

export type { LoadOptions, LoadResult };

/** A server under load. */
export class Contender implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly #generator: LoadGenerator;
  readonly #pids: () => readonly number[];
  readonly #undo: AsyncDisposableStack;
  #peakBytes = 0;

  constructor(
    name: string,
    server: { readonly url: string; readonly ca: string; readonly admin: KeyPair },
    { pids, undo }: { readonly pids: () => readonly number[]; readonly undo: AsyncDisposableStack },
  ) {
    this.name = name;
    this.url = server.url;
    this.#pids = pids;
    this.#undo = undo;
    this.#generator = undo.use(new LoadGenerator(server));
    const sampling = setInterval(() => this.#sample(), 250);
    undo.defer(() => clearInterval(sampling));
  }

  /** The most resident memory its processes have had at once, in MB. */
  get peakMegabytes(): number {
    this.#sample();
    return this.#peakBytes / 1e6;
  }

  /** Forgets the peak: from now on it is what comes after. */
  forgetPeak(): void {
    this.#peakBytes = 0;
  }

  /** Runs the generator to its end. Errors of the server and lost events end the run: figures of failures mean nothing. */
  async load(options: LoadOptions, signal: AbortSignal): Promise<LoadResult> {
    const result = await this.#generator.run(options, signal);
    const failed = failuresOf(result);
    if (failed > 0)
      throw new Error(
        `${this.name}: ${failed} requests failed: ${JSON.stringify(result.errors)} ${result.sample ?? ""}`,
      );
    const missed = options.verb === "watch" ? missedBy(result) : undefined;
    if (missed !== undefined) throw new Error(`${this.name}: ${missed}`);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }

  #sample(): void {
    const bytes = this.#pids().reduce((sum, pid) => sum + (residentBytes(pid) ?? 0), 0);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
  }
}

/** kube-apiserver and etcd, which syncs before it acknowledges, as ours does. */
export async function kubernetes(signal: AbortSignal): Promise<Contender> {
  const undo = new AsyncDisposableStack();
  const flags = {
    etcd: ["--unsafe-no-fsync=false"],
    "kube-apiserver": [
      "--max-requests-inflight=0",
      "--max-mutating-requests-inflight=0",
      "--enable-priority-and-fairness=false",
    ],
  };
  const oracle = undo.use(await startOracle({ flags }, signal));
  const pids = (): number[] =>
    [oracle.pidOf("kube-apiserver"), oracle.pidOf("etcd")].filter((pid) => pid !== undefined);
  return new Contender("kube-apiserver + etcd", oracle, { pids, undo });
}

export async function ours(options: OursOptions, signal: AbortSignal): Promise<Contender> {
  const undo = new AsyncDisposableStack();
  const server = undo.use(await startOurs(options, signal));
  const pids = (): number[] => [server.pid].filter((pid) => pid !== undefined);
  return new Contender(`ours, ${options.driver}`, server, { pids, undo });
}

/** A Node server that only echoes. */
export async function echo(signal: AbortSignal): Promise<Contender> {
  const undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "keelson-echo-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const authority = await CertificateAuthority.create("echo");
  const serving = await authority.issue({ name: "echo", hosts: ["127.0.0.1"] });
  const files = {
    "ca.crt": authority.certificate,
    "serving.crt": serving.certificate,
    "serving.key": serving.key,
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  const program = join(import.meta.dirname, "programs/echo.ts");
  const child = spawn(
    process.execPath,
    [program, join(folder, "serving.crt"), join(folder, "serving.key"), join(folder, "ca.crt")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  undo.defer(async () => {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  });
  const [port] = (await once(createInterface(child.stdout), "line", { signal })) as [string];
  const admin = await authority.issue({ name: "bench" });
  return new Contender(
    "echo",
    { url: `https://127.0.0.1:${port}`, ca: authority.certificate, admin },
    { pids: () => [child.pid ?? 0], undo },
  );
}
