// Several replicas as one service: whoever finds one of them gone asks the other.

import { setTimeout as wait } from "node:timers/promises";

import type { JsonObject } from "@keelson/base";

import type { Ours } from "../ours.ts";
import { Wire, type WireAnswer, type WireRequest } from "../../tools/wire.ts";
import { openStream, type StreamEvent } from "./stream.ts";

export interface Followed {
  readonly events: readonly StreamEvent[];
  /** How each of its streams ended. */
  readonly ends: readonly string[];
}

export class Service implements Disposable {
  /** The revision at which those who follow are done; not known at first. */
  last = Infinity;
  readonly #replicas: readonly { readonly server: Ours; readonly wire: Wire }[];
  #turn = 0;

  constructor(replicas: readonly Ours[]) {
    this.#replicas = replicas.map((server) => {
      const { url, ca, admin } = server;
      const { certificate, key } = admin;
      return { server, wire: new Wire({ url, ca, certificate, key }) };
    });
  }

  /** Creates the object, at whichever replica answers. That it is there already is our own, earlier try. */
  async create(path: string, body: JsonObject, signal: AbortSignal): Promise<void> {
    const { status, bytes } = await this.#send({ method: "POST", path, body }, signal);
    if (status !== 201 && status !== 409) throw new Error(`${status} ${bytes.toString()}`);
  }

  async revisionOf(path: string, signal: AbortSignal): Promise<string> {
    const { bytes } = await this.#send({ path: `${path}?limit=1` }, signal);
    const { metadata } = JSON.parse(bytes.toString()) as { metadata: { resourceVersion: string } };
    return metadata.resourceVersion;
  }

  /** Watches, goes on at another replica where a stream ends, and is done at `last`. */
  async follow(
    path: string,
    { from, first, over }: { from: string; first: number; over: AbortSignal },
    signal: AbortSignal,
  ): Promise<Followed> {
    const events: StreamEvent[] = [];
    const ends: string[] = [];
    let position = Number(from);
    for (let turn = first; position < this.last && !over.aborted; turn += 1) {
      const { server } = this.#at(turn);
      try {
        using stream = await openStream(
          server,
          `${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=20&resourceVersion=${position}`,
          signal,
        );
        if (stream.status !== 200) {
          await wait(10, undefined, { signal });
          continue;
        }
        for (;;) {
          const event = await stream.next(signal);
          if (event === undefined) break;
          if (event.type === "ERROR") throw new Error(JSON.stringify(event.object));
          if (event.type !== "BOOKMARK") events.push(event);
          position = event.revision;
          if (position >= this.last) return { events, ends };
        }
        ends.push(stream.hasEndedInOrder ? "in order" : "cut off");
      } catch (error) {
        signal.throwIfAborted();
        if (!isRefused(error)) throw error;
        await wait(10, undefined, { signal });
      }
    }
    return { events, ends };
  }

  [Symbol.dispose](): void {
    for (const { wire } of this.#replicas) wire[Symbol.dispose]();
  }

  async #send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    for (;;) {
      const turn = this.#turn;
      try {
        const answer = await this.#at(turn).wire.send(request, signal);
        if (answer.status !== 503) return answer;
      } catch {
        signal.throwIfAborted();
      }
      // Whoever finds it gone first turns all to the other.
      if (this.#turn === turn) this.#turn += 1;
      await wait(10, undefined, { signal });
    }
  }

  #at(turn: number): { readonly server: Ours; readonly wire: Wire } {
    const replica = this.#replicas[turn % this.#replicas.length];
    if (replica === undefined) throw new Error("there are no replicas");
    return replica;
  }
}

function isRefused(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return code === "ECONNREFUSED" || code === "ECONNRESET";
}
