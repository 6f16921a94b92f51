// Somebody before a service who, when it does not pass a request on, tells all that was said to it: headers and body, as
// gateways and debug pages do.

import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { closeNow, listenLocally, portOf } from "../tools/local-server.ts";

/** `pass`, `garbage`: bytes that are no HTTP; else the status with which it tells. */
export type Mood = "pass" | "garbage" | number;

export interface Told {
  readonly method: string;
  readonly path: string;
}

/** In whose words it tells. */
export type Language = "json" | "xml";

/** Every tale begins so. */
export const taleSign = "it was said:";

export class TaleBearer implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #language: Language;
  mood: (request: Told) => Mood = () => "pass";
  /** How many tales were told. */
  tales = 0;

  private constructor(server: Server, target: number, language: Language) {
    this.#server = server;
    this.#target = target;
    this.#language = language;
    server.on("request", (request, response) => void this.#take(request, response));
  }

  static async before(port: number, language: Language): Promise<TaleBearer> {
    const server = createServer();
    await listenLocally(server);
    return new TaleBearer(server, port, language);
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeNow(this.#server);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const mood = this.mood({ method, path: url.split("?")[0] ?? "" });
    if (mood === "garbage") {
      response.socket?.end(`${headers.authorization ?? ""} ${body.toString()}\r\n\r\n`);
    } else if (mood === "pass") {
      this.#pass({ method, path: url, headers }, body, response);
    } else {
      this.tales += 1;
      this.#tell(
        mood,
        [taleSign, headers.authorization ?? "", body.toString()].join(" "),
        response,
      );
    }
  }

  #tell(status: number, tale: string, response: ServerResponse): void {
    response.writeHead(status, { "content-type": `application/${this.#language}` });
    if (this.#language === "json") {
      response.end(JSON.stringify({ error: tale, error_description: tale, errorMessage: tale }));
      return;
    }
    const escaped = tale.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    response.end(`<Error><Code>Told</Code><Message>${escaped}</Message></Error>`);
  }

  #pass(
    request: { method: string; path: string; headers: IncomingMessage["headers"] },
    body: Buffer,
    response: ServerResponse,
  ): void {
    const onwards = send({ host: "127.0.0.1", port: this.#target, ...request }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onwards.on("error", () => response.destroy());
    onwards.end(body);
  }
}
