#!/usr/bin/env node
// Builds the oracle's programs with the Go toolchain, one after the other, into the cache.
//
//   npm run oracle:build                  build what is missing
//   npm run oracle:build -- --optional    without a Go toolchain say so and succeed

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { BuildLock } from "../tools/build-lock.ts";
import { cacheFolder, moduleFolder, modules, programFolder, type GoModule } from "./programs.ts";

/** Go has to be this new for the modules we pin. */
const goMinorMin = 26;

/** Why the oracle cannot run here, or undefined if it can: built already, or buildable. */
export function reasonForNoOracle(): string | undefined {
  if (missingPrograms().length === 0) return undefined;
  const toolchain = reasonForNoToolchain();
  return toolchain ?? "the oracle is not built yet (npm run oracle:build)";
}

/**
 * Builds whatever is missing. A program appears under its name only when it is complete; an
 * interrupted build leaves a temporary file that the next one removes. One build at a time per
 * user: a second one waits, then finds the work done.
 */
export async function buildOracle(
  signal: AbortSignal,
  wanted: readonly GoModule[] = modules,
): Promise<void> {
  if (missingPrograms(wanted).length === 0) return;
  mkdirSync(cacheFolder(), { recursive: true });
  using _lock = await BuildLock.acquire(join(cacheFolder(), "build.lock"), signal);
  for (const { module, name, target } of missingPrograms(wanted)) {
    const folder = programFolder(module);
    mkdirSync(folder, { recursive: true });
    for (const leftover of readdirSync(folder).filter((file) => file.endsWith(".partial"))) {
      rmSync(join(folder, leftover));
    }
    await buildProgram({ module, name, target }, signal);
  }
}

interface Program {
  readonly module: GoModule;
  readonly name: string;
  readonly target: string;
}

function missingPrograms(wanted: readonly GoModule[] = modules): readonly Program[] {
  return wanted.flatMap((module) =>
    Object.entries(module.programs)
      .map(([name, target]) => ({ module, name, target }))
      .filter(({ name }) => !existsSync(join(programFolder(module), name))),
  );
}

/** Asked inside a module of ours: there Go may fetch a newer toolchain by itself, if it is allowed to. */
function reasonForNoToolchain(): string | undefined {
  const [module] = modules;
  const { stdout, stderr, error, status } = spawnSync("go", ["env", "GOVERSION"], {
    encoding: "utf8",
    env: goEnvironment(),
    cwd: module === undefined ? import.meta.dirname : moduleFolder(module),
  });
  if (error !== undefined)
    return "there is no Go toolchain on this machine (go is not on the PATH)";
  const minor = Number(/^go1\.(\d+)/.exec(stdout)?.[1]);
  if (status === 0 && minor >= goMinorMin) return undefined;
  const found = status === 0 ? stdout.trim() : stderr.trim().split("\n")[0];
  return `the oracle needs Go 1.${goMinorMin} or newer, and here it is: ${found}`;
}

async function buildProgram({ module, name, target }: Program, signal: AbortSignal): Promise<void> {
  const path = join(programFolder(module), name);
  const partial = `${path}.${process.pid}.partial`;
  const stamps = Object.entries(module.stamps).map(
    ([variable, value]) => `-X ${variable}=${value}`,
  );
  const startedAt = performance.now();
  const progress = new Progress(`${name} ${module.version}`);
  const arguments_ = ["build", "-v", "-p", "2", "-trimpath", "-mod=readonly"];
  arguments_.push("-ldflags", ["-s -w", ...stamps].join(" "), "-o", partial, target);
  // Other people work on this machine too.
  const [command, ...prefix] = process.platform === "win32" ? ["go"] : ["nice", "-n", "15", "go"];
  const child = spawn(command, [...prefix, ...arguments_], {
    cwd: moduleFolder(module),
    env: goEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
    signal,
  });
  const complaints: string[] = [];
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  createInterface(child.stderr).on("line", (line) => {
    if (isPackage(line)) progress.compiled(line);
    else if (!line.startsWith("go: downloading ")) complaints.push(line);
  });
  try {
    const code = await exited;
    if (code !== 0) throw new BuildFailed(name, complaints);
    renameSync(partial, path);
    progress.end(`built in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The Go toolchain refused; `complaints` is what it printed. */
export class BuildFailed extends Error {
  readonly code = "BuildFailed";
  readonly complaints: readonly string[];

  constructor(program: string, complaints: readonly string[]) {
    super(`cannot build ${program}:\n${complaints.slice(-40).join("\n")}`);
    this.complaints = complaints;
  }
}

/** Nothing of the caller's Go settings may change what is built; only where caches and proxy are. */
function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };
}

/** With `-v` the compiler names each package it compiles, and nothing else starts like that. */
function isPackage(line: string): boolean {
  return /^[\w.-]+(\/[\w.~-]+)*$/.test(line);
}

/** One line that is rewritten on a terminal; elsewhere a line now and then. */
class Progress {
  readonly #title: string;
  #packages = 0;
  #printedAt = performance.now();

  constructor(title: string) {
    this.#title = title;
    process.stderr.write(process.stderr.isTTY ? `${title}: …` : `${title}: building\n`);
  }

  compiled(name: string): void {
    this.#packages += 1;
    const now = performance.now();
    if (now - this.#printedAt < (process.stderr.isTTY ? 100 : 15_000)) return;
    this.#printedAt = now;
    this.#print(`${this.#packages} packages compiled, now ${name}`, { last: false });
  }

  end(text: string): void {
    this.#print(`${text} (${this.#packages} packages compiled)`, { last: true });
  }

  #print(text: string, { last }: { readonly last: boolean }): void {
    const line = `${this.#title}: ${text}`;
    if (!process.stderr.isTTY) process.stderr.write(`${line}\n`);
    else
      process.stderr.write(
        `\r${line.slice(0, process.stderr.columns - 1)}\u001B[K${last ? "\n" : ""}`,
      );
  }
}

if (import.meta.main) {
  const optional = process.argv.includes("--optional");
  const reason = missingPrograms().length === 0 ? undefined : reasonForNoToolchain();
  if (reason !== undefined) {
    console.error(`The oracle cannot be built: ${reason}.`);
    process.exit(optional ? 0 : 1);
  }
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort(new Error("interrupted")));
  process.once("SIGTERM", () => interrupted.abort(new Error("interrupted")));
  try {
    await buildOracle(interrupted.signal);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    console.error("\nInterrupted. What was complete is kept; start again to go on.");
    process.exit(130);
  }
  console.error(`The oracle is in ${cacheFolder()}.`);
}
