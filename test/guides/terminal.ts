// A shell in which lines are typed one after the other, as at a terminal: variables and the folder last, Ctrl-C reaches what runs.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Stands around the exit code that is told after each command; no program prints it. */
const mark = "\u001e";
const ended = new RegExp(`${mark}(\\d+)${mark}`);

export interface TerminalOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What a command printed, on both outputs as they came, and its exit code. */
export interface Outcome {
  readonly printed: string;
  readonly code: number;
}

export class Terminal implements AsyncDisposable {
  readonly #shell: ChildProcess;
  readonly #gone: Promise<unknown>;
  #printed = "";
  #hear: () => void = () => undefined;

  constructor({ folder, environment }: TerminalOptions) {
    this.#shell = spawn("bash", ["--noprofile", "--norc"], {
      cwd: folder,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // A group of its own, as a terminal's is: Ctrl-C is for all of it.
    });
    // A run that is broken off disposes of nothing, and what goes on running would go on.
    const endAll = (): void => this.#kill("SIGKILL");
    process.on("exit", endAll);
    this.#gone = once(this.#shell, "close").finally(() => process.off("exit", endAll));
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        this.#hear();
      });
    }
    // Ctrl-C ends what runs, and not the shell.
    this.#send("trap : INT\n");
  }

  /** What the command at hand has printed so far. */
  get printed(): string {
    return this.#printed.replace(ended, "");
  }

  /** Begins a command. The one before must be over. */
  type(command: string): void {
    this.#printed = "";
    const code = "code_of_command";
    this.#send(
      `{\n${command}\n} </dev/null 2>&1\n${code}=$?; printf '${mark}%s${mark}' "$${code}"; (exit "$${code}")\n`,
    );
  }

  /** Resolves when the command at hand is over. */
  async over(signal: AbortSignal): Promise<Outcome> {
    return await this.#heard(() => {
      const found = ended.exec(this.#printed);
      return found === null ? undefined : { printed: this.printed, code: Number(found[1]) };
    }, signal);
  }

  /** Resolves when what the command at hand has printed is as wanted; rejects if it is over before. */
  async says(isSo: (printed: string) => boolean, signal: AbortSignal): Promise<void> {
    await this.#heard(() => {
      if (isSo(this.printed)) return true;
      if (ended.test(this.#printed)) throw new Error("the command is over");
      return undefined;
    }, signal);
  }

  /** Ctrl-C, to a command that runs. */
  interrupt(): void {
    if (ended.test(this.#printed)) throw new Error("the command is over");
    this.#printed = "";
    this.#kill("SIGINT");
  }

  /** Ends the shell, at which nothing may run any more. */
  async close(): Promise<void> {
    this.#shell.stdin?.end();
    await this.#gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill("SIGKILL");
    await this.#gone;
  }

  #send(text: string): void {
    this.#shell.stdin?.write(text);
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#shell.pid === undefined) return;
    try {
      process.kill(-this.#shell.pid, signal);
    } catch {
      // All of it has ended.
    }
  }

  async #heard<Fact>(look: () => Fact | undefined, signal: AbortSignal): Promise<Fact> {
    const { promise, resolve, reject } = Promise.withResolvers<Fact>();
    const again = (): void => {
      try {
        const fact = look();
        if (fact !== undefined) resolve(fact);
      } catch (error) {
        reject(error);
      }
    };
    const stop = (): void => reject(new Error("the time was over"));
    signal.addEventListener("abort", stop, { once: true });
    this.#hear = again;
    again();
    if (signal.aborted) stop();
    try {
      return await Promise.race([
        promise,
        this.#gone.then(() => Promise.reject(new Error("the shell has ended"))),
      ]);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#hear = () => undefined;
    }
  }
}
