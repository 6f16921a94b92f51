// Requests to the cluster API, each with a deadline and tried again where that can help.

import { Backoff, type Clock, type Random } from "@keelson/base";
import type { Kind, Report, Reports, Resource } from "./resource.ts";

export interface Identity {
  /** The address that the gateway vouches for. */
  readonly email?: string;
  readonly gatewaySecret?: string;
  readonly roles?: readonly string[];
  /** A bearer token, in place of the above. */
  readonly token?: string;
}

/** The API said no, or did not answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0 when there was no answer. */
  readonly status: number;
  readonly code: string;

  constructor(
    message: string,
    { status, code, ...options }: ErrorOptions & { readonly status: number; readonly code: string },
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

export interface ApiOptions {
  readonly url: string;
  readonly identity: Identity;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** How long one attempt may take. */
  readonly requestTimeoutMs: number;
  readonly attemptsMax: number;
}

export interface Registration {
  readonly kinds: readonly Kind[];
  readonly platforms: readonly string[];
  readonly finalizer: boolean;
}

export type NewReport = Omit<Report, "last_updated"> & { readonly finalizer?: boolean };

/** A resource with what controllers have said of it. */
export interface Reported {
  readonly resource: Resource;
  readonly reports: Reports;
}

const paths: Record<Kind, string> = { cluster: "clusters", nodepool: "nodepools" };
/** The most that a page may have, for both kinds. */
const pageMax = 100;

export class Api {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.url = `${options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;
    this.headers = headersOf(options.identity);
  }

  async register(name: string, registration: Registration, signal: AbortSignal): Promise<void> {
    await this.#request("PUT", `controllers/${encodeURIComponent(name)}`, registration, signal);
  }

  /** The resource with its reports, in one request; undefined when it is gone. */
  async find(
    kind: Kind,
    id: string,
    { secrets }: { readonly secrets: boolean },
    signal: AbortSignal,
  ): Promise<Reported | undefined> {
    const query = `include=controller_status${secrets ? "&include_secrets=true" : ""}`;
    const path = `${paths[kind]}/${encodeURIComponent(id)}?${query}`;
    try {
      const body = await this.#request("GET", path, undefined, signal);
      const { controller_status: list, ...resource } = body as Resource & {
        readonly controller_status?: readonly Report[];
      };
      return { resource, reports: byController(list ?? []) };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async report(kind: Kind, id: string, report: NewReport, signal: AbortSignal): Promise<void> {
    await this.#request("PUT", `${paths[kind]}/${encodeURIComponent(id)}/status`, report, signal);
  }

  /**
   * Every resource, those being deleted included. Pages are counted from the newest, so one that is deleted
   * meanwhile moves the others up, perhaps to a page that was read already; then the list is taken once more.
   */
  async list(kind: Kind, signal: AbortSignal): Promise<readonly Resource[]> {
    const found = new Map<string, Resource>();
    for (let round = 0; round < 3; round++) {
      if (await this.#listInto(found, kind, signal)) break;
    }
    return [...found.values()];
  }

  /** Answers whether none can have been missed: there never were fewer than before, and as many came as there are. */
  async #listInto(found: Map<string, Resource>, kind: Kind, signal: AbortSignal): Promise<boolean> {
    const came = new Set<string>();
    let before = 0;
    let isFalling = false;
    for (let offset = 0; ; offset += pageMax) {
      const path = `${paths[kind]}?limit=${pageMax}&offset=${offset}`;
      const body = (await this.#request("GET", path, undefined, signal)) as Record<string, unknown>;
      const page = body[paths[kind]] as readonly Resource[];
      for (const resource of page) {
        found.set(resource.id, resource);
        came.add(resource.id);
      }
      const total = Number(body["total"]);
      isFalling ||= total < before;
      before = total;
      if (page.length < pageMax) return !isFalling && came.size >= total;
    }
  }

  /** Everything we send can be sent twice, so whatever is not an answer to keep is tried again. */
  async #request(
    method: "GET" | "PUT",
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { clock, random, attemptsMax } = this.#options;
    const backoff = new Backoff({ initialMs: 200, maxMs: 5_000, random });
    for (;;) {
      const attempt = await this.#attempt(method, path, body, signal);
      if (attempt.error === undefined) return attempt.body;
      const waitMs = backoff.next();
      if (!attempt.canRetry || backoff.attempts >= attemptsMax) throw attempt.error;
      await clock.sleep(Math.max(waitMs, attempt.retryAfterMs), signal);
    }
  }

  async #attempt(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<Attempt> {
    signal.throwIfAborted();
    const { clock, requestTimeoutMs } = this.#options;
    try {
      const response = await this.#options.fetch(`${this.url}/${path}`, {
        method,
        headers: {
          ...this.headers,
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, clock.timeout(requestTimeoutMs)]),
      });
      const text = await response.text();
      if (response.ok) return { body: text === "" ? undefined : JSON.parse(text) };
      return refusal(method, path, response, text);
    } catch (error) {
      signal.throwIfAborted();
      const message = `${method} ${path.split("?")[0]} got no answer`;
      return {
        error: new ApiError(message, { status: 0, code: "NO_ANSWER", cause: error }),
        canRetry: true,
        retryAfterMs: 0,
      };
    }
  }
}

type Attempt =
  | { readonly error?: undefined; readonly body: unknown }
  | { readonly error: ApiError; readonly canRetry: boolean; readonly retryAfterMs: number };

/** The most that a server may make us wait between two attempts. */
const retryAfterMaxMs = 30_000;

function refusal(method: string, path: string, response: Response, text: string): Attempt {
  const { status, headers } = response;
  let said: { readonly error?: unknown; readonly code?: unknown } = {};
  try {
    said = Object(JSON.parse(text)) as typeof said;
  } catch {
    // Not ours: a proxy between us answered.
  }
  const sentence = typeof said.error === "string" ? said.error : `HTTP ${status}`;
  const code = typeof said.code === "string" ? said.code : `HTTP_${status}`;
  const seconds = Number(headers.get("retry-after") ?? 0);
  return {
    error: new ApiError(`${method} ${path.split("?")[0]}: ${sentence}`, { status, code }),
    canRetry: status === 408 || status === 429 || status >= 500,
    retryAfterMs: Number.isFinite(seconds) ? Math.min(seconds * 1_000, retryAfterMaxMs) : 0,
  };
}

export function headersOf({
  email,
  gatewaySecret,
  roles,
  token,
}: Identity): Record<string, string> {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(email === undefined ? {} : { "x-user-email": email }),
    ...(gatewaySecret === undefined ? {} : { "x-gateway-secret": gatewaySecret }),
    ...(roles === undefined ? {} : { "x-user-roles": roles.join(",") }),
  };
}

function byController(list: readonly Report[]): Reports {
  return Object.fromEntries(list.map((report) => [report.controller_name, report]));
}
