// Ports for programs that cannot be told to pick one themselves.

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

import { claimName } from "./claim.ts";

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

/** Beyond so many draws for each port of the range it is used up. */
const drawsMax = 20;

/** Loopback ports that are free now, and that nobody else who asks here is given while this process lives. */
export async function findFreePorts(count: number, range = ofPrograms): Promise<number[]> {
  const ports: number[] = [];
  const { lowest, highest } = range;
  for (let draws = 0; ports.length < count; draws++) {
    if (draws > drawsMax * (highest - lowest)) {
      throw new Error(`no ${count} ports are free from ${lowest} to ${highest - 1}`);
    }
    const port = randomInt(lowest, highest);
    const claim = await claimName(`keelson-test-port-${port}`);
    if (claim !== undefined && (await isFree(port))) ports.push(port);
  }
  return ports;
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
