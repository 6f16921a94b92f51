// Calls the store and records what it was asked and what it answered.

import type * as store from "@keelson/store";
import type { Cursor, Row, Store } from "@keelson/store";
import {
  type Answer,
  type Call,
  type ErrorFact,
  type LabelFact,
  type Recorder,
  type RowFact,
} from "./history.ts";

/** The store under test: the package itself, or a copy with a planted bug. */
export type StoreModule = typeof store;

export interface ClientOptions {
  readonly store: Store;
  readonly module: StoreModule;
  readonly recorder: Recorder;
  /** The replica that `store` is. */
  readonly replica: string;
}

/** One answered call; `next` is where its list goes on. */
export interface Performed {
  readonly answer: Answer;
  readonly next?: Cursor;
}

/** Makes the call and records both ends of it. Never throws. */
export async function perform(
  options: ClientOptions,
  request: { readonly id: string; readonly call: Call; readonly cursor?: Cursor },
  signal: AbortSignal,
): Promise<Performed> {
  const { recorder, replica } = options;
  const { id, call } = request;
  recorder.record({ type: "call", id, replica, call });
  let performed: Performed;
  try {
    performed = await run(options, request, signal);
  } catch (error) {
    performed = { answer: { type: "error", ...errorFact(error, signal) } };
  }
  recorder.record({ type: "answer", id, answer: performed.answer });
  return performed;
}

async function run(
  { store, module }: ClientOptions,
  { call, cursor }: { readonly call: Call; readonly cursor?: Cursor },
  signal: AbortSignal,
): Promise<Performed> {
  const { Body } = module;
  switch (call.op) {
    case "create":
      return answered(await store.create(call.key, Body.parse(call.body), signal));
    case "update": {
      const { expect } = call;
      return answered(
        await store.update(call.key, { body: Body.parse(call.body), expect }, signal),
      );
    }
    case "delete": {
      const final = call.final === undefined ? {} : { final: Body.parse(call.final) };
      return answered(await store.delete(call.key, { expect: call.expect, ...final }, signal));
    }
    case "get":
      return answered(await store.get(call.key, signal));
    case "list": {
      const { scope, limit, exact } = call;
      const page = await store.list(
        scope,
        {
          ...(call.selector === undefined ? {} : { selector: selectorOf(call.selector) }),
          ...(limit === undefined ? {} : { limit }),
          ...(exact === undefined ? {} : { revision: exact, match: "exact" as const }),
          ...(cursor === undefined ? {} : { continue: cursor }),
        },
        signal,
      );
      const { revision, remaining } = page;
      const answer: Answer = {
        type: "page",
        revision,
        items: page.items.map(rowFact),
        hasMore: page.continue !== undefined,
        ...(remaining === undefined ? {} : { remaining }),
      };
      return page.continue === undefined ? { answer } : { answer, next: page.continue };
    }
    case "cut":
      await store.compact(call.upTo, signal);
      return { answer: { type: "cut", ...(await store.bounds(signal)) } };
  }
}

export function selectorOf({ label, value }: LabelFact) {
  return { labels: [{ key: label, operator: "In" as const, values: [value] }] };
}

function rowFact({ key, uid, revision, body }: Row): RowFact {
  return { key, uid, revision, body: body.text };
}

export function errorFact(error: unknown, signal: AbortSignal): ErrorFact {
  if (signal.aborted && error === signal.reason) return { code: "Aborted", message: String(error) };
  if (!(error instanceof Error)) return { code: "Error", message: String(error) };
  const { code, actual } = error as { code?: string; actual?: { revision: number; uid: string } };
  return {
    code: code ?? error.name,
    message: error.message,
    ...(actual === undefined ? {} : { actual }),
  };
}

function answered(row: Row): Performed {
  return { answer: { type: "row", row: rowFact(row) } };
}
