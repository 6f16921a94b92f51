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

/** Loopback ports that are free now. Chosen at random, so that clusters started together do not meet. */
export async function findFreePorts(count: number, range = ofPrograms): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(range.lowest, range.highest);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
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
