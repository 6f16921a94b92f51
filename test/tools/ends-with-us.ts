// What a test that ran out of time leaves behind: nobody disposes of it, and while it holds what the runner prints to, the runner does
// not end either.

import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();

/** Kills the child when this process ends before it, unless this one is killed itself. */
export function endsWithUs<Child extends ChildProcess>(child: Child): Child {
  if (children.size === 0) process.once("exit", killAll);
  children.add(child);
  child.once("exit", () => {
    children.delete(child);
    if (children.size === 0) process.off("exit", killAll);
  });
  return child;
}

function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}
