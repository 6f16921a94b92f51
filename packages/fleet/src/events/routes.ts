// `GET /events`: what happens, as it happens.

import { Readable } from "node:stream";
import { isCancellation, type Clock, type Identity, type Log } from "@keelson/base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Query } from "../resources/list-query.ts";
import { requireRole } from "../resources/permissions.ts";
import type { EventLog } from "./event-log.ts";
import { maySee, readEventQuery } from "./event-query.ts";
import { eventStream, type EventReader } from "./event-stream.ts";
import { eventsDoc } from "./schema.ts";

export interface EventRoutesOptions {
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EventLimits;
  readonly identityOf: (request: FastifyRequest) => Identity;
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the credential of a request counts no more. */
  readonly revokedOf: (request: FastifyRequest) => AbortSignal;
  /** Streams of a topic belong to another service, on the same path. */
  readonly topicEvents?: TopicEvents;
}

/** Who answers requests with `topic` in their query. */
export interface TopicEvents {
  readonly answer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Told of every such request that is answered with an error, also before anybody knew the caller. */
  readonly onRefused: (
    request: FastifyRequest,
    identity: Identity | undefined,
    error: unknown,
  ) => void;
}

export interface EventLimits {
  readonly heartbeatMs: number;
  /** How long a reader may take for what it was sent. */
  readonly slowMs: number;
}

export const usualEventLimits: EventLimits = { heartbeatMs: 15_000, slowMs: 30_000 };

/** Puts it on `app`, below the prefix of the API. */
export function addEventRoutes(app: FastifyInstance, options: EventRoutesOptions): void {
  const { events, limits, identityOf, stopping, revokedOf, topicEvents, log } = options;

  // No HEAD: it would follow for ever and show nothing.
  const onRefused: TopicEvents["onRefused"] = (request, ...refusal) => {
    if (isOfTopic(request)) topicEvents?.onRefused(request, ...refusal);
  };
  const route = { exposeHeadRoute: false, config: { doc: eventsDoc, onRefused } };
  app.get("/events", route, async (request, reply) => {
    const query = request.query as Query;
    if (isOfTopic(request) && topicEvents !== undefined) return topicEvents.answer(request, reply);
    const identity = identityOf(request);
    requireRole(identity, "reader");
    const { matches, after } = readEventQuery(query, lastEventIdOf(request));
    const signal = AbortSignal.any([request.signal, stopping, revokedOf(request)]);
    // Before the first byte: a database that is away is still an answer of its own.
    const reader: EventReader = {
      after: after ?? (await events.now(signal)),
      wants: (event) => matches(event) && maySee(identity, event),
      onSlow: () => {
        log.info({ request_id: request.id }, "a reader of events was too slow, and was cut off");
        reply.raw.destroy();
      },
    };

    const text = async function* (): AsyncGenerator<string> {
      try {
        yield* eventStream({ ...options, ...limits }, reader, signal);
      } catch (error) {
        // The reader comes back with the last id it has had. There is no status line left to send.
        if (!isCancellation(error, signal)) log.warn({ error }, "a stream of events broke off");
      }
    };
    reply.type("text/event-stream").header("x-accel-buffering", "no");
    if (request.raw.httpVersionMajor === 1) reply.header("connection", "close");
    reply.send(Readable.from(text()));
    reply.raw.flushHeaders(); // An idle stream must answer too; the framework waits for the first piece.
    return reply;
  });
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const header = headers["last-event-id"];
  return Array.isArray(header) ? header[0] : header;
}

function isOfTopic({ query }: FastifyRequest): boolean {
  return Object.hasOwn(query as Query, "topic");
}
