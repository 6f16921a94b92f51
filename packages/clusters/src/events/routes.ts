// `GET /events?topic=` and `GET /{kind}/{id}/events`: what happens, as it happens; and what has happened.

import { Readable } from "node:stream";
import {
  isCancellation,
  refuseProblems,
  RestError,
  validationFailed,
  type Clock,
  type Identity,
  type JsonObject,
  type Log,
} from "@keelson/base";
import { CursorExpired, type Database, type NumberedEvent } from "@keelson/database";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { kinds, type KindName } from "../kinds.ts";
import {
  History,
  historyMax,
  historyQuery,
  historyUsual,
  lastEventIdHeader,
} from "../routes/answers.ts";
import { readHistory } from "../sql/history.ts";
import { eventStream } from "./event-stream.ts";
import { topics, topicTypes, type EventData } from "./event.ts";
import type { LifecycleEvents } from "./lifecycle-events.ts";

export interface EventRoutesOptions {
  readonly database: Database;
  readonly events: LifecycleEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly heartbeatMs?: number;
  readonly identityOf: (request: FastifyRequest) => Identity;
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the credential of a request counts no more. */
  readonly revokedOf: (request: FastifyRequest) => AbortSignal;
  readonly isController: (identity: Identity) => boolean;
  /** Throws, as for any other read, what keeps the caller from seeing this resource. */
  readonly requireVisible: (asked: {
    readonly kind: KindName;
    readonly id: string;
    readonly request: FastifyRequest;
  }) => Promise<void>;
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Answers `GET /events` with a topic in its query: the whole of it, for controllers. */
export function topicEvents(options: EventRoutesOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (!options.isController(options.identityOf(request))) {
      throw new RestError("FORBIDDEN", "only controllers may follow a topic");
    }
    const query = readQuery(request, ["topic", "platform", "type"]);
    const { topic, type } = query;
    const platform = query.platform?.toLowerCase();
    const known = topics.find((one) => one === topic);
    if (known === undefined) {
      throw validationFailed({ field: "topic", message: `must be ${orList(topics)}` });
    }
    const types: readonly string[] = topicTypes[known];
    // One that never comes would be followed for ever.
    if (type !== undefined && !types.includes(type)) {
      throw validationFailed({ field: "type", message: `must be ${orList(types)}` });
    }
    const wants = (event: NumberedEvent): boolean => {
      if (event.topic !== topic) return false;
      const data = event.data as unknown as EventData;
      return (
        (platform === undefined || data.platform === platform) &&
        (type === undefined || data.type === type)
      );
    };
    return stream(options, { request, reply, wants });
  };
}

/** Puts the events of single resources on `app`, below the prefix of the API. */
export function addEventRoutes(app: FastifyInstance, options: EventRoutesOptions): void {
  for (const { name: kind, plural } of Object.values(kinds)) {
    // No HEAD: it would follow for ever and show nothing.
    const summary = `what was told of a ${kind}, newest first; as text/event-stream what is told`;
    const success = { status: 200, body: History };
    const doc = { summary, query: historyQuery, headers: lastEventIdHeader, success };
    const route = { exposeHeadRoute: false, config: { doc } };
    app.get(`/${plural}/:id/events`, route, async (request, reply) => {
      const id = (request.params as { readonly id: string }).id.toLowerCase();
      await options.requireVisible({ kind, id, request });
      if (wantsStream(request)) {
        const wants = ({ orderingKey }: NumberedEvent): boolean => orderingKey === id;
        return stream(options, { request, reply, wants });
      }
      return history(options, id, request);
    });
  }
}

async function history(
  { database }: EventRoutesOptions,
  id: string,
  request: FastifyRequest,
): Promise<JsonObject> {
  const query = readQuery(request, ["limit", "before", "include_deleted"]);
  const limit = readInteger("limit", query.limit, { min: 1, max: historyMax }) ?? historyUsual;
  const before = readInteger("before", query.before, { min: 1, max: Number.MAX_SAFE_INTEGER });
  const asked = { id, before, limit: limit + 1 };
  const rows = await database.run(readHistory, asked, request.signal);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    events: shown.map(({ position, data }) => ({ ...data, position: Number(position) })),
    limit,
    next: rows.length > limit && last !== undefined ? Number(last.position) : null,
  };
}

async function stream(
  { events, clock, log, stopping, revokedOf, heartbeatMs = 15_000 }: EventRoutesOptions,
  asked: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly wants: (event: NumberedEvent) => boolean;
  },
): Promise<FastifyReply> {
  const { request, reply, wants } = asked;
  const { tail } = events;
  const signal = AbortSignal.any([request.signal, stopping, revokedOf(request)]);
  // Before the first byte: what cannot be had is still an answer of its own.
  const resumed = readPosition(request);
  if (resumed !== undefined) await assertKnown();
  const after = resumed ?? (await tail.now(signal));

  const text = async function* (): AsyncGenerator<string> {
    try {
      yield* eventStream({ tail, clock, heartbeatMs }, { after, wants }, signal);
    } catch (error) {
      // The reader comes back with the last id it has had. There is no status line left to send.
      if (!isCancellation(error, signal)) log.warn({ error }, "a stream of events broke off");
    }
  };
  reply.type("text/event-stream").header("x-accel-buffering", "no");
  if (request.raw.httpVersionMajor === 1) reply.header("connection", "close");
  reply.send(Readable.from(text()));
  reply.raw.flushHeaders();
  return reply;

  async function assertKnown(): Promise<void> {
    try {
      await tail.assertKnown(resumed ?? 0, signal);
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error;
      throw new RestError("POSITION_EXPIRED", `${error.message}: list again`, { cause: error });
    }
  }
}

function orList(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function wantsStream({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? "")
    .split(",")
    .some((part) => part.split(";")[0]?.trim().toLowerCase() === "text/event-stream");
}

function readPosition({ headers }: FastifyRequest): number | undefined {
  const header = headers["last-event-id"];
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text === "") return undefined;
  return readInteger("Last-Event-ID", text, { min: 0, max: Number.MAX_SAFE_INTEGER });
}

/** What the query says, each member once and no other: what is not understood is not passed over. */
function readQuery<const Name extends string>(
  { query }: FastifyRequest,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const problems = Object.entries(query as Query).flatMap(([field, value]) => {
    if (!names.includes(field as Name)) return [{ field, message: "is not a known parameter" }];
    return typeof value === "string" ? [] : [{ field, message: "must be given once" }];
  });
  refuseProblems(problems);
  return query as { readonly [N in Name]?: string };
}

function readInteger(
  field: string,
  text: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} on` : `${min} to ${max}`;
  throw validationFailed({ field, message: `must be a whole number from ${range}` });
}
