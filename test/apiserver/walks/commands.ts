// Unmodified programs at a server: what they print and how they end.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

import type { Output } from "../../oracle/cluster.ts";
import { programPath, type ProgramName } from "../../oracle/programs.ts";
import type { Target } from "../target.ts";

export interface CommandOptions {
  /** Other than the admin's. */
  readonly kubeconfig?: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A program's home and kubeconfig at one server. */
export class Commands {
  readonly #kubeconfig: string;
  readonly #home: string;

  /** As the admin, unless told whose kubeconfig it is; each has a home of its own. */
  constructor(target: Target, kubeconfig = target.kubeconfig) {
    this.#kubeconfig = kubeconfig;
    this.#home = join(target.folder, "homes", basename(kubeconfig));
    mkdirSync(this.#home, { recursive: true });
  }

  get home(): string {
    return this.#home;
  }

  /** Runs it to its end; whatever it says resolves. */
  async run(
    program: ProgramName,
    arguments_: readonly string[],
    signal: AbortSignal,
    options: CommandOptions = {},
  ): Promise<Output> {
    const child = this.#spawn(program, arguments_, options, signal);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    const [code] = (await once(child, "close")) as [number | null];
    return { code: code ?? -1, stdout, stderr };
  }

  /** Runs it; anything but success throws. */
  async must(
    program: ProgramName,
    arguments_: readonly string[],
    signal: AbortSignal,
    options: CommandOptions = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.run(program, arguments_, signal, options);
    if (code !== 0) {
      throw new Error(`${program} ${arguments_.join(" ")} ended with ${code}\n${stdout}${stderr}`);
    }
    return stdout;
  }

  /** Starts it and leaves it running; it ends with `signal`, or when it is disposed. */
  start(
    program: ProgramName,
    arguments_: readonly string[],
    signal: AbortSignal,
    options: CommandOptions = {},
  ): Running {
    return new Running(this.#spawn(program, arguments_, options, signal));
  }

  #spawn(
    program: ProgramName,
    arguments_: readonly string[],
    options: CommandOptions,
    signal: AbortSignal,
  ) {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.#home,
      KUBECONFIG: options.kubeconfig ?? this.#kubeconfig,
      ...options.environment,
    };
    return spawn(programPath(program), arguments_, {
      env,
      signal,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
}

/** A program that runs beside the test. */
export class Running implements AsyncDisposable {
  readonly #child: ReturnType<typeof spawn>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;
  #errors = "";

  constructor(child: ReturnType<typeof spawn>) {
    this.#child = child;
    child.on("error", () => undefined);
    if (child.stdout === null || child.stderr === null) throw new Error("no output to read");
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-8_000);
    });
    this.#closed = once(child, "close").catch(() => undefined);
  }

  get errors(): string {
    return this.#errors;
  }

  /** The next line of output; throws if there is none any more. */
  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error(`it ended early\n${this.#errors}`);
    return value;
  }

  /** Lines up to the first that matches, which is the last of them. */
  async until(pattern: RegExp): Promise<readonly string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.line();
      lines.push(line);
      if (pattern.test(line)) return lines;
    }
  }

  /** An order on standard input, and the lines of its answer. */
  async ask(order: string): Promise<readonly string[]> {
    this.#child.stdin?.write(`${order}\n`);
    return (await this.until(/^end$/)).slice(0, -1);
  }

  kill(how: NodeJS.Signals): void {
    this.#child.kill(how);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
