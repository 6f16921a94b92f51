// The routes of the registry, for controllers only.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { requireController } from "../access/access.ts";
import { ControllerRegistration } from "../schema.ts";
import { Controller, ControllerList } from "./answers.ts";
import type { RouteParts } from "./route-parts.ts";

export function addControllerRoutes(app: FastifyInstance, parts: RouteParts): void {
  const { registry, callerOf } = parts;
  const onRequest = async (request: FastifyRequest): Promise<void> =>
    requireController(callerOf(request));

  const doc = (summary: string, success: { readonly status: number; readonly body?: object }) => ({
    config: { doc: { summary, success } },
  });

  const lists = doc("list the registered controllers", { status: 200, body: ControllerList });
  app.get("/controllers", { ...lists, onRequest }, async (request) =>
    registry.list(callerOf(request), request.signal),
  );

  app.put(
    "/controllers/:name",
    {
      ...doc("register a controller", { status: 200, body: Controller }),
      onRequest,
      schema: { body: ControllerRegistration },
    },
    async (request) => {
      const body = request.body as ControllerRegistration;
      return registry.register(callerOf(request), nameOf(request), body, request.signal);
    },
  );

  const retires = doc("retire a controller", { status: 204 });
  app.delete("/controllers/:name", { ...retires, onRequest }, async (request, reply) => {
    await registry.retire(callerOf(request), nameOf(request), request.signal);
    return reply.code(204).send();
  });
}

function nameOf(request: FastifyRequest): string {
  return (request.params as { readonly name: string }).name;
}
