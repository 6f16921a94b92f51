// One connection that is kept, one request at a time: a client that costs less than what it measures.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { owner } from "./bed.ts";

export interface Sent {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: object;
}

export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #host: string;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** How long the answer is, once its head is there. */
  #whole: number | undefined;
  #answered: PromiseWithResolvers<string> = Promise.withResolvers();

  static async to(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.setNoDelay(true);
    return new Connection(socket, host);
  }

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    const fail = (error: Error): void => this.#answered.reject(error);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the server has closed the connection")));
  }

  /** The whole answer as text. Throws for what is not a success. */
  async ask({ method, path, body }: Sent): Promise<string> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const head = [
      `${method} /api/v1${path} HTTP/1.1`,
      `Host: ${this.#host}`,
      `X-User-Email: ${owner}`,
      ...(body === undefined
        ? []
        : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`]),
    ];
    this.#answered = Promise.withResolvers();
    this.#socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
    const answer = await this.#answered.promise;
    if (!answer.startsWith("HTTP/1.1 2")) throw new Error(`${method} ${path}: ${answer}`);
    return answer;
  }

  #take(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    this.#whole ??= lengthOf(Buffer.concat(this.#parts));
    if (this.#whole === undefined || this.#bytes < this.#whole) return;
    const answer = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#bytes = 0;
    this.#whole = undefined;
    this.#answered.resolve(answer);
  }

  [Symbol.dispose](): void {
    this.#answered.promise.catch(() => undefined);
    this.#socket.destroy();
  }
}

/** Of head and body; undefined before the head has ended. */
function lengthOf(begun: Buffer): number | undefined {
  const end = begun.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [, length] = /content-length: (\d+)/i.exec(begun.toString("latin1", 0, end)) ?? [];
  if (length === undefined) throw new Error("an answer does not say how long it is");
  return end + 4 + Number(length);
}
