// Which connections there are, so that a stop need not wait for those on which nobody asks anything.

import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Ends connections that never carried a request: the platform does not count them as idle. */
  closeUnused(): void;
  /** Ends all, in the middle of whatever they do. */
  closeAll(): void;
}

export function trackConnections(server: Server): Connections {
  const all = new Set<Socket>();
  const unused = new Set<Socket>();
  const track = (set: Set<Socket>) => (socket: Socket) => {
    set.add(socket);
    socket.once("close", () => set.delete(socket));
  };
  server.on("connection", track(all));
  // With TLS requests come on another socket than the one that was accepted.
  const isTls = "setSecureContext" in server;
  server.on(isTls ? "secureConnection" : "connection", track(unused));
  server.on("request", ({ socket }) => unused.delete(socket));
  return {
    closeUnused: () => {
      for (const socket of unused) socket.destroy();
    },
    closeAll: () => {
      for (const socket of all) socket.destroy();
    },
  };
}
