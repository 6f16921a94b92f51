import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { endsWithUs } from "../tools/ends-with-us.ts";

/** How a program ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** Runs a program of `programs/` in a process of its own and waits for its end. */
export async function runProgram(name: string, ...args: readonly string[]): Promise<Ended> {
  return runFile(new URL(`./programs/${name}.ts`, import.meta.url), ...args);
}

/** The same for a program of another suite. */
export async function runFile(file: URL, ...args: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(file);
  const child = endsWithUs(
    spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  const output = text(child.stdout);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, output: await output };
}
