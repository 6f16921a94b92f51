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
export function addRequestSignals(app: FastifyInstance, trace?: RequestTrace): void {
  app.decorateRequest("keelsonResponse", undefined);
  app.decorateRequest("keelsonSignal", undefined);
  app.decorateRequest("signal", {
    getter(this: FastifyRequest): AbortSignal {
      if (this.keelsonSignal === undefined) {
        this.keelsonSignal = signalOf(this.keelsonResponse);
        trace?.note(this.keelsonSignal, this);
      }
      return this.keelsonSignal;
    },
  });
}

/** Whose request a signal is, for lines of the log about what was done for it. */
export class RequestTrace {
  readonly #requests = new WeakMap<AbortSignal, FastifyRequest>();

  note(signal: AbortSignal, request: FastifyRequest): void {
    this.#requests.set(signal, request);
  }

  /** Undefined for whatever nobody asked for. */
  fieldsOf(
    signal: AbortSignal,
  ): { readonly request_id: string; readonly user?: string } | undefined {
    const request = this.#requests.get(signal);
    if (request === undefined) return undefined;
    const { id: request_id, keelsonIdentity: identity } = request;
    return { request_id, ...(identity === undefined ? {} : { user: identity.user }) };
  }
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
