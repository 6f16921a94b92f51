// A server of a test's own, on this machine alone: how it begins, and how it ends whoever still asks.

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function listenLocally(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

export async function closeNow(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
