// Does what a guide says, all of it and in order, in a checkout and a home of its own.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../e2e/keelson-process.ts";
import { until } from "../tools/until.ts";
import { mainTerminal, stepsOf, type Typed, type TypedStep } from "./guide.ts";
import { makePlaces, Ports } from "./places.ts";
import { isShown } from "./shown-output.ts";
import { Terminal, type Outcome } from "./terminal.ts";

/** Less than tests have: so it can say at which line the time was over. */
const patienceMs = 240_000;

/** Where servers listen that are not told. */
const usualPorts = ["KEELSON_PORT=8080", "KEELSON_KUBE_PORT=6443", "KEELSON_METRICS_PORT=8081"];

export interface FollowOptions {
  /** What this reader has besides, as the guide asks for. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Throws where something fails, or shows anything else than the guide does. Afterwards nothing runs, and nothing is left. */
export async function followGuide(
  name: string,
  { environment = {} }: FollowOptions,
  stop: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)]);
  const path = `docs/guides/${name}`;
  const page = new URL(`../../${path}`, import.meta.url);
  const steps = stepsOf(await readFile(fileURLToPath(page), "utf8"));
  await using folder = await temporaryFolder();
  const places = await makePlaces(folder.path);
  const ports = new Ports();
  const usual = (await ports.enter(usualPorts.join(" "))).split(" ").map((one) => one.split("="));
  await using reader = new Reader({
    path,
    ports,
    folder: places.checkout,
    environment: { ...places.environment, ...Object.fromEntries(usual), ...environment },
  });
  for (const step of steps) {
    if (step.kind === "file") {
      await writeFile(join(places.checkout, step.name), await ports.enter(step.text));
    } else await reader.follow(step, signal);
  }
  await reader.leave();
}

interface ReaderOptions {
  /** Of the guide, for messages. */
  readonly path: string;
  readonly ports: Ports;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Somebody with as many terminals as the guide has names for. */
class Reader implements AsyncDisposable {
  readonly #options: ReaderOptions;
  readonly #terminals = new Map<string, Terminal>();
  /** Terminals at which something runs. */
  readonly #busy = new Set<string>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async follow(step: TypedStep, signal: AbortSignal): Promise<void> {
    for (const [index, command] of step.commands.entries()) {
      const next = step.commands[index + 1];
      try {
        if (command.text === "^C") await this.#interrupt(step.terminal, command, signal);
        else if (step.repeats) await this.#repeat(step.terminal, command, signal);
        else if (step.terminal !== mainTerminal && next === undefined) {
          await this.#begin(step.terminal, command, signal);
        } else {
          const outcome = await this.#run(step.terminal, command, signal);
          this.#compare(command, outcome);
          if (next?.text !== "echo $?") assert.equal(outcome.code, 0, "it failed");
        }
      } catch (error) {
        throw new Error(this.#failure(step.terminal, command, error), { cause: error });
      }
    }
  }

  /** Closes all terminals, at which nothing runs any more. */
  async leave(): Promise<void> {
    assert.deepEqual([...this.#busy], [], "the guide leaves something running");
    for (const terminal of this.#terminals.values()) await terminal.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals.values()) await terminal[Symbol.asyncDispose]();
  }

  async #run(name: string, { text }: Typed, signal: AbortSignal): Promise<Outcome> {
    const terminal = this.#at(name);
    terminal.type(await this.#options.ports.enter(text));
    return await terminal.over(signal);
  }

  async #repeat(name: string, command: Typed, signal: AbortSignal): Promise<void> {
    await until(async () => {
      const { printed, code } = await this.#run(name, command, signal);
      return code === 0 && this.#isShown(command, printed);
    }, signal);
  }

  /** Begins what goes on; it is well begun when it has printed what is shown. */
  async #begin(name: string, command: Typed, signal: AbortSignal): Promise<void> {
    assert.ok(command.shown.length > 0, "it must be shown what it prints when it is ready");
    const terminal = this.#at(name);
    terminal.type(await this.#options.ports.enter(command.text));
    this.#busy.add(name);
    await terminal.says((printed) => this.#isShown(command, printed, true), signal);
  }

  async #interrupt(name: string, command: Typed, signal: AbortSignal): Promise<void> {
    assert.ok(this.#busy.delete(name), "nothing runs there");
    const terminal = this.#at(name);
    terminal.interrupt();
    this.#compare(command, await terminal.over(signal));
  }

  #at(name: string): Terminal {
    let terminal = this.#terminals.get(name);
    if (terminal === undefined) {
      terminal = new Terminal(this.#options);
      this.#terminals.set(name, terminal);
    }
    assert.ok(!this.#busy.has(name), `terminal ${name} is busy`);
    return terminal;
  }

  #compare(command: Typed, { printed }: Outcome): void {
    assert.ok(this.#isShown(command, printed), "it printed something else");
  }

  #isShown({ shown }: Typed, printed: string, isBeginning = false): boolean {
    return isShown(shown, this.#options.ports.leave(printed), { isBeginning });
  }

  #failure(name: string, { line, text, shown }: Typed, error: unknown): string {
    const { path, ports } = this.#options;
    const others = [...this.#busy]
      .filter((other) => other !== name)
      .map((other) => `--- at ${other}\n${this.#terminals.get(other)?.printed.slice(-4_000)}`);
    return [
      `${path}:${line}: ${error instanceof Error ? error.message : String(error)}`,
      `$ ${text}`,
      ...(shown.length === 0 ? [] : ["--- shown", ...shown]),
      "--- printed",
      ports.leave(this.#terminals.get(name)?.printed ?? ""),
      ...others,
    ].join("\n");
  }
}
