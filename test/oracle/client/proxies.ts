// Proxies as companies have them: HTTP with CONNECT (over TLS too), and SOCKS 5. Names are theirs to resolve: whatever
// they are asked for is on this machine.

import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import type { Duplex } from "node:stream";

import type { KeyPair } from "../../tools/certificates.ts";

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** What was asked for, in order: `CONNECT host:port`, `GET http://…`, `SOCKS host:port`. */
  readonly asked: readonly string[];
  /** Tunnels that are open now. */
  readonly open: number;
  /** Ends every tunnel, as when it is restarted. */
  cut(): void;
  isRefusing: boolean;
}

export interface HttpProxyOptions {
  /** Speaks TLS to its clients. */
  readonly tls?: KeyPair;
  /** `user:password`, without which nobody gets through. */
  readonly login?: string;
}

export async function startHttpProxy({ tls, login }: HttpProxyOptions = {}): Promise<Proxy> {
  const server =
    tls === undefined
      ? createServer()
      : createTlsServer({ cert: tls.certificate, key: tls.key, ALPNProtocols: ["http/1.1"] });
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString("base64")}`;
  const mayPass = (message: IncomingMessage): boolean =>
    wanted === undefined || message.headers["proxy-authorization"] === wanted;
  const tunnels = new Tunnels(server, tls === undefined ? "http" : "https", login);
  server.on("connect", (message: IncomingMessage, socket: Duplex) => {
    const target = message.url ?? "";
    tunnels.asked.push(`CONNECT ${target}`);
    socket.on("error", () => undefined);
    if (!mayPass(message)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    } else if (tunnels.isRefusing) {
      socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
    } else {
      const far = connect(portOf(target), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        tunnels.join(socket, far);
      });
      far.on("error", () => socket.destroy());
    }
  });
  // Plain HTTP is not tunnelled: the request itself goes to the proxy, with the whole URL.
  server.on("request", (message: IncomingMessage, response) => {
    const url = new URL(message.url ?? "");
    tunnels.asked.push(`${message.method} ${url.origin}${url.pathname}`);
    if (!mayPass(message)) {
      response.writeHead(407).end();
      return;
    }
    const { "proxy-authorization": _, ...headers } = message.headers;
    const { method = "GET" } = message;
    const path = url.pathname + url.search;
    const onward = request({ port: portOf(url.host), method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    message.pipe(onward);
  });
  return await tunnels.listen();
}

/** RFC 1928, with names and IPv4 addresses, without a login. */
export async function startSocksProxy(): Promise<Proxy> {
  const server = createTcpServer();
  const tunnels = new Tunnels(server, "socks5");
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(Buffer.from([5, 0]));
      socket.once("data", (wish) => {
        const { host, port } = socksTarget(wish);
        tunnels.asked.push(`SOCKS ${host}:${port}`);
        const far = connect(port, "127.0.0.1", () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          tunnels.join(socket, far);
        });
        far.on("error", () => socket.destroy());
      });
    });
  });
  return await tunnels.listen();
}

class Tunnels implements Proxy {
  readonly asked: string[] = [];
  isRefusing = false;
  url = "";
  readonly #server: Server | TcpServer;
  readonly #scheme: string;
  readonly #login: string | undefined;
  readonly #tunnels = new Set<() => void>();
  readonly #sockets = new Set<Duplex>();

  constructor(server: Server | TcpServer, scheme: string, login?: string) {
    this.#server = server;
    this.#scheme = scheme;
    this.#login = login;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  get open(): number {
    return this.#tunnels.size;
  }

  async listen(): Promise<Proxy> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    const login = this.#login === undefined ? "" : `${this.#login}@`;
    this.url = `${this.#scheme}://${login}127.0.0.1:${port}`;
    return this;
  }

  join(near: Duplex, far: Socket): void {
    near.pipe(far);
    far.pipe(near);
    const end = (): void => {
      this.#tunnels.delete(end);
      near.destroy();
      far.destroy();
    };
    this.#tunnels.add(end);
    for (const one of [near, far]) {
      one.on("error", end);
      one.on("close", end);
    }
  }

  cut(): void {
    for (const end of this.#tunnels) end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function portOf(hostAndPort: string): number {
  return Number(/:(\d+)$/.exec(hostAndPort)?.[1] ?? 80);
}

function socksTarget(wish: Buffer): { readonly host: string; readonly port: number } {
  const isName = wish[3] === 3;
  const length = isName ? (wish[4] ?? 0) : 4;
  const start = isName ? 5 : 4;
  const address = wish.subarray(start, start + length);
  const host = isName ? address.toString("latin1") : [...address].join(".");
  return { host, port: wish.readUInt16BE(start + length) };
}
