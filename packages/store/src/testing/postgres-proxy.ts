// A hop between the store and PostgreSQL that can misbehave as networks and poolers do.

import { connect, createServer, type Server, type Socket } from "node:net";

/** Passes bytes on, unless told otherwise. */
export class PostgresProxy implements AsyncDisposable {
  readonly url: string;
  /** Answers no longer arrive, and nothing says so. */
  isStalled = false;
  /** Requests arrive, answers do not. */
  dropsAnswers = false;
  /** How many connections were made so far. */
  connections = 0;
  /** LISTEN succeeds and nothing is ever heard, as behind a transaction pooler. */
  swallowsNotifications = false;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  static async start(url: string): Promise<PostgresProxy> {
    const target = new URL(url);
    const sockets = new Set<Socket>();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
    const proxied = new URL(url);
    proxied.port = String(address.port);
    const proxy = new PostgresProxy(proxied.href, server, sockets);
    server.on("connection", (client) => {
      proxy.connections += 1;
      const upstream = connect(Number(target.port), target.hostname);
      const filter = new NotificationFilter();
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on("data", (data) => {
        if (!proxy.isStalled) upstream.write(data);
      });
      upstream.on("data", (data) => {
        if (proxy.isStalled || proxy.dropsAnswers) return;
        client.write(proxy.swallowsNotifications ? filter.pass(data) : data);
      });
    });
    return proxy;
  }

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
  }

  /** Ends every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Takes the messages of type `A` out of what a server says: a type byte, four bytes of length, the rest. */
class NotificationFilter {
  #rest: Buffer = Buffer.alloc(0);

  pass(data: Buffer): Buffer {
    let bytes = Buffer.concat([this.#rest, data]);
    const kept: Buffer[] = [];
    while (bytes.length >= 5) {
      const end = 1 + bytes.readInt32BE(1);
      if (bytes.length < end) break;
      if (bytes[0] !== "A".charCodeAt(0)) kept.push(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return Buffer.concat(kept);
  }
}
