import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** What answers it. */
    keelsonResponse: ServerResponse | undefined;
    keelsonSignal: AbortSignal | undefined;
  }
}

/**
 * Makes `request.signal` abort when the client leaves before it is answered, and then only. The framework's own
 * listens to the request, which is closed as soon as its body has been read: a write would end in the middle.
 */
export function addRequestSignals(app: FastifyInstance): void {
  app.decorateRequest("keelsonResponse", undefined);
  app.decorateRequest("keelsonSignal", undefined);
  app.decorateRequest("signal", {
    getter(this: FastifyRequest): AbortSignal {
      this.keelsonSignal ??= signalOf(this.keelsonResponse);
      return this.keelsonSignal;
    },
  });
}

function signalOf(response: ServerResponse | undefined): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (response?.writableFinished !== true) {
      controller.abort(new DOMException("the client has left", "AbortError"));
    }
  };
  if (response?.closed === true) leave();
  else response?.once("close", leave);
  return controller.signal;
}
