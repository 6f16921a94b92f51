// Events to Google Pub/Sub, in order for each resource.

import { setImmediate } from "node:timers";

import { Backoff, onAbort, writeJson, type Clock, type Log, type Random } from "@keelson/base";
import type { NumberedEvent } from "@keelson/database";
import type { PubSub, v1 } from "@google-cloud/pubsub";
import type { Topic } from "./event.ts";
import { topics as allTopics } from "./event.ts";
import type { LifecycleTransport, TransportHealth } from "./lifecycle-transport.ts";

export interface PubsubTransportOptions {
  readonly projectId: string;
  /** `host:port` of an emulator. */
  readonly emulatorHost?: string | undefined;
  /** What the topics are called there. */
  readonly topics: Readonly<Record<Topic, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long one request may take. Below what the relay allows. */
  readonly requestTimeoutMs?: number;
}

type Publisher = InstanceType<typeof v1.PublisherClient>;

/** What gRPC shows an interceptor of a request. */
interface GrpcCall {
  cancelWithStatus(code: number, details: string): void;
}

/** gRPC's numbers for what we can tell apart. */
const cancelled = 1;
const notFound = 5;
const alreadyExists = 6;
const permissionDenied = 7;

/**
 * Publishes all that a resource has to tell in one request, each message with the resource's id as its ordering key.
 *
 * The plain requests of Google's client, not its queues: those go on by themselves after we have given up, and then a
 * message could come after later ones that another replica has published meanwhile; and they stop a key that has
 * failed until they are told otherwise. Here a request ends when its time is up, and the relay alone repeats it.
 */
export class PubsubTransport implements LifecycleTransport, AsyncDisposable {
  readonly #options: PubsubTransportOptions;
  readonly #timeoutMs: number;
  #opened: Promise<{ readonly client: PubSub; readonly publisher: Publisher }> | undefined;
  #error: string | undefined;

  constructor(options: PubsubTransportOptions) {
    this.#options = options;
    this.#timeoutMs = options.requestTimeoutMs ?? 9_000;
  }

  get health(): TransportHealth {
    return this.#error === undefined
      ? { transport: "pubsub", status: "ok" }
      : { transport: "pubsub", status: "failing", error: this.#error };
  }

  /**
   * Makes the topics that are missing, trying until it succeeds or `signal` aborts. Those that are there are not touched.
   * Where we may publish and make nothing, somebody else makes them: nobody tells us whether they have.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const { clock, random, log, topics } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: 60_000, random });
    for (const topic of allTopics) {
      for (;;) {
        try {
          await this.#createTopic(topics[topic], signal);
          break;
        } catch (error) {
          if (signal.aborted) return;
          if (codeOf(error) === permissionDenied) {
            log.info({ topic: topics[topic] }, "we may make no topics, so it has to be there");
            break;
          }
          this.#error = messageOf(error);
          log.warn({ topic: topics[topic], error }, "topic not made, trying again");
          await clock.sleep(backoff.next(), signal).catch(() => undefined);
          if (signal.aborted) return;
        }
      }
    }
    this.#error = undefined;
  }

  async publish(events: readonly NumberedEvent[], signal: AbortSignal): Promise<void> {
    try {
      // Of one resource, so of one topic.
      for (const [topic, some] of Map.groupBy(events, ({ topic }) => topic)) {
        const name = this.#options.topics[topic as Topic];
        if (name === undefined) continue; // For readers of the log alone.
        await this.#publishTo(name, some, signal);
      }
      this.#error = undefined;
    } catch (error) {
      this.#error = messageOf(error);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined) return;
    await opened.publisher.close();
    await opened.client.close();
  }

  async #publishTo(
    topic: string,
    events: readonly NumberedEvent[],
    signal: AbortSignal,
  ): Promise<void> {
    const messages = events.map(({ data, attributes, orderingKey }) => ({
      data: Buffer.from(writeJson(data)),
      attributes: withinLimits(attributes),
      orderingKey,
    }));
    const send = (): Promise<unknown> =>
      this.#call(
        (publisher, name, options) => publisher.publish({ topic: name, messages }, options),
        topic,
        signal,
      );
    try {
      await send();
    } catch (error) {
      if (codeOf(error) !== notFound) throw error;
      // Somebody has deleted it, or nobody has made it yet.
      await this.#createTopic(topic, signal).catch((refusal: unknown) => {
        // That it is missing is what has to be mended, not that we may not make it.
        throw codeOf(refusal) === permissionDenied ? error : refusal;
      });
      await send();
    }
  }

  async #createTopic(topic: string, signal: AbortSignal): Promise<void> {
    const call = (publisher: Publisher, name: string, options: object) =>
      publisher.createTopic({ name }, options);
    try {
      await this.#call(call, topic, signal);
      this.#options.log.info({ topic }, "topic made");
    } catch (error) {
      if (codeOf(error) !== alreadyExists) throw error;
    }
  }

  /** One request, tried once, with a deadline; an abort cancels it. */
  async #call(
    request: (publisher: Publisher, name: string, options: object) => Promise<unknown>,
    topic: string,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const { publisher } = await this.#open();
    const name = `projects/${this.#options.projectId}/topics/${topic}`;
    let call: GrpcCall | undefined;
    const cancel = (): void => call?.cancelWithStatus(cancelled, "given up");
    // What the client answers with cannot be cancelled; the call below it can, from its start on.
    const intercept = (options: unknown, next: (options: unknown) => GrpcCall): GrpcCall => {
      call = next(options);
      if (signal.aborted) setImmediate(cancel);
      return call;
    };
    const options = {
      timeout: this.#timeoutMs,
      retry: { retryCodes: [] },
      otherArgs: { options: { interceptors: [intercept] } },
    };
    using _abort = onAbort(signal, cancel);
    await request(publisher, name, options);
  }

  /** On first use: the library is large, and only those who use it shall load it. */
  async #open(): Promise<{ readonly client: PubSub; readonly publisher: Publisher }> {
    this.#opened ??= this.#connect();
    try {
      return await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #connect(): Promise<{ readonly client: PubSub; readonly publisher: Publisher }> {
    const { projectId, emulatorHost } = this.#options;
    const library = await import("@google-cloud/pubsub");
    const client = new library.PubSub({
      projectId,
      ...(emulatorHost === undefined ? {} : { apiEndpoint: emulatorHost, emulatorMode: true }),
    });
    const config = await client.getClientConfig();
    const publisher = new library.v1.PublisherClient(
      config as ConstructorParameters<typeof v1.PublisherClient>[0],
    );
    return { client, publisher };
  }
}

/** Pub/Sub takes values of 1024 bytes. The whole is in the data; one that it refused would hold up its resource for ever. */
function withinLimits(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, cut(value, attributeBytesMax)]),
  );
}

const attributeBytesMax = 1_024;

function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--; // Not in the middle of a character.
  return bytes.subarray(0, end).toString();
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly code?: unknown }).code;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
