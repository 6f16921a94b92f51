// Requests to an S3 store: each within its time, under a name, and with errors that a step understands.

import type { Clock } from "@keelson/base";
import type { S3 } from "@aws-sdk/client-s3";

import { inTime } from "../aws/in-time.ts";
import type { OnCall } from "../steps/call-point.ts";
import { disbelieved, isAnswer, nameS3Error, type S3Call } from "./s3-errors.ts";

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3ConnectionOptions {
  readonly region: string;
  /** Where the store is, if it is not AWS: its buckets are found by path, not by host. */
  readonly endpoint?: string | undefined;
  /** Left out: what the SDK finds in the environment, in files or as the role of the pod. */
  readonly keys?: (() => Promise<S3Keys>) | undefined;
  /** How long a call may take, connecting included. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onCall?: OnCall | undefined;
}

/** What the SDK takes beside its input. */
export interface SendOptions {
  readonly abortSignal: AbortSignal;
}

export class S3Connection implements Disposable {
  readonly #options: S3ConnectionOptions;
  #client: Promise<S3> | undefined;

  constructor(options: S3ConnectionOptions) {
    this.#options = options;
  }

  /** Sends a request once: whoever wants it again will come again. */
  async call<T>(
    call: S3Call,
    send: (s3: S3, options: SendOptions) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { onCall } = this.#options;
    const { name } = call;
    try {
      await onCall?.({ service: "s3", name, when: "before" });
      signal.throwIfAborted();
      const answer = await this.#inTime(call, send, signal);
      await onCall?.({ service: "s3", name, when: "after" });
      return answer;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const named = nameS3Error(error, call, this.#store);
      // The next call looks for keys anew.
      if (isAnswer(named, disbelieved)) this.#client = undefined;
      throw named;
    }
  }

  [Symbol.dispose](): void {
    void this.#client?.then((s3) => s3.destroy());
    this.#client = undefined;
  }

  get #store(): string {
    const { endpoint, region } = this.#options;
    return `S3 ${endpoint === undefined ? `in ${region}` : `at ${new URL(endpoint).host}`}`;
  }

  async #inTime<T>(
    { name, bucket }: S3Call,
    send: (s3: S3, options: SendOptions) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    const what = `${this.#store}: ${name}${bucket === undefined ? "" : ` of bucket ${bucket}`}`;
    return await inTime(
      { clock, timeoutMs, what },
      async (abortSignal) => await send(await this.#connect(), { abortSignal }),
      signal,
    );
  }

  #connect(): Promise<S3> {
    this.#client ??= open(this.#options);
    return this.#client;
  }
}

/** The SDK is large: whoever has no buckets does without. */
async function open({ region, endpoint, keys }: S3ConnectionOptions): Promise<S3> {
  const { S3 } = await import("@aws-sdk/client-s3");
  return new S3({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(keys === undefined ? {} : { credentials: keys }),
    maxAttempts: 1,
    // What stores other than AWS understand.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
