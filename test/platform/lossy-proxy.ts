// An HTTP proxy that loses a request before its server has it, or the answer to it; or answers in the server's stead.

import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { closeNow, listenLocally, portOf } from "../tools/local-server.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `hang`: nothing ever comes back. */
export type Fate = "pass" | "lose request" | "lose answer" | "hang" | Answer;

export class LossyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  /** What becomes of a request. */
  decide: (request: { readonly method: string; readonly url: string }) => Fate = () => "pass";

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on("request", (request, response) => this.#take(request, response));
  }

  static async to(port: number): Promise<LossyProxy> {
    const server = createServer();
    await listenLocally(server);
    return new LossyProxy(server, port);
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  /** Ends everything that is under way, and what hangs. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeNow(this.#server);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { method = "GET", url = "/" } = request;
    const fate = this.decide({ method, url });
    if (fate === "hang") return;
    if (fate === "lose request") {
      request.socket.destroy();
      return;
    }
    if (typeof fate === "object") {
      request.resume();
      response.writeHead(fate.status, { "content-type": "application/xml", ...fate.headers });
      response.end(method === "HEAD" ? undefined : fate.body);
      return;
    }
    this.#pass(request, response, { losesAnswer: fate === "lose answer" });
  }

  #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { losesAnswer }: { readonly losesAnswer: boolean },
  ): void {
    const { method, url: path, headers } = request;
    const target = { host: "127.0.0.1", port: this.#target, method, path, headers };
    const onwards = send(target, (answer) => {
      if (losesAnswer) {
        // The server is through with it: only then.
        answer.resume();
        answer.on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onwards.on("error", () => response.destroy());
    response.on("close", () => onwards.destroy());
    request.pipe(onwards);
  }
}
