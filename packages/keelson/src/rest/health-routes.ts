// Health and version: for probes, dashboards and people with curl. They need no identity.

import { RestError, type Clock } from "@keelson/base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { ComponentState, Health } from "../health.ts";

/** What `/api/v1/info` tells. */
export interface BuildFacts {
  readonly version: string;
  readonly gitCommit: string;
  readonly buildTime: string;
  readonly environment: string;
}

export interface HealthRoutesOptions {
  readonly health: Health;
  readonly clock: Clock;
  /** Facts to show beside a component's status: `{ events: { transport: "local" } }`. */
  readonly components: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The name by which the lifecycle API knows itself, in answers and in events. */
export const serviceName = "cls-backend";

const isPublic = { config: { isPublic: true } };

/** `/livez`, by its other name `/healthz`; `/readyz`, `/health`, `/health/live`, `/health/ready`. */
export function addHealthRoutes(app: FastifyInstance, options: HealthRoutesOptions): void {
  const { health, clock } = options;

  for (const name of ["livez", "healthz"]) {
    app.get(`/${name}`, isPublic, (request, reply) =>
      text(reply, isVerbose(request) ? `[+]process ok\n${name} check passed\n` : "ok\n"),
    );
  }
  app.get("/readyz", isPublic, async (request, reply) => {
    const states = await readyStates(health);
    if (!isVerbose(request)) return text(reply, "ok\n");
    const lines = states.map(({ name }) => `[+]${name} ok\n`);
    return text(reply, `${lines.join("")}readyz check passed\n`);
  });
  app.get("/health", isPublic, () => ({
    status: "healthy",
    timestamp: new Date(clock.now()).toISOString(),
    service: serviceName,
    components: componentsOf(health.components, options),
  }));
  app.get("/health/live", isPublic, () => ({ status: "alive" }));
  app.get("/health/ready", isPublic, async () => ({
    status: "ready",
    components: componentsOf(await readyStates(health), options),
  }));
}

const Info = Type.Object({
  service: Type.String({ description: "the same for all that publish these events" }),
  version: Type.String(),
  git_commit: Type.String(),
  build_time: Type.String(),
  api_version: Type.Literal("v1"),
  environment: Type.String(),
});

/** `/api/v1/info`. */
export function addInfoRoute(app: FastifyInstance, facts: BuildFacts): void {
  const success = { status: 200, body: Info };
  const doc = { summary: "show what is running; needs no identity", success };
  app.get("/api/v1/info", { config: { ...isPublic.config, doc } }, () => ({
    service: serviceName,
    version: facts.version,
    git_commit: facts.gitCommit,
    build_time: facts.buildTime,
    api_version: "v1",
    environment: facts.environment,
  }));
}

/** The parts, all of them healthy; throws `DATABASE_UNAVAILABLE` that says which are not, or that we stop. */
async function readyStates(health: Health): Promise<readonly ComponentState[]> {
  if (health.isStopping) throw notReady("the server is stopping", health.components);
  const states = await health.ask();
  const ill = states.filter(({ status }) => status !== "healthy").map(({ name }) => name);
  if (ill.length > 0) {
    throw notReady(`${ill.join(", ")} ${ill.length === 1 ? "does" : "do"} not answer`, states);
  }
  return states;
}

function notReady(reason: string, states: readonly ComponentState[]): RestError {
  return new RestError("DATABASE_UNAVAILABLE", `not ready: ${reason}`, {
    details: {
      components: Object.fromEntries(states.map(({ name, status }) => [name, { status }])),
    },
  });
}

function componentsOf(
  states: readonly ComponentState[],
  { components }: HealthRoutesOptions,
): Record<string, object> {
  const shown = new Map<string, object>(Object.entries(components));
  for (const { name, status } of states) shown.set(name, { status, ...components[name] });
  return Object.fromEntries(shown);
}

function isVerbose({ query }: FastifyRequest): boolean {
  return Object.hasOwn(query as object, "verbose");
}

function text(reply: FastifyReply, body: string): FastifyReply {
  return reply.type("text/plain; charset=utf-8").send(body);
}
