#!/usr/bin/env node
// Runs a cluster's programs on behalf of a test and outlives it by a moment: when the channel to
// its owner closes, for whatever reason, it kills every program, removes the cluster's folder and
// ends. It is in a session of its own, so a signal to the owner's process group passes it by.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync, rmSync } from "node:fs";

/** What the owner asks. */
export type GuardOrder =
  | {
      readonly type: "start";
      readonly id: number;
      readonly command: string;
      readonly arguments: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly folder: string;
      /** Where standard output and error go. */
      readonly log: string;
    }
  | { readonly type: "signal"; readonly id: number; readonly signal: NodeJS.Signals };

/** What the guard reports. `ended` comes exactly once for each `start`. */
export type GuardReport =
  | { readonly type: "started"; readonly id: number; readonly pid: number }
  | { readonly type: "ended"; readonly id: number; readonly reason: string };

if (import.meta.main) guard(process.argv[2] ?? "");

function guard(folder: string): void {
  const children = new Map<number, ChildProcess>();
  let leaving = false;

  process.on("message", (order: GuardOrder) => {
    if (leaving) return;
    if (order.type === "signal") {
      children.get(order.id)?.kill(order.signal);
      return;
    }
    const log = openSync(order.log, "a");
    const child = spawn(order.command, order.arguments, {
      cwd: order.folder,
      env: order.environment,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    children.set(order.id, child);
    child.once("spawn", () => report({ type: "started", id: order.id, pid: child.pid ?? 0 }));
    child.once("error", (error) => ended(order.id, error.message));
    child.once("exit", (code, signal) => ended(order.id, signal ?? `exit code ${code}`));
  });

  for (const end of ["disconnect", "SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(end, () => void leave());
  }
  // The owner may have gone while this was read.
  if (!process.connected) void leave();

  function ended(id: number, reason: string): void {
    if (children.delete(id)) report({ type: "ended", id, reason });
  }

  function report(message: GuardReport): void {
    // The owner may be gone by now; `disconnect` deals with that.
    if (process.connected) process.send?.(message, () => undefined);
  }

  async function leave(): Promise<void> {
    if (leaving) return;
    leaving = true;
    // Nothing of theirs is kept, so there is nothing to say goodbye to.
    await Promise.all(
      [...children.values()].map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      }),
    );
    if (folder !== "") rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    process.exit(0);
  }
}
