// Where a case runs: a namespace of its own on a server, and a record of everything it was answered.

import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import {
  isJsonArray,
  isJsonObject,
  readJson,
  writeJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import { patchTypes, type PatchType, type ProtobufCodec } from "@keelson/kube";

import type { Subject } from "../tools/certificates.ts";
import { answerOf, headersOf, observe, type Answer } from "./answer.ts";
import { Normaliser } from "./normalise.ts";
import type { Target } from "./target.ts";
import { Wire, type WireRequest } from "../tools/wire.ts";
import { textOf } from "./text-of.ts";

/** Below the time that a case has, so that it says what it waited for. */
const untilMs = 150_000;
const eventMs = 150_000;

/** One step of a case: what was asked, and the normalised answer. */
export interface Observation {
  readonly step: string;
  readonly answer: Json;
  /** What was sent, for people. */
  readonly sent?: string;
}

export type Extra = Pick<WireRequest, "headers">;

/** Whom to be: a user with a certificate, somebody with a token, or nobody. */
export type Identity = Subject | { readonly token: string } | "nobody";

export interface LabOptions {
  readonly target: Target;
  readonly namespace: string;
  /** Part of every name at the cluster's level, so that cases do not meet. */
  readonly id: string;
  readonly codec: ProtobufCodec;
  readonly signal: AbortSignal;
}

export class Lab implements Disposable {
  readonly ns: string;
  readonly id: string;
  readonly codec: ProtobufCodec;
  readonly signal: AbortSignal;
  readonly observations: Observation[];
  readonly #target: Target;
  readonly #wire: Wire;
  readonly #normaliser: Normaliser;
  readonly #resources = new DisposableStack();

  constructor(options: LabOptions, shared?: { readonly lab: Lab; readonly wire: Wire }) {
    this.ns = options.namespace;
    this.id = options.id;
    this.codec = options.codec;
    this.signal = options.signal;
    this.#target = options.target;
    const { url, ca, admin } = options.target;
    const { certificate, key } = admin;
    this.#wire = shared?.wire ?? new Wire({ url, ca, certificate, key });
    this.#resources.use(this.#wire);
    this.observations = shared === undefined ? [] : shared.lab.observations;
    this.#normaliser = shared === undefined ? new Normaliser() : shared.lab.#normaliser;
  }

  /** The path of a resource of the core group in the case's namespace. */
  core(plural: string, name?: string): string {
    return `/api/v1/namespaces/${this.ns}/${plural}${name === undefined ? "" : `/${name}`}`;
  }

  /** The path of a resource of a group, `apps/v1`, in the case's namespace. */
  group(groupVersion: string, plural: string, name?: string): string {
    const path = `/apis/${groupVersion}/namespaces/${this.ns}/${plural}`;
    return name === undefined ? path : `${path}/${name}`;
  }

  async get(path: string, extra: Extra = {}): Promise<Answer> {
    return await this.send({ path, ...extra });
  }

  async post(path: string, body: WireRequest["body"], extra: Extra = {}): Promise<Answer> {
    return await this.send({
      method: "POST",
      path,
      ...(body === undefined ? {} : { body }),
      ...extra,
    });
  }

  async put(path: string, body: WireRequest["body"], extra: Extra = {}): Promise<Answer> {
    return await this.send({
      method: "PUT",
      path,
      ...(body === undefined ? {} : { body }),
      ...extra,
    });
  }

  async patch(
    type: PatchType,
    path: string,
    body: Json | Buffer,
    extra: Extra = {},
  ): Promise<Answer> {
    const headers = { "content-type": patchTypes[type], ...extra.headers };
    return await this.send({ method: "PATCH", path, body, headers });
  }

  async delete(path: string, body?: WireRequest["body"], extra: Extra = {}): Promise<Answer> {
    return await this.send({
      method: "DELETE",
      path,
      ...(body === undefined ? {} : { body }),
      ...extra,
    });
  }

  /** Sends a request and records the answer. */
  async send(request: WireRequest): Promise<Answer> {
    const raw = await this.#wire.send(request, this.signal);
    const answer = answerOf(raw, this.codec);
    const { status, headers, body } = observe(raw, answer);
    const answered = { status, headers: headers as JsonObject, body };
    this.#record(stepOf(request), answered, sentText(request.body));
    return answer;
  }

  /** Sends a request of which only the status counts. */
  async statusOf(request: WireRequest): Promise<Answer> {
    const answer = await this.quietly(request);
    this.#record(stepOf(request), answer.status);
    return answer;
  }

  /** Sends a request that is preparation: its answer is not compared. */
  async quietly(request: WireRequest): Promise<Answer> {
    return answerOf(await this.#wire.send(request, this.signal), this.codec);
  }

  /** Preparation that has to succeed. */
  async must(request: WireRequest): Promise<Answer> {
    const answer = await this.quietly(request);
    if (!answer.isAccepted) {
      throw new Error(`${stepOf(request)} answered ${answer.status} ${answer.text.slice(0, 500)}`);
    }
    return answer;
  }

  /** Creates an object, as preparation. */
  async create(path: string, body: Json): Promise<Answer> {
    return await this.must({ method: "POST", path, body });
  }

  /** Changes an object by a merge patch, as preparation. */
  async mustPatch(path: string, body: Json): Promise<Answer> {
    const headers = { "content-type": patchTypes.merge };
    return await this.must({ method: "PATCH", path, body, headers });
  }

  /** Waits until a cache, which a real server asks for version zero, has everything of a collection, as preparation. */
  async untilCached(collection: string): Promise<void> {
    const { version } = await this.must({ path: collection });
    const match = "resourceVersionMatch=NotOlderThan";
    await this.must({ path: `${collection}?resourceVersion=${version}&${match}` });
  }

  /** Records something the case has found out. */
  note(what: string, fact: Json): void {
    this.#record(what, fact);
  }

  /** Asks until the answer is as wanted, and records that one. If it never is the last is recorded, and the case breaks. */
  async until(
    path: string,
    isWanted: (answer: Answer) => boolean,
    extra: Extra = {},
  ): Promise<Answer> {
    const deadline = performance.now() + untilMs;
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
      const raw = await this.#wire.send({ path, ...extra }, this.signal);
      const answer = answerOf(raw, this.codec);
      const isThere = isWanted(answer);
      if (isThere || performance.now() > deadline) {
        const { status, headers, body } = observe(raw, answer);
        const step = `until ${path}`;
        this.#record(step, { status, headers: headers as JsonObject, body });
        // Not a difference alone: two servers that are waited for in vain are alike.
        if (!isThere) throw new Error(`waited ${untilMs / 1_000} s in vain: ${step}`);
        return answer;
      }
      await wait(pauseMs, undefined, { signal: this.signal });
    }
  }

  /** Opens a watch; what its head says is recorded. */
  async watch(path: string, extra: Extra = {}): Promise<Watch> {
    const watch = await Watch.open(this.#wire, { path, ...extra }, this.signal);
    this.#resources.use(watch);
    this.#record(`watch ${path}`, watch.head);
    return watch;
  }

  /** Waits for so many events of a watch and records them. If they do not come, and no end either, the case breaks. */
  async events(watch: Watch, count: number): Promise<readonly WatchEvent[]> {
    const events = await watch.take(count);
    this.#record(
      `${count} events`,
      events.map(({ json }) => bookmarkless(json)),
    );
    if (events.length < count && !watch.hasEnded) {
      const came = `${events.length} of ${count} events came`;
      throw new Error(`waited ${eventMs / 1_000} s in vain: ${came}`);
    }
    return events;
  }

  /** Waits for the end of a watch and records what came until then. If it does not end the case breaks. */
  async rest(watch: Watch): Promise<readonly WatchEvent[]> {
    const events = await watch.take(Infinity);
    this.#record("events until the end", [
      ...events.map(({ json }) => bookmarkless(json)),
      watch.hasEnded ? "end" : "still open",
    ]);
    if (!watch.hasEnded) {
      const came = `after ${events.length} events the watch did not end`;
      throw new Error(`waited ${eventMs / 1_000} s in vain: ${came}`);
    }
    return events;
  }

  /** The same case in the hands of somebody else. */
  async as(identity: Identity): Promise<Lab> {
    const target = this.#target;
    const credentials =
      identity === "nobody" ? {} : "token" in identity ? identity : await target.issue(identity);
    const wire = new Wire({ url: target.url, ca: target.ca, ...credentials });
    const { ns: namespace, id, codec, signal } = this;
    return this.#resources.use(
      new Lab({ target, namespace, id, codec, signal }, { lab: this, wire }),
    );
  }

  get adminToken(): string {
    return this.#target.admin.token;
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
  }

  #record(step: string, answer: Json, sent = ""): void {
    const text = this.#normaliser.text(step).replaceAll(/continue=[^&]+/g, "continue=…");
    const stable = text.replaceAll(/(resourceVersion=)[1-9]\d*/g, "$1N");
    const normalised =
      typeof answer === "string"
        ? this.#normaliser.text(answer)
        : this.#normaliser.normalise(answer);
    this.observations.push({
      step: stable,
      answer: normalised,
      ...(sent === "" ? {} : { sent }),
    });
  }
}

export interface WatchEvent {
  readonly type: string;
  readonly json: Json;
  readonly version: string;
}

/** An open watch: its events in order, read when somebody asks. */
export class Watch implements Disposable {
  readonly head: JsonObject;
  readonly #lines: AsyncIterator<string>;
  readonly #stop: AbortController;
  #pending: Promise<IteratorResult<string>> | undefined;
  #ended = false;
  #sawBookmark = false;

  private constructor(head: JsonObject, lines: AsyncIterator<string>, stop: AbortController) {
    this.head = head;
    this.#lines = lines;
    this.#stop = stop;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Whether any bookmark has been read, also of those that are not handed out. */
  get sawBookmark(): boolean {
    return this.#sawBookmark;
  }

  static async open(wire: Wire, request: WireRequest, signal: AbortSignal): Promise<Watch> {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const incoming = await wire.open(request, either);
    incoming.on("error", () => undefined);
    const head: MutableJsonObject = {
      status: incoming.statusCode ?? 0,
      headers: headersOf(incoming) as MutableJsonObject,
    };
    const lines = createInterface(incoming);
    lines.on("error", () => undefined);
    return new Watch(head, lines[Symbol.asyncIterator](), stop);
  }

  /** The next events, fewer if they do not come in time or the watch ends. */
  async take(count: number): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count && !this.#ended) {
      this.#pending ??= this.#lines.next().catch(() => ({ done: true, value: undefined }));
      const late = new AbortController();
      const next = await Promise.race([
        this.#pending,
        wait(eventMs, "late" as const, { signal: late.signal }).catch(() => "late" as const),
      ]);
      late.abort();
      if (next === "late") break;
      this.#pending = undefined;
      if (next.done === true) this.#ended = true;
      else if (next.value !== "") {
        const event = eventOf(next.value);
        this.#sawBookmark ||= event.type === "BOOKMARK";
        if (!isOfServer(event.json) && !isPlainBookmark(event.json)) events.push(event);
      }
    }
    return events;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

function eventOf(line: string): WatchEvent {
  try {
    const json = readJson(line);
    const { type, object } = isJsonObject(json) ? json : {};
    const metadata = isJsonObject(object) ? object["metadata"] : undefined;
    const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
    return { type: textOf(type), json, version: typeof version === "string" ? version : "" };
  } catch {
    return { type: "unreadable", json: line, version: "" };
  }
}

function isOfServer(json: Json): boolean {
  if (!isJsonObject(json) || !isJsonObject(json["object"])) return false;
  const { metadata } = json["object"];
  return isJsonObject(metadata) && metadata["name"] === "kube-root-ca.crt";
}

/** When these come is chance; that they are right is asserted elsewhere. In a table the row has the mark. */
function isPlainBookmark(json: Json): boolean {
  if (!isJsonObject(json) || json["type"] !== "BOOKMARK" || !isJsonObject(json["object"]))
    return false;
  const rows = json["object"]["rows"];
  return [json["object"], ...(isJsonArray(rows) ? rows.map(objectOfRow) : [])].every((object) => {
    const metadata = isJsonObject(object) ? object["metadata"] : undefined;
    return !isJsonObject(metadata) || metadata["annotations"] === undefined;
  });
}

function objectOfRow(row: Json): Json | undefined {
  return isJsonObject(row) ? row["object"] : undefined;
}

/** A bookmark's version is the whole store's, which others write to as well. */
function bookmarkless(json: Json): Json {
  if (!isJsonObject(json) || json["type"] !== "BOOKMARK" || !isJsonObject(json["object"]))
    return json;
  return { ...json, object: withoutVersion(json["object"]) };
}

function withoutVersion(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const isVersion = /^[1-9]\d*$/.test(textOf(metadata["resourceVersion"]));
  const resourceVersion = isVersion ? "<bookmark>" : (metadata["resourceVersion"] ?? null);
  const rows = object["rows"];
  return {
    ...object,
    metadata: { ...metadata, resourceVersion },
    ...(isJsonArray(rows) ? { rows: rows.map(rowWithoutVersion) } : {}),
  };
}

/** Its first cells are those of an object without a name; its object has the version again. */
function rowWithoutVersion(row: Json): Json {
  const object = objectOfRow(row);
  if (!isJsonObject(row) || !isJsonObject(object)) return row;
  return { ...row, object: withoutVersion(object) };
}

const sentMax = 4_000;

function sentText(body: WireRequest["body"]): string {
  if (body === undefined || Buffer.isBuffer(body)) return "";
  return (typeof body === "string" ? body : writeJson(body)).slice(0, sentMax);
}

function stepOf({ method = "GET", path, headers }: WireRequest): string {
  const type = headers?.["content-type"];
  const short = typeof type === "string" ? ` (${type.replace(/^application\//, "")})` : "";
  const shownPath = path.length > 300 ? `${path.slice(0, 300)}…` : path;
  return `${method} ${shownPath}${short}`;
}
