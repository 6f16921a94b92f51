// Events from the API itself, by server-sent events: nothing else to install.

import { Backoff, onAbort, TaskScope } from "@keelson/base";
import { topics } from "../event.ts";
import type { Kind } from "../resource.ts";
import type { Transport, TransportContext } from "../transport.ts";
import { Redelivery } from "./redelivery.ts";
import { readFrames } from "./sse-lines.ts";

export interface SseOptions {
  /** A stream that says nothing for so long is opened again; the server comments every 15 s. */
  readonly silenceMs?: number;
  /** The waits between attempts to connect: from 200 ms, doubling, up to 5 s, unless told. */
  readonly retryMs?: { readonly initial: number; readonly max: number };
}

/** Follows the API's streams of events, one a kind, and goes on where it was after every break. */
export function sse({
  silenceMs = 45_000,
  retryMs = { initial: 200, max: 5_000 },
}: SseOptions = {}): Transport {
  return {
    async subscribe(context, signal) {
      signal.throwIfAborted(); // A stream that is never begun never opens.
      const redelivery = new Redelivery(context, signal);
      const scope = new TaskScope(signal);
      const streams = context.kinds.map(
        (kind) => new Stream({ context, kind, redelivery, silenceMs, retryMs }),
      );
      for (const stream of streams) scope.spawn("stream", (signal) => stream.follow(signal));
      const close = async (): Promise<void> => {
        await scope[Symbol.asyncDispose]();
        await redelivery.idle();
      };
      try {
        await Promise.all(streams.map(({ opened }) => opened));
      } catch (error) {
        await close();
        throw error;
      }
      return { close };
    },
  };
}

interface StreamOptions {
  readonly context: TransportContext;
  readonly kind: Kind;
  readonly redelivery: Redelivery;
  readonly silenceMs: number;
  readonly retryMs: { readonly initial: number; readonly max: number };
}

/** The server will not have us, whatever we do: it was asked for something that it refuses. */
class Refused extends Error {}

class Stream {
  readonly #options: StreamOptions;
  readonly #url: string;
  readonly #opened = Promise.withResolvers<void>();
  readonly #backoff: Backoff;
  #cursor: string | undefined;
  #wasReady = false;
  #isExpired = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { api, platforms, random } = options.context;
    const [platform, ...others] = platforms;
    const query = new URLSearchParams({ topic: topics[options.kind] });
    // The server filters by one platform; several we filter ourselves.
    if (platform !== undefined && others.length === 0)
      query.set("platform", platform.toLowerCase());
    this.#url = `${api.url}/events?${query.toString()}`;
    const { initial: initialMs, max: maxMs } = options.retryMs;
    this.#backoff = new Backoff({ initialMs, maxMs, random });
  }

  /** Resolves when the server has said for the first time that nothing is missed from here on. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options.context;
    this.#opened.promise.catch(() => undefined);
    while (!signal.aborted) {
      try {
        await this.#readOnce(signal);
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof Refused && !this.#wasReady) {
          this.#opened.reject(error);
          return;
        }
        log.warn({ url: this.#url, error }, "the stream of events broke, opening it again");
      }
      await clock.sleep(this.#backoff.next(), signal).catch(() => undefined);
    }
    this.#opened.reject(signal.reason as Error);
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    const { context, silenceMs } = this.#options;
    const ending = new AbortController();
    using _stop = onAbort(signal, () => ending.abort(signal.reason));
    const hush = (): void => ending.abort(new Error(`the stream was silent for ${silenceMs} ms`));
    // Only while we wait for the server: not reading, because there is no room, is no silence of its.
    let timer: Disposable | undefined;
    const listen = (): void => {
      timer = context.clock.after(silenceMs, hush);
    };
    const heard = (): void => timer?.[Symbol.dispose]();
    try {
      listen();
      const response = await context.fetch(this.#url, {
        headers: {
          ...context.api.headers,
          accept: "text/event-stream",
          ...(this.#cursor === undefined ? {} : { "last-event-id": this.#cursor }),
        },
        signal: ending.signal,
      });
      if (response.status === 410) {
        await response.body?.cancel();
        this.#cursor = undefined; // What we missed is gone: the next stream starts from now.
        this.#isExpired = true;
        return;
      }
      if (!response.ok || response.body === null) {
        const said = (await response.text()).slice(0, 300);
        const message = `${this.#url} was answered with ${response.status}: ${said}`;
        throw response.status >= 500 || response.status === 429
          ? new Error(message)
          : new Refused(message);
      }
      heard();
      for await (const { id, event, data } of readFrames(watched(response.body, listen, heard))) {
        if (event === "ready") this.#ready();
        else if (data !== "") await this.#options.redelivery.take({ data });
        if (id !== undefined && id !== "") this.#cursor = id;
      }
    } finally {
      heard();
    }
  }

  #ready(): void {
    this.#backoff.reset();
    // Only once the new stream stands: a list taken before could miss what came in between.
    if (this.#isExpired || (this.#wasReady && this.#cursor === undefined)) {
      this.#options.context.onGap();
    }
    this.#isExpired = false;
    this.#wasReady = true;
    this.#opened.resolve();
  }
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  onWait: () => void,
  onChunk: () => void,
): AsyncGenerator<Uint8Array> {
  onWait();
  for await (const chunk of chunks) {
    onChunk();
    yield chunk;
    onWait();
  }
}
