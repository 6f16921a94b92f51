// Ports for programs that cannot be told to pick one themselves.

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the range from which kernels take the local ports of outgoing connections, and below that of throwaway PostgreSQLs: a
 * program may take a minute until it listens.
 */
const ofPrograms: PortRange = { lowest: 11_000, highest: 20_000 };

export interface PortRange {
  readonly lowest: number;
  /** The first that is no part of it. */
  readonly highest: number;
}

/** Loopback ports that are free now, and that nobody else who asks here is given while this process lives. */
export async function findFreePorts(count: number, range = ofPrograms): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(range.lowest, range.highest);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/**
 * Whether the port is ours from now on. Whoever reserves it listens at a name that is no file and goes with the process; where there
 * are no such names, nobody is kept from a port.
 */
async function reserve(port: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const claim = createServer().unref();
  try {
    claim.listen(`\0keelson-test-port-${port}`);
    await once(claim, "listening");
    return true;
  } catch {
    return false;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: "127.0.0.1", exclusive: true });
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
