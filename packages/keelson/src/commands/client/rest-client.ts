// Requests to the REST API of a Keelson server.

import {
  isDistrust,
  isJsonArray,
  isJsonObject,
  readJson,
  writeJson,
  type Clock,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { CommandError } from "../command-error.ts";
import type { FoundServer } from "./find-server.ts";

/** What the server said no with. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** The machine's word for it: `RESOURCE_NOT_FOUND`. */
  readonly code: string;
  readonly fields: readonly FieldProblem[];
  readonly details: JsonObject;

  constructor(status: number, { error, code, details }: JsonObject) {
    super(textOf(error));
    this.status = status;
    this.code = textOf(code);
    this.details = details !== undefined && isJsonObject(details) ? details : {};
    const { fields } = this.details;
    this.fields =
      fields !== undefined && isJsonArray(fields)
        ? fields.filter(isJsonObject).map(({ field, message, index }) => ({
            field: textOf(field),
            message: textOf(message),
            ...(typeof index === "number" ? { index } : {}),
          }))
        : [];
  }
}

/** The server could not be asked. */
export class Unreachable extends CommandError {
  override readonly name = "Unreachable";
}

/** Whether the server could not be asked, or cannot answer for the moment. Whoever goes on for long may try again. */
export function isAway(error: unknown): boolean {
  if (error instanceof Refused) return error.status === 503 || error.status === 429;
  return error instanceof Unreachable;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

type Headers = Readonly<Record<string, string>>;

/** How long an answer may take; a batch of thousands takes its time. */
const answerMsMax = 120_000;

export class RestClient {
  readonly #server: FoundServer;
  readonly #clock: Clock;
  #hasAnswered = false;

  constructor(server: FoundServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Where it is. */
  get url(): string {
    return this.#server.url;
  }

  get(path: string, query: Query, signal: AbortSignal): Promise<JsonObject> {
    return this.#ask("GET", path, { query }, signal);
  }

  /** The same of what may not be there, or no longer: undefined then. */
  async find(path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    try {
      return await this.get(path, {}, signal);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Without a body where `body` is undefined. */
  post(
    path: string,
    body: Json | undefined,
    signal: AbortSignal,
    query: Query = {},
  ): Promise<JsonObject> {
    return this.#ask("POST", path, { body, query }, signal);
  }

  put(path: string, body: Json, signal: AbortSignal, query: Query = {}): Promise<JsonObject> {
    return this.#ask("PUT", path, { body, query }, signal);
  }

  delete(path: string, query: Query, signal: AbortSignal): Promise<JsonObject> {
    return this.#ask("DELETE", path, { query }, signal);
  }

  /** A reply whose body is read by the caller, as it comes. Throws what every request throws. */
  async stream(
    path: string,
    { query, headers }: { readonly query: Query; readonly headers: Headers },
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send(path, query, { method: "GET", headers, signal });
    if (!response.ok) await this.#read(response);
    if (response.body === null) throw this.#strange(response);
    return response.body;
  }

  async #ask(
    method: string,
    path: string,
    { body, query }: { readonly body?: Json | undefined; readonly query: Query },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const inTime = AbortSignal.any([signal, this.#clock.timeout(answerMsMax)]);
    const sent = body === undefined ? {} : { body: writeJson(body) };
    const headers: Headers = body === undefined ? {} : { "content-type": "application/json" };
    return this.#read(await this.#send(path, query, { method, signal: inTime, headers, ...sent }));
  }

  async #send(
    path: string,
    query: Query,
    request: Omit<RequestInit, "headers" | "signal"> & {
      readonly headers: Headers;
      readonly signal: AbortSignal;
    },
  ): Promise<Response> {
    const { url, token, email } = this.#server;
    const headers: Headers = {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(email === undefined ? {} : { "x-user-email": email }),
      ...request.headers,
    };
    try {
      const at = `${url}/api/v1${path}${queryText(query)}`;
      const response = await fetch(at, { ...request, headers });
      this.#hasAnswered = true;
      return response;
    } catch (cause) {
      if (request.signal.aborted) throw this.#lateOr(cause);
      throw this.#unreachable(cause);
    }
  }

  /** The body of a reply; throws a `Refused` where it is a refusal. */
  async #read(response: Response): Promise<JsonObject> {
    let text: string;
    try {
      text = await response.text();
    } catch (cause) {
      // The connection broke off in the middle of the answer.
      if (cause instanceof TypeError) throw this.#unreachable(cause);
      throw this.#lateOr(cause);
    }
    if (response.ok && text === "") return {};
    const body = objectOf(text);
    if (response.ok && body !== undefined) return body;
    if (typeof body?.["error"] === "string" && typeof body["code"] === "string") {
      throw new Refused(response.status, body);
    }
    throw this.#strange(response);
  }

  #strange({ status, headers }: Response): CommandError {
    const type = headers.get("content-type") ?? "no content type";
    return new CommandError(
      `${this.url} does not answer as Keelson does (${status}, ${type}): is the address right?`,
    );
  }

  #lateOr(cause: unknown): unknown {
    if (!(cause instanceof DOMException) || cause.name !== "TimeoutError") return cause;
    return new CommandError(`${this.url} did not answer in ${answerMsMax / 1000} s: is it well?`, {
      cause,
    });
  }

  #unreachable(cause: unknown): Unreachable {
    const hasAnswered = this.#hasAnswered;
    return new Unreachable(unreachableText(this.url, cause, { hasAnswered }), { cause });
  }
}

function queryText(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? "" : `?${given.toString()}`;
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value = readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // Whoever answered, it was none of ours.
  }
}

/** Why nobody answers there, and what to do about it. */
export function unreachableText(url: string, error: unknown, before: Before = {}): string {
  const { reason, next } = whyUnreachable(url, error, before);
  return `${url} cannot be reached (${reason}): ${next ?? "is it running there, and is --server right?"}`;
}

/** What is known of a server from before. */
interface Before {
  /** Whether it has answered at this URL, and so speaks what the URL says. */
  readonly hasAnswered?: boolean;
}

/** Why nobody answers there, and what mends it where that is known. `fetch` says only that it failed; the socket says why. */
export function whyUnreachable(
  url: string,
  error: unknown,
  { hasAnswered = false }: Before = {},
): { readonly reason: string; readonly next?: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  const { code = "" } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return { reason: "it speaks no TLS", next: `write --server ${url.replace(/^https/, "http")}` };
  }
  if (code === "UND_ERR_SOCKET") {
    const reason = "it hung up";
    if (hasAnswered || !url.startsWith("http:")) return { reason };
    const next = `is it well? if it speaks TLS, write --server ${url.replace(/^http/, "https")}`;
    return { reason, next };
  }
  const said = cause instanceof Error && cause.message !== "" ? cause.message : String(error);
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return { reason: said, next: "give the server one that is valid now, by its --tls-cert-file" };
  }
  if (isDistrust(code)) {
    const next = "name the file of its authority in NODE_EXTRA_CA_CERTS";
    return { reason: "its certificate is not trusted", next };
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const reason = `its certificate is for ${namesOf(cause as CertificateMismatch)}`;
    return { reason, next: "write --server with a name of the certificate" };
  }
  return { reason: reasons[code] ?? said };
}

interface CertificateMismatch {
  readonly cert?: { readonly subjectaltname?: string };
}

/** Node writes them as `DNS:example.com, IP Address:127.0.0.1`. */
function namesOf({ cert }: CertificateMismatch): string {
  return cert?.subjectaltname?.replaceAll(/(DNS|IP Address):/g, "") ?? "another name";
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
};
