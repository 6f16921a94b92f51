// A small TCP proxy between a client and a server, whose network it can spoil.

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** How bytes are treated: passed on, passed on late, or swallowed while the connections stay open. */
export type Weather =
  | { readonly type: "clear" }
  | { readonly type: "delay"; readonly ms: number }
  | { readonly type: "half-open" };

/** Passes connections on to 127.0.0.1:`port`. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #weather: Weather = { type: "clear" };
  #isRefusing = false;
  #accepted = 0;
  #refused = 0;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on("connection", (client) => this.#accept(client));
  }

  static async to(port: number): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpProxy(server, port);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connections refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#pairs.size;
  }

  /**
   * For the connections that are open, and for new ones unless it is half open: those are made well, as after a
   * firewall has forgotten what it knew.
   */
  set weather(weather: Weather) {
    for (const pair of this.#pairs) pair.weather = weather;
    this.#weather = weather.type === "half-open" ? { type: "clear" } : weather;
  }

  /** Whether new connections are refused, as without a network. */
  set isRefusing(isRefusing: boolean) {
    this.#isRefusing = isRefusing;
  }

  /** Ends every connection, with a reset as a crash does it. */
  cut(): void {
    for (const pair of this.#pairs) pair.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    this.cut();
    await closed;
  }

  #accept(client: Socket): void {
    if (this.#isRefusing) {
      this.#refused += 1;
      client.resetAndDestroy();
      return;
    }
    this.#accepted += 1;
    const server = connect(this.#target, "127.0.0.1");
    const pair = new Pair(client, server, this.#weather);
    this.#pairs.add(pair);
    client.once("close", () => this.#pairs.delete(pair));
  }
}

class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  weather: Weather;

  constructor(client: Socket, server: Socket, weather: Weather) {
    this.#client = client;
    this.#server = server;
    this.weather = weather;
    this.#pump(client, server);
    this.#pump(server, client);
  }

  end(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  #pump(from: Socket, to: Socket): void {
    from.on("data", (chunk) => {
      const { weather } = this;
      if (weather.type === "clear") to.write(chunk);
      else if (weather.type === "delay") setTimeout(() => to.write(chunk), weather.ms);
    });
    // Swallowed too while it is half open: nobody hears that the other end is gone.
    from.on("close", () => {
      if (this.weather.type !== "half-open") to.destroy();
    });
    from.on("error", () => undefined);
  }
}
