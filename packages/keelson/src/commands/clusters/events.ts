// `keelson cluster events`: what was told of a cluster, and what is being told.

import { isJsonObject, writeJson, type Json, type JsonObject } from "@keelson/base";
import { followEvents } from "../client/event-stream.ts";
import { Refused, type RestClient } from "../client/rest-client.ts";
import { valueText, type Output } from "../output/formats.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import { insisting } from "../watch-list.ts";
import { findOne, type FindOptions } from "./find.ts";
import { addressOf, type Kind } from "./shapes.ts";

interface Asked extends FindOptions {
  readonly kind: Kind;
  readonly output: Output;
  /** How many of the past. */
  readonly limit: number;
}

/** How many the API gives at once. */
const pageMax = 100;

/** Those of the past, newest first. */
export async function showEvents(
  session: Session,
  word: string,
  { kind, output, limit, clusterId }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const path = addressOf(kind, await findOne(client, { kind, word, clusterId }, signal));
  const events = await readHistory(client, path, { limit }, signal);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText({ events }, output));
    return;
  }
  terminal.write(new Table(columns).first(events));
}

/** Those of the past, oldest first, and then each as it comes, until `signal`, at which it throws, or until the end of it. */
export async function watchEvents(
  session: Session,
  word: string,
  { kind, output, limit, clusterId }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { client } = session;
  const found = await findOne(client, { kind, word, clusterId }, signal);
  const path = addressOf(kind, found);
  const { show, isShown } = shower(session, output);
  const past = async (isFirst: boolean): Promise<readonly JsonObject[]> => {
    const asked = isFirst ? { limit } : { limit: Infinity, isKnown: isShown };
    const ask = () => readHistory(client, path, asked, signal);
    return (isFirst ? await ask() : await insisting(session, ask, signal)).toReversed();
  };
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const batch of followEvents(session, { path }, signal)) {
        // The first is empty: the stream is open, and whatever the past does not hold yet is in one of the next.
        const isOpened = batch.length === 0;
        const isAnew = isOpened || batch.some(({ type }) => type === "reset");
        const events = isAnew
          ? await past(isFirst && isOpened)
          : batch.map(({ data }) => data).filter(isTold);
        await show(events);
        if (events.some(({ type }) => type === `${kind.noun}.finalized`)) return;
      }
    } catch (error) {
      // Away for so long that the stream does not reach back: the history does.
      if (!(error instanceof Refused) || error.code !== "POSITION_EXPIRED") throw error;
    }
  }
}

/** The first frame of a stream says only that it is ready. */
function isTold({ id }: JsonObject): boolean {
  return typeof id === "string";
}

/** Shows each once. */
function shower({ terminal }: Pick<Session, "terminal">, output: Output) {
  const table = new Table(columns);
  const shown = new Set<string>();
  let isEmpty = true;
  const isShown = ({ id }: JsonObject): boolean => shown.has(textOf(id));
  const show = async (events: readonly JsonObject[]): Promise<void> => {
    const fresh = events.filter((one) => !isShown(one));
    for (const { id } of fresh) shown.add(textOf(id));
    // Enough to know again what the history and the stream both hold.
    for (const id of shown) {
      if (shown.size <= rememberedMax) break;
      shown.delete(id);
    }
    if (fresh.length === 0) return;
    if (output === "json") terminal.write(fresh.map((one) => `${writeJson(one)}\n`).join(""));
    else if (output === "yaml") {
      for (const one of fresh) terminal.write(`---\n${await valueText(one, "yaml")}`);
    } else {
      terminal.write(isEmpty ? table.first(fresh) : table.more(fresh));
      isEmpty = false;
    }
  };
  return { show, isShown };
}

const rememberedMax = 10_000;

/** The newest `limit`, or as far back as to one that is known. */
export async function readHistory(
  client: RestClient,
  path: string,
  {
    limit,
    isKnown = () => false,
  }: { readonly limit: number; readonly isKnown?: (event: JsonObject) => boolean },
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (let before: number | undefined; found.length < limit;) {
    const query = { limit: Math.min(pageMax, limit - found.length), before };
    const page = (await client.get(`${path}/events`, query, signal)) as unknown as {
      readonly events: readonly JsonObject[];
      readonly next: number | null;
    };
    found.push(...page.events);
    if (page.next === null || page.events.some(isKnown)) break;
    before = page.next;
  }
  return found;
}

const columns: readonly Column<JsonObject>[] = [
  { heading: "TIME", of: ({ timestamp }) => textOf(timestamp) },
  { heading: "TYPE", of: ({ type }) => textOf(type) },
  { heading: "GENERATION", of: ({ generation }) => textOf(generation) },
  { heading: "REASON", of: ({ reason }) => textOf(reason) },
  {
    heading: "BY",
    of: ({ user }) => (user !== undefined && isJsonObject(user) ? textOf(user["email"]) : "-"),
  },
  { heading: "MORE", of: moreOf },
];

/** Who has reported, whom a deletion waits for, or from which phase to which. */
function moreOf({ metadata }: JsonObject): string {
  if (metadata === undefined || !isJsonObject(metadata)) return "";
  const { controller_name: controller, finalizers, from, to } = metadata;
  if (typeof controller === "string") return controller;
  if (Array.isArray(finalizers)) return `waits for ${finalizers.map(textOf).join(", ")}`;
  return typeof to === "string" ? `${typeof from === "string" ? from : "-"} → ${to}` : "";
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "-";
}
