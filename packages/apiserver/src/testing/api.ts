// Requests to a server in a test, and what comes back.

import { readJson, writeJson, type Json, type JsonObject } from "@keelson/base";

export interface SendOptions {
  /** Objects are sent as JSON, texts and bytes as they are. */
  readonly body?: JsonObject | readonly Json[] | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly code: number;
  /** The body, if it is a JSON object; else empty. */
  readonly object: JsonObject;
  readonly text: string;
  readonly headers: Headers;
}

/** An event of a watch. */
export interface WatchedEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** What the server adds to an object as deep as a body may be goes deeper. */
const deeply = { depthMax: 1_024 };

/** One caller of a server. */
export class Api {
  readonly #url: string;
  readonly #signal: AbortSignal;

  constructor(url: string, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  async send(method: string, path: string, { body, headers }: SendOptions = {}): Promise<Reply> {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(body === undefined || isRaw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      // A view of bytes is a body to the platform, whatever its buffer is.
      ...(body === undefined ? {} : { body: isRaw ? (body as string) : writeJson(body) }),
      signal: this.#signal,
    });
    const text = await response.text();
    const object = text.startsWith("{") ? (readJson(text, deeply) as JsonObject) : {};
    return { code: response.status, object, text, headers: response.headers };
  }

  get(path: string): Promise<Reply> {
    return this.send("GET", path);
  }

  create(path: string, body: JsonObject): Promise<Reply> {
    return this.send("POST", path, { body });
  }

  update(path: string, body: JsonObject): Promise<Reply> {
    return this.send("PUT", path, { body });
  }

  /** A merge patch. */
  merge(path: string, body: JsonObject): Promise<Reply> {
    const headers = { "content-type": "application/merge-patch+json" };
    return this.send("PATCH", path, { body, headers });
  }

  /** A server-side apply by `manager`. */
  apply(path: string, body: JsonObject, manager: string, query = ""): Promise<Reply> {
    const headers = { "content-type": "application/apply-patch+yaml" };
    return this.send("PATCH", `${path}?fieldManager=${manager}${query}`, { body, headers });
  }

  delete(path: string, body?: JsonObject): Promise<Reply> {
    return this.send("DELETE", path, body === undefined ? {} : { body });
  }

  /** Opens a watch; resolves when its headers are here. */
  async watch(path: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenWatch> {
    const controller = new AbortController();
    const signal = AbortSignal.any([this.#signal, controller.signal]);
    const response = await fetch(`${this.#url}${path}`, { headers, signal });
    return new OpenWatch(response, controller);
  }
}

/** A watch, event by event. */
export class OpenWatch implements Disposable {
  readonly code: number;
  readonly #lines: AsyncGenerator<string>;
  readonly #controller: AbortController;

  constructor(response: Response, controller: AbortController) {
    this.code = response.status;
    this.#controller = controller;
    this.#lines = linesOf(response);
  }

  /** The next event; undefined once the stream has ended. */
  async next(): Promise<WatchedEvent | undefined> {
    const { value, done } = await this.#lines.next();
    if (done === true) return undefined;
    return readJson(value, deeply) as unknown as WatchedEvent;
  }

  /** As many events. */
  async take(count: number): Promise<WatchedEvent[]> {
    const events: WatchedEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  /** Every event until the stream ends. */
  async rest(): Promise<WatchedEvent[]> {
    const events: WatchedEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event === undefined) return events;
      events.push(event);
    }
  }

  [Symbol.dispose](): void {
    this.#controller.abort();
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** A member of the metadata as text; empty if it is not there. */
export function meta({ object }: { readonly object: JsonObject }, name: string): string {
  const { metadata = {} } = object as { metadata?: Record<string, unknown> };
  const value = metadata[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** What a Status says. */
export function messageOf({ object }: { readonly object: JsonObject }): string {
  const { message } = object;
  return typeof message === "string" ? message : "";
}
