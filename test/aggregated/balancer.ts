// What a Service is in a cluster: connections to whoever is ready.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export class Balancer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next = 0;
  /** Ports of this machine; new connections go to them in turn. Open ones stay. */
  targets: readonly number[];

  private constructor(server: Server, targets: readonly number[]) {
    this.#server = server;
    this.targets = targets;
    server.on("connection", (client) => this.#accept(client));
  }

  static async listen(port: number, targets: readonly number[]): Promise<Balancer> {
    const server = createServer();
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return new Balancer(server, targets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const port = this.targets[this.#next++ % Math.max(1, this.targets.length)];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, "127.0.0.1");
    client.pipe(server);
    server.pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
