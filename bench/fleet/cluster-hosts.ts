// Clusters to deliver to, in processes of their own. Some can fall silent or refuse everybody, and come back as they were.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { TcpProxy } from "../../test/tools/tcp-proxy.ts";

const program = fileURLToPath(new URL("./programs/clusters.ts", import.meta.url));

export interface ClusterHost extends AsyncDisposable {
  /** Where each cluster answers. */
  readonly urls: readonly string[];
}

export interface MortalHost extends ClusterHost {
  die(): void;
  revive(): void;
}

interface StartedHost extends ClusterHost {
  kill(signal: NodeJS.Signals): void;
}

/** Clusters that stay. */
export async function startHost(count: number): Promise<StartedHost> {
  const child = spawn(process.execPath, [program, String(count)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, "line").then(([text]) => text as string),
    ended.then(() => undefined),
  ]);
  if (line === undefined) throw new Error("a host of clusters ended before it was ready");
  return {
    urls: JSON.parse(line) as string[],
    kill: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL"); // One that stands still hears nothing else.
      await ended;
    },
  };
}

/** Clusters that hang when they die: connections are made, and nobody answers. */
export async function startHangingHost(count: number): Promise<MortalHost> {
  const host = await startHost(count);
  return {
    ...host,
    die: () => host.kill("SIGSTOP"),
    revive: () => host.kill("SIGCONT"),
  };
}

/** Clusters whose every connection is reset when they die. */
export async function startRefusingHost(count: number): Promise<MortalHost> {
  await using setup = new AsyncDisposableStack();
  const host = setup.use(await startHost(count));
  const proxies: TcpProxy[] = [];
  for (const url of host.urls) {
    proxies.push(setup.use(await TcpProxy.to(Number(new URL(url).port))));
  }
  const setRefusing = (isRefusing: boolean): void => {
    for (const proxy of proxies) {
      proxy.isRefusing = isRefusing;
      if (isRefusing) proxy.cut();
    }
  };
  const kept = setup.move();
  return {
    urls: proxies.map(({ port }) => `http://127.0.0.1:${port}`),
    die: () => setRefusing(true),
    revive: () => setRefusing(false),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
