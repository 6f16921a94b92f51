// An HTTP proxy between a worker and its cluster that answers some requests itself, as a server in trouble would. To those
// who ask it speaks in clear; to a real Kubernetes as the admin, by TLS.

import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { Agent, request as sendByTls } from "node:https";
import { fixedCredentials, type Access } from "@keelson/client";
import { closeNow, listenLocally, portOf } from "./local-server.ts";

/** What is answered instead; undefined: the request is passed on. */
export interface Instead {
  readonly code: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export type Intercept = (request: {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}) => Instead | undefined | Promise<Instead | undefined>;

/** What the proxy shows to a server that wants TLS, and what it believes of it. */
export interface ProxyIdentity {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export class HttpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #agent: Agent | undefined;
  intercept: Intercept = () => undefined;
  /** Every request that came by, passed on or not. */
  readonly seen: string[] = [];
  readonly #open = new Set<string>();

  private constructor(server: Server, target: number, identity: ProxyIdentity | undefined) {
    this.#server = server;
    this.#target = target;
    if (identity !== undefined) {
      const { ca, certificate: cert, key } = identity;
      this.#agent = new Agent({ ca, cert, key, keepAlive: true });
    }
    server.on("request", (request, response) => void this.#pass(request, response));
  }

  static async to(port: number, identity?: ProxyIdentity): Promise<HttpProxy> {
    const server = createServer();
    await listenLocally(server);
    return new HttpProxy(server, port, identity);
  }

  get port(): number {
    return portOf(this.#server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Whoever comes here needs no credentials. */
  accessAt(port: number): Access {
    return { server: `http://127.0.0.1:${port}`, credentials: fixedCredentials({}) };
  }

  /** The paths of the watches that are under way. */
  get watched(): ReadonlySet<string> {
    return new Set([...this.#open].map((line) => line.split(" ")[1] ?? ""));
  }

  /** Breaks every stream and call that is open. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent?.destroy();
    await closeNow(this.#server);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const { pathname: path, searchParams: query } = new URL(url, "http://proxy");
    this.seen.push(`${method} ${path}${query.has("watch") ? " watch" : ""}`);
    if (query.has("watch")) {
      const line = `${this.seen.length} ${path}`;
      this.#open.add(line);
      response.on("close", () => this.#open.delete(line));
    }
    const instead = await this.intercept({ method, path, query });
    if (instead !== undefined) {
      request.resume();
      response.writeHead(instead.code, { "content-type": "application/json", ...instead.headers });
      response.end(`${JSON.stringify(instead.body)}\n`);
      return;
    }
    const target = { host: "127.0.0.1", port: this.#target, method, path: url, headers };
    const onAnswer = (answer: IncomingMessage): void => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    };
    const onwards =
      this.#agent === undefined
        ? send(target, onAnswer)
        : sendByTls({ ...target, agent: this.#agent }, onAnswer);
    onwards.on("error", () => response.destroy());
    response.on("close", () => onwards.destroy());
    request.pipe(onwards);
  }
}

/** A refusal in the words of Kubernetes. */
export function refusal(code: number, reason: string, message: string): Instead {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" };
  return { code, body: { ...status, reason, message, code } };
}
