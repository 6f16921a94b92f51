// Events from Google Pub/Sub, through a subscription of the controller's own.

import { Backoff, isCancellation, untilAbort } from "@keelson/base";
import type { Message, PubSub, Subscription as Source } from "@google-cloud/pubsub";
import { topics } from "../event.ts";
import type { Kind } from "../resource.ts";
import type { Transport, TransportContext } from "../transport.ts";

export interface PubsubOptions {
  /** The name of the subscription; one for each kind where the controller has several. */
  readonly subscription: string | Readonly<Partial<Record<Kind, string>>>;
  /** Found in the environment, as Google's libraries do, unless told. */
  readonly projectId?: string;
  /** Only used where the subscription has to be made: `cluster-events` and `nodepool-events` unless told. */
  readonly topics?: Readonly<Partial<Record<Kind, string>>>;
  /** `host:port` of an emulator; `PUBSUB_EMULATOR_HOST` counts too. */
  readonly emulatorHost?: string;
  /** How many messages are out at once: 256 unless told. */
  readonly messagesMax?: number;
}

/** How long a message stays ours. The library extends its lease until then. */
const leaseSeconds = 600;

/** gRPC's numbers for what we can tell apart. */
const alreadyExists = 6;
const notFound = 5;
const permissionDenied = 7;

/**
 * Follows subscriptions of Google Pub/Sub. One that is missing is made, with ordering; one that is there is used
 * as it is. Needs the package `@google-cloud/pubsub`.
 */
export function pubsub(options: PubsubOptions): Transport {
  return {
    ackDeadlineMs: leaseSeconds * 1_000,
    async subscribe(context, signal) {
      const names = context.kinds.map((kind) => [kind, nameFor(kind, options, context)] as const);
      const library = await load();
      const client = new library.PubSub({
        ...(options.projectId === undefined ? {} : { projectId: options.projectId }),
        ...(options.emulatorHost === undefined
          ? {}
          : { apiEndpoint: options.emulatorHost, emulatorMode: true }),
      });
      try {
        for (const [kind, name] of names) {
          signal.throwIfAborted();
          const topic = options.topics?.[kind] ?? topics[kind];
          // The library asks for a minute where nobody answers, and heeds no signal.
          await untilAbort(ensureSubscription(client, { name, topic }), signal);
        }
      } catch (error) {
        await client.close();
        throw error;
      }
      const { Duration } = library;
      const sources = names.map(
        ([, name]) =>
          new Pull({
            context,
            open: () =>
              client.subscription(name, {
                flowControl: { maxMessages: options.messagesMax ?? 256 },
                maxExtensionTime: Duration.from({ seconds: leaseSeconds }),
                closeOptions: { behavior: "NACK", timeout: Duration.from({ seconds: 5 }) },
              }),
            signal,
          }),
      );
      for (const source of sources) source.start();
      return {
        close: async () => {
          await Promise.all(sources.map((source) => source.close()));
          await client.close();
        },
      };
    },
  };
}

function nameFor(
  kind: Kind,
  { subscription }: PubsubOptions,
  { kinds, controllerName }: TransportContext,
): string {
  if (typeof subscription === "string") {
    if (kinds.length === 1) return subscription;
    throw new TypeError(
      `controller ${controllerName}: pubsub() needs a subscription for each of ${kinds.join(", ")}: ` +
        `{ ${kinds.map((one) => `${one}: "…"`).join(", ")} }`,
    );
  }
  const name = subscription[kind];
  if (name !== undefined) return name;
  throw new TypeError(`controller ${controllerName}: pubsub() has no subscription for ${kind}`);
}

/** Only when it is used: it is large, and most controllers need none of it. */
async function load() {
  try {
    return await import("@google-cloud/pubsub");
  } catch (error) {
    throw new Error(
      "pubsub() needs the package @google-cloud/pubsub: npm install @google-cloud/pubsub",
      {
        cause: error,
      },
    );
  }
}

async function ensureSubscription(
  client: PubSub,
  { name, topic }: { readonly name: string; readonly topic: string },
): Promise<void> {
  if (await isThere(client.subscription(name))) return;
  try {
    await client.topic(topic).createSubscription(name, {
      enableMessageOrdering: true,
      ackDeadlineSeconds: 60,
      retryPolicy: { minimumBackoff: { seconds: 1 }, maximumBackoff: { seconds: 60 } },
      expirationPolicy: {}, // For ever: a controller that is away for a month must not lose its place.
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === alreadyExists) return; // A replica of ours was quicker.
    if (code !== notFound) throw error;
    throw new Error(`the topic ${topic} does not exist: Keelson makes it when it starts`, {
      cause: error,
    });
  }
}

/** Who may only consume a subscription may not look at it. That they may consume it says that it is there. */
async function isThere(source: Source): Promise<boolean> {
  try {
    const [exists] = await source.exists();
    return exists;
  } catch (error) {
    if (codeOf(error) !== permissionDenied) throw error;
    const [rights] = await source.iam.testPermissions([consuming]).catch(() => {
      throw error;
    });
    if (rights[consuming] === true) return true;
    throw error;
  }
}

const consuming = "pubsub.subscriptions.consume";

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly code?: unknown }).code;
}

/** What is broken may refuse to be closed. */
async function closeQuietly(source: Source): Promise<void> {
  try {
    await source.close();
  } catch {
    // It is gone either way.
  }
}

/** One subscription, opened again whenever it breaks. */
class Pull {
  readonly #context: TransportContext;
  readonly #open: () => Source;
  readonly #signal: AbortSignal;
  readonly #backoff: Backoff;
  #source: Source | undefined;
  #timer: Disposable | undefined;
  #inFlight = 0;
  #onIdle: () => void = () => undefined;

  constructor(options: {
    readonly context: TransportContext;
    readonly open: () => Source;
    readonly signal: AbortSignal;
  }) {
    this.#context = options.context;
    this.#open = options.open;
    this.#signal = options.signal;
    this.#backoff = new Backoff({ initialMs: 500, maxMs: 30_000, random: options.context.random });
  }

  start(): void {
    const source = this.#open();
    this.#source = source;
    source.on("message", (message: Message) => void this.#take(message));
    source.on("error", (error: unknown) => {
      if (this.#source !== source || this.#signal.aborted) return;
      this.#source = undefined;
      this.#context.log.warn({ error }, "the subscription broke, opening it again");
      void closeQuietly(source);
      this.#timer = this.#context.clock.after(this.#backoff.next(), () => {
        if (!this.#signal.aborted) this.start();
      });
    });
  }

  /** Lets what is being worked on end, so that it can be acknowledged; then closes. */
  async close(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    while (this.#inFlight > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      await promise;
    }
    await this.#source?.close();
  }

  async #take(message: Message): Promise<void> {
    this.#backoff.reset();
    if (this.#signal.aborted) {
      message.nack();
      return;
    }
    this.#inFlight++;
    try {
      const { attributes } = message;
      const disposition = await this.#context.deliver({
        data: message.data.toString(),
        attributes,
      });
      if (disposition.kind === "ack") message.ack();
      else {
        await this.#wait(disposition.afterMs);
        message.nack();
      }
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#onIdle();
    }
  }

  /** Kept here for its backoff: given back at once it would be delivered again at once. */
  async #wait(waitMs: number): Promise<void> {
    try {
      await this.#context.clock.sleep(waitMs, this.#signal);
    } catch (error) {
      if (!isCancellation(error, this.#signal)) throw error;
    }
  }
}
