// A reader of server-sent events on a real socket, that can be cut off.

import { get, type IncomingMessage } from "node:http";
import { once } from "node:events";

/** One event as it arrived; a comment alone has no type. */
export interface Arrived {
  readonly id: string | undefined;
  readonly type: string | undefined;
  /** What its data say: tests look into it as they like. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

export interface ReaderOptions {
  readonly headers?: Record<string, string>;
  readonly lastEventId?: string | number | undefined;
  /** The connection breaks after so many events, in the middle of whatever comes next. */
  readonly cutAfter?: number;
}

/** An open stream. Whole events only: what a cut leaves half is not there. */
export class EventReader implements Disposable {
  readonly #response: IncomingMessage;
  readonly #cutAfter: number;
  readonly arrived: Arrived[] = [];
  readonly comments: string[] = [];
  /** How far into the log it has got, also by beats that pass over what it has not asked for. */
  position = 0;
  #rest = "";
  /** Nothing comes any more, whoever has ended it. */
  isOver = false;
  /** The other side has ended it in order. */
  hasEnded = false;

  private constructor(response: IncomingMessage, cutAfter: number) {
    this.#response = response;
    this.#cutAfter = cutAfter;
    response.setEncoding("utf8");
    response.on("error", () => undefined);
    response.on("end", () => (this.hasEnded = response.complete));
    response.on("close", () => (this.isOver = true));
  }

  static async open(url: string, options: ReaderOptions = {}): Promise<EventReader> {
    const reader = await EventReader.openIdle(url, options);
    reader.read();
    return reader;
  }

  /** Without taking anything of what arrives. */
  static async openIdle(
    url: string,
    { headers = {}, lastEventId, cutAfter = Number.POSITIVE_INFINITY }: ReaderOptions,
  ): Promise<EventReader> {
    const sent =
      lastEventId === undefined ? headers : { ...headers, "last-event-id": String(lastEventId) };
    const request = get(url, { headers: sent, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    request.on("error", () => undefined);
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    return new EventReader(response, cutAfter);
  }

  get headers(): IncomingMessage["headers"] {
    return this.#response.headers;
  }

  read(): void {
    this.#response.on("data", (piece: string) => this.#take(piece));
  }

  cut(): void {
    this.#response.destroy();
  }

  [Symbol.dispose](): void {
    this.cut();
  }

  #take(piece: string): void {
    if (this.#response.destroyed) return;
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (block.startsWith(":")) this.comments.push(block);
      this.position = Number(field("id") ?? this.position);
      const data = field("data");
      if (data === undefined) continue;
      this.arrived.push({ id: field("id"), type: field("event"), data: JSON.parse(data) });
      if (this.arrived.length >= this.#cutAfter) return this.cut();
    }
  }
}
