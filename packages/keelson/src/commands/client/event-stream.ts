// The server's stream of events, followed for as long as somebody wants it.

import { Backoff, isJsonObject, readJson, systemRandom, type JsonObject } from "@keelson/base";
import { CommandError } from "../command-error.ts";
import type { Session } from "../session.ts";
import { isAway, Refused, type Query } from "./rest-client.ts";

/** One event. The type `reset` means that some were missed, and that everything has to be looked at again. */
export interface ServerEvent {
  readonly type: string;
  readonly data: JsonObject;
}

export interface FollowOptions {
  /** Whose events, if not all of fleet's: the way to one resource. */
  readonly path?: string;
  readonly query?: Query;
}

/**
 * Events as they come, in batches, each once and in order, until `signal`, at which it throws. The first batch is empty, and
 * comes when the stream is open: what happens from then on is in one of the next. A stream that breaks off is taken up again
 * where it ended, which is said once until it goes on; only the first attempt to open it fails for good, and a refusal.
 */
export async function* followEvents(
  { client, clock, terminal }: Pick<Session, "client" | "clock" | "terminal">,
  { path = "", query = {} }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly ServerEvent[]> {
  const backoff = new Backoff({ initialMs: 250, maxMs: 10_000, random: systemRandom });
  let lastId: string | undefined;
  let isFirst = true;
  let isBroken = false;
  const broke = (reason: string): void => {
    if (!isBroken) terminal.note(`the stream of events broke off (${reason}): trying again`);
    isBroken = true;
  };
  for (;;) {
    try {
      const headers = {
        accept: "text/event-stream",
        ...(lastId === undefined ? {} : { "last-event-id": lastId }),
      };
      const body = await client.stream(`${path}/events`, { query, headers }, signal);
      if (isFirst) yield [];
      // One that has had no event yet had no place to go on from: what was missed is not known.
      else if (lastId === undefined) yield [{ type: "reset", data: {} }];
      isFirst = false;
      const reader = new EventReader();
      for await (const piece of body) {
        const events = reader.read(piece);
        lastId = reader.lastId ?? lastId;
        isBroken = false;
        backoff.reset();
        if (events.length > 0) yield events;
      }
      broke("the server ended it");
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst || (error instanceof Refused && !isAway(error))) throw error;
      const isSaid = error instanceof CommandError || error instanceof Refused;
      broke(isSaid ? error.message : "the connection was lost");
    }
    await clock.sleep(backoff.next(), signal);
  }
}

/** Reads server-sent events from pieces that end anywhere. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #lastId: string | undefined;

  /** The id of the last event, or of the place that the server has told since. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** The events that are complete now. */
  read(piece: Uint8Array): readonly ServerEvent[] {
    const blocks = (this.#rest + this.#decoder.decode(piece, { stream: true })).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => this.#event(block));
  }

  #event(block: string): readonly ServerEvent[] {
    let [type, text] = ["", ""];
    for (const line of block.split("\n")) {
      const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name === "id") this.#lastId = value;
      else if (name === "event") type = value;
      else if (name === "data") text += value;
    }
    if (type === "" || text === "") return [];
    const data = readJson(text);
    return isJsonObject(data) ? [{ type, data }] : [];
  }
}
