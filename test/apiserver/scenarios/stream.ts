// A watch at a server, event by event, read as fast or as slowly as the test wants.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request as startRequest } from "node:https";
import { createInterface } from "node:readline";

import type { Target } from "../target.ts";

export interface StreamEvent {
  readonly type: string;
  readonly name: string;
  readonly revision: number;
  /** Whether it ends the initial state. */
  readonly isEndOfState: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Opens a watch on a connection of its own; the signal ends the wait for its head. */
export async function openStream(
  server: Pick<Target, "url" | "ca" | "admin">,
  path: string,
  signal: AbortSignal,
): Promise<Stream> {
  return (await openUnread(server, path, signal)).read();
}

/** A watch of which nothing is read yet: what the connection cannot hold stays with the server. */
export interface Unread extends Disposable {
  read(): Stream;
}

/** The same, to be read later. */
export async function openUnread(
  server: Pick<Target, "url" | "ca" | "admin">,
  path: string,
  signal: AbortSignal,
): Promise<Unread> {
  const { certificate, key } = server.admin;
  const agent = new Agent({ ca: server.ca, cert: certificate, key, keepAlive: false });
  const outgoing = startRequest(new URL(path, server.url), { agent });
  outgoing.end();
  const close = (): void => {
    outgoing.destroy();
    agent.destroy();
  };
  try {
    const [incoming] = (await once(outgoing, "response", { signal })) as [IncomingMessage];
    return { read: () => new Stream(incoming, close), [Symbol.dispose]: close };
  } catch (error) {
    outgoing.on("error", () => undefined);
    close();
    throw error;
  }
}

export class Stream implements Disposable {
  readonly status: number;
  readonly #lines: AsyncIterator<string>;
  readonly #close: () => void;
  #hasEnded = false;
  #error: Error | undefined;

  constructor(incoming: IncomingMessage, close: () => void) {
    this.status = incoming.statusCode ?? 0;
    this.#close = close;
    incoming.on("error", (error) => (this.#error = error));
    this.#lines = createInterface(incoming)[Symbol.asyncIterator]();
    incoming.once("end", () => (this.#hasEnded = incoming.complete));
  }

  /** Whether the server has ended it in order: its last chunk came. */
  get hasEndedInOrder(): boolean {
    return this.#hasEnded && this.#error === undefined;
  }

  /** The next event; undefined once the stream is over, however it ended. */
  async next(signal: AbortSignal): Promise<StreamEvent | undefined> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      const { value, done } = await Promise.race([this.#lines.next(), stopped.promise]);
      return done === true ? undefined : eventOf(value);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** As many events; throws if there are fewer. */
  async take(count: number, signal: AbortSignal): Promise<readonly StreamEvent[]> {
    const events: StreamEvent[] = [];
    while (events.length < count) {
      const event = await this.next(signal);
      if (event === undefined) throw new Error(`the watch ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}

function eventOf(line: string): StreamEvent {
  const { type, object } = JSON.parse(line) as {
    type: string;
    object: Record<string, unknown> & { metadata?: Metadata };
  };
  const { name = "", resourceVersion = "0", annotations = {} } = object.metadata ?? {};
  const isEndOfState = annotations["k8s.io/initial-events-end"] === "true";
  return { type, name, revision: Number(resourceVersion), isEndOfState, object };
}

interface Metadata {
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
