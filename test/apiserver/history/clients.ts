// Clients of a history over HTTP: they write, read, list and watch, and record both ends of everything.

import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { isJsonObject, seededRandom, type Json, type Random } from "@keelson/base";

import type {
  Answer,
  Call,
  ErrorFact,
  ItemFact,
  KeyFact,
  LabelFact,
  Recorder,
  RowFact,
  ScopeFact,
} from "../../simulation/history.ts";
import { keyText } from "../../simulation/history.ts";
import type { Target } from "../target.ts";
import { Wire, type WireRequest } from "../../tools/wire.ts";
import { bodyFact, names, namespaces, rowFactOf, type HistoryObjects } from "./pod-templates.ts";
import { textOf } from "../text-of.ts";

export interface ClientsOptions {
  readonly seed: string;
  /** By name; a server keeps its name when it is started again. */
  readonly servers: ReadonlyMap<string, Pick<Target, "url" | "ca" | "admin">>;
  readonly objects: HistoryObjects;
  readonly recorder: Recorder;
  readonly writers: number;
}

/** For the last write, and for everybody to be told of it. */
const patienceMs = 240_000;
/** How often whoever finds no server asks again. */
const knockMs = 500;

/** Everybody who talks to the servers, until they are told to stop. */
export class Clients implements Disposable {
  readonly #options: ClientsOptions;
  readonly #wires: ReadonlyMap<string, Wire>;
  readonly #seen = new Map<string, RowFact>();
  readonly #stop = new AbortController();
  #absence = new AbortController();
  readonly #positions = new Map<string, number>();
  #isFinishing = false;
  #answers = 0;
  #acknowledged = 0;
  #count = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#wires = new Map(
      [...options.servers].map(([name, { url, ca, admin }]) => [
        name,
        new Wire({ url, ca, certificate: admin.certificate, key: admin.key }),
      ]),
    );
  }

  get answers(): number {
    return this.#answers;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Writes and reads until `finish`. */
  async run(): Promise<void> {
    const { writers, seed } = this.#options;
    await Promise.all(
      Array.from(
        { length: writers },
        async (_, index) => await this.#work(seededRandom(`${seed}/${index}`)),
      ),
    );
  }

  finish(): void {
    this.#isFinishing = true;
  }

  /** A server is back: whoever found it gone asks again at once. */
  hurry(): void {
    this.#absence.abort();
    this.#absence = new AbortController();
  }

  /** Watches of every sort on every server, taken up again whenever they end. */
  async watch(): Promise<void> {
    const { kind } = this.#options.objects;
    const plans: readonly {
      readonly id: string;
      readonly scope: ScopeFact;
      readonly selector?: LabelFact;
      readonly from: "state" | 0;
      readonly pace: "fast" | "slow";
    }[] = [
      { id: "all", scope: { kind, namespace: "" }, from: "state", pace: "fast" },
      { id: "slow", scope: { kind, namespace: "" }, from: "state", pace: "slow" },
      {
        id: "selected",
        scope: { kind, namespace: "" },
        selector: { label: "app", value: "x" },
        from: "state",
        pace: "fast",
      },
      { id: "blue", scope: { kind, namespace: "blue" }, from: "state", pace: "fast" },
    ];
    await Promise.all(
      [...this.#wires].flatMap(([server, wire]) =>
        plans.map(
          async (plan) =>
            await this.#keepWatching(server, wire, { ...plan, id: `${plan.id} ${server}` }),
        ),
      ),
    );
  }

  /** Writes what every watch is told, as the last of all, and answers its revision. */
  async mark(): Promise<number> {
    const key: KeyFact = { kind: this.#options.objects.kind, namespace: "blue", name: "mark" };
    const [[server, wire] = []] = this.#wires;
    if (server === undefined || wire === undefined) throw new Error("there are no servers");
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      await this.#perform({ op: "create", key, body: bodyFact("mark", "x") }, server, wire);
      // One that nobody has answered may be there.
      await this.#perform({ op: "get", key }, server, wire);
      const row = this.#seen.get(keyText(key));
      if (row !== undefined) return row.revision;
    }
    throw new Error("nobody took the last write");
  }

  /** Waits until every watch has come as far as `mark`, or for long enough; then says that they are quiet at `head`. */
  async settle({ mark, head }: { readonly mark: number; readonly head: number }): Promise<void> {
    const deadline = performance.now() + patienceMs;
    // Not until they know the head: what others write last of all a watch learns by its next bookmark, within a minute.
    while (
      [...this.#positions.values()].some((position) => position < mark) &&
      performance.now() < deadline
    )
      await wait(20);
    for (const watch of this.#open) this.#options.recorder.record({ type: "quiet", watch, head });
    this.#end();
  }

  [Symbol.dispose](): void {
    this.#isFinishing = true;
    this.#end();
    for (const wire of this.#wires.values()) wire[Symbol.dispose]();
  }

  readonly #open = new Set<string>();

  #end(): void {
    this.#stop.abort();
    this.hurry();
  }

  /** Knocking all the time at a server that is starting takes from it what it starts with. */
  async #waitForServer(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await wait(knockMs, undefined, { signal: this.#absence.signal }).catch(() => undefined);
  }

  async #work(random: Random): Promise<void> {
    while (!this.#isFinishing && !this.#stop.signal.aborted) {
      const dice = random.float();
      const [server, wire] = random.pick([...this.#wires]);
      if (dice < 0.65) await this.#write(random, server, wire);
      else if (dice < 0.9) await this.#perform({ op: "get", key: this.#key(random) }, server, wire);
      else await this.#list(random, server, wire);
    }
  }

  async #write(random: Random, server: string, wire: Wire): Promise<void> {
    const target = this.#key(random);
    const seen = this.#seen.get(keyText(target));
    const dice = random.float();
    const body = bodyFact(`w${++this.#count}`, random.pick(["x", "y", undefined]));
    if (seen === undefined || dice < 0.15) {
      await this.#perform({ op: "create", key: target, body }, server, wire);
      return;
    }
    const { revision, uid } = seen;
    if (dice < 0.3) {
      const expect = random.pick([{}, { revision }, { revision, uid }, { uid }]);
      await this.#perform({ op: "delete", key: target, expect }, server, wire);
      return;
    }
    await this.#perform(
      { op: "update", key: target, body: dice < 0.4 ? seen.body : body, expect: { revision } },
      server,
      wire,
    );
  }

  async #list(random: Random, server: string, wire: Wire): Promise<void> {
    const scope = { kind: this.#options.objects.kind, namespace: random.pick(["", ...namespaces]) };
    const limit = random.pick([undefined, 2, 3]);
    let [after, token]: [string | undefined, string] = [undefined, ""];
    for (;;) {
      const call: Call = {
        op: "list",
        scope,
        ...(limit === undefined ? {} : { limit }),
        ...(after === undefined ? {} : { after }),
      };
      const { id, next } = await this.#perform(call, server, wire, token);
      if (next === "" || this.#stop.signal.aborted) return;
      [after, token] = [id, next];
    }
  }

  async #perform(
    call: Call,
    server: string,
    wire: Wire,
    token = "",
  ): Promise<{ readonly id: string; readonly next: string }> {
    const { recorder, objects } = this.#options;
    const id = `c${++this.#count}`;
    recorder.record({ type: "call", id, replica: server, call });
    try {
      const { status, bytes } = await wire.send(requestOf(objects, call, token), this.#stop.signal);
      const body = JSON.parse(bytes.toString("utf8")) as Json;
      const answer = await answerOf(objects, call, { status, body });
      recorder.record({ type: "answer", id, answer });
      this.#answers += 1;
      if (answer.type === "row" && call.op !== "get") this.#acknowledged += 1;
      this.#learn(call, answer);
      if (answer.type === "error" && answer.code === "Unavailable")
        await wait(20, undefined, { signal: this.#stop.signal });
      const { metadata } = body as { metadata?: { continue?: string } };
      return { id, next: answer.type === "page" ? (metadata?.continue ?? "") : "" };
    } catch {
      // Nobody knows what became of it. The server is gone, or we are stopping.
      await this.#waitForServer();
      return { id, next: "" };
    }
  }

  #learn(call: Call, answer: Answer): void {
    if (answer.type === "page")
      for (const row of answer.items) this.#seen.set(keyText(row.key), row);
    if (!("key" in call)) return;
    const isGone = answer.type === "error" && answer.code === "NotFound";
    if (isGone || (call.op === "delete" && answer.type === "row"))
      this.#seen.delete(keyText(call.key));
    else if (answer.type === "row") this.#seen.set(keyText(call.key), answer.row);
  }

  async #keepWatching(
    server: string,
    wire: Wire,
    plan: {
      readonly id: string;
      readonly scope: ScopeFact;
      readonly selector?: LabelFact;
      readonly from: "state" | 0;
      readonly pace: "fast" | "slow";
    },
  ): Promise<void> {
    this.#positions.set(plan.id, 0);
    let from: number | "state" = "state";
    for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
      const { next, isBroken } = await this.#watchOnce(server, wire, { ...plan, from, turn });
      from = next;
      if (isBroken) await this.#waitForServer();
      else await wait(20, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  #key(random: Random): KeyFact {
    const { kind } = this.#options.objects;
    return { kind, namespace: random.pick(namespaces), name: random.pick(names) };
  }

  /** Reads one stream to its end and answers where to go on. */
  async #watchOnce(
    server: string,
    wire: Wire,
    plan: {
      readonly id: string;
      readonly scope: ScopeFact;
      readonly selector?: LabelFact;
      readonly from: number | "state";
      readonly pace: "fast" | "slow";
      readonly turn: number;
    },
  ): Promise<{ readonly next: number | "state"; readonly isBroken: boolean }> {
    const { recorder } = this.#options;
    const { scope, selector, from, pace } = plan;
    const watch = `${plan.id}.${plan.turn}`;
    let isComplete = from !== "state";
    let position = from === "state" ? 0 : from;
    const query = [
      "watch=1&allowWatchBookmarks=true",
      from === "state"
        ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        : `resourceVersion=${from}`,
      selector === undefined ? "" : `labelSelector=${selector.label}%3D${selector.value}`,
    ].filter((part) => part !== "");
    recorder.record({
      type: "watch",
      watch,
      replica: server,
      scope,
      ...(selector === undefined ? {} : { selector }),
      from,
      hasBookmarks: true,
      initialEventsEnd: from === "state",
      pace,
    });
    let error: ErrorFact | undefined;
    let isBroken = false;
    try {
      const incoming = await wire.open(
        { path: `${this.#options.objects.collectionOf(scope.namespace)}?${query.join("&")}` },
        this.#stop.signal,
      );
      if (incoming.statusCode !== 200) {
        incoming.resume();
        error = {
          code:
            incoming.statusCode === 503 || incoming.statusCode === 429
              ? "Unavailable"
              : `HTTP ${incoming.statusCode}`,
          message: "",
        };
      } else {
        recorder.record({ type: "watching", watch });
        this.#open.add(watch);
        for await (const line of createInterface(incoming)) {
          const event = JSON.parse(line) as { type: string; object: Json };
          if (event.type === "ERROR") {
            const { reason, message } = event.object as { reason?: string; message?: string };
            error = {
              code: reason === "ServiceUnavailable" ? "Unavailable" : (reason ?? "Error"),
              message: message ?? "",
            };
            break;
          }
          const item = itemOf(this.#options.objects, event);
          recorder.record({ type: "items", watch, items: [item] });
          isComplete ||= item.type === "BOOKMARK" && item.initialEventsEnd;
          if (isComplete) {
            position = item.revision;
            this.#positions.set(plan.id, position);
          }
          if (pace === "slow" && !this.#isFinishing)
            await wait(5, undefined, { signal: this.#stop.signal });
        }
      }
    } catch {
      isBroken = true; // Whatever had not come by then comes again.
    }
    this.#open.delete(watch);
    recorder.record({
      type: "ended",
      watch,
      position: isComplete ? position : 0,
      ...(error === undefined ? {} : { error }),
    });
    const next = error?.code === "Expired" || !isComplete ? "state" : position;
    return { next, isBroken };
  }
}

function requestOf(
  { collectionOf, objectOf }: HistoryObjects,
  call: Call,
  token: string,
): WireRequest {
  switch (call.op) {
    case "create":
      return {
        method: "POST",
        path: collectionOf(call.key.namespace),
        body: objectOf(call.key, call.body),
      };
    case "update":
      return {
        method: "PUT",
        path: `${collectionOf(call.key.namespace)}/${call.key.name}`,
        body: objectOf(call.key, call.body, call.expect.revision),
      };
    case "delete": {
      const { revision, uid } = call.expect;
      const preconditions = {
        ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
        ...(uid === undefined ? {} : { uid }),
      };
      return {
        method: "DELETE",
        path: `${collectionOf(call.key.namespace)}/${call.key.name}`,
        body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
      };
    }
    case "get":
      return { path: `${collectionOf(call.key.namespace)}/${call.key.name}` };
    case "list":
      return {
        path: `${collectionOf(call.scope.namespace)}?limit=${call.limit ?? 0}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`,
      };
    case "cut":
      throw new Error("nobody cuts over HTTP");
  }
}

const codes: Readonly<Record<string, string>> = {
  ServiceUnavailable: "Unavailable",
  TooManyRequests: "Unavailable",
  Timeout: "Unavailable",
};

async function answerOf(
  { kind, deleted }: HistoryObjects,
  call: Call,
  { status, body }: { readonly status: number; readonly body: Json },
): Promise<Answer> {
  if (!isJsonObject(body)) return { type: "error", code: `HTTP ${status}`, message: "" };
  if (status >= 300) {
    const reason = typeof body["reason"] === "string" ? body["reason"] : `HTTP ${status}`;
    return {
      type: "error",
      code: codes[reason] ?? reason,
      message: textOf(body["message"]),
      actual: "untold",
    };
  }
  if (call.op === "delete" && deleted !== undefined) {
    return { type: "row", row: await deleted(call.key, body) };
  }
  if (call.op !== "list") return { type: "row", row: rowFactOf(body, kind) };
  const { metadata, items } = body as {
    metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
    items: readonly Json[];
  };
  return {
    type: "page",
    revision: Number(metadata.resourceVersion),
    items: items.map((item) => rowFactOf(item, kind)),
    hasMore: (metadata.continue ?? "") !== "",
    ...(metadata.remainingItemCount === undefined
      ? {}
      : { remaining: metadata.remainingItemCount }),
  };
}

function itemOf(
  { kind }: HistoryObjects,
  { type, object }: { readonly type: string; readonly object: Json },
): ItemFact {
  if (type === "BOOKMARK") {
    const { metadata } = object as {
      metadata: { resourceVersion: string; annotations?: Record<string, string> };
    };
    const initialEventsEnd = metadata.annotations?.["k8s.io/initial-events-end"] === "true";
    return { type, revision: Number(metadata.resourceVersion), initialEventsEnd };
  }
  return { type: type as "ADDED" | "MODIFIED" | "DELETED", ...rowFactOf(object, kind) };
}
