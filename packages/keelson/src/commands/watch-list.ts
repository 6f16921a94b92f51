// What every `get --watch` does: asks until there is an answer, and shows of a list what is new in it.

import { Backoff, jsonEqual, systemRandom, writeJson, type Json } from "@keelson/base";
import { isAway } from "./client/rest-client.ts";
import { valueText, type Output } from "./output/formats.ts";
import { Table, type Column } from "./output/table.ts";
import type { Session } from "./session.ts";

/** Asks until there is an answer: a server that is away comes back, and the stream of events with it. */
export async function insisting<T>(
  { clock }: Session,
  ask: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const backoff = new Backoff({ initialMs: 250, maxMs: 10_000, random: systemRandom });
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error)) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}

export interface ShowerOptions<Row extends { readonly id: number | string }> {
  readonly output: Output;
  readonly columns: readonly Column<Row>[];
  readonly nameOf: (row: Row) => string;
  /** What was shown last of each, by id. */
  readonly shown: Map<Row["id"], Row>;
  /** What programs see of a row; all of it unless told. */
  readonly bodyOf?: (row: Row) => object;
  /** What of a row has to differ for it to be shown again; anything unless told. */
  readonly changeOf?: (row: Row) => object;
}

/** Shows of a list what was not shown before, and remembers it in `shown`. */
export function shower<Row extends { readonly id: number | string }>(
  { terminal }: Session,
  {
    output,
    columns,
    nameOf,
    shown,
    bodyOf = (row) => row,
    changeOf = (row) => row,
  }: ShowerOptions<Row>,
) {
  const table = new Table(columns);
  let isEmpty = true;
  return async (rows: readonly Row[]): Promise<void> => {
    const fresh = rows.filter((one) => {
      const before = shown.get(one.id);
      return before === undefined || !jsonEqual(asJson(changeOf(before)), asJson(changeOf(one)));
    });
    for (const one of fresh) shown.set(one.id, one);
    if (fresh.length === 0) return;
    if (output === "name") terminal.write(fresh.map((one) => `${nameOf(one)}\n`).join(""));
    else if (output === "json") {
      terminal.write(fresh.map((one) => `${writeJson(asJson(bodyOf(one)))}\n`).join(""));
    } else if (output === "yaml") {
      for (const one of fresh)
        terminal.write(`---\n${await valueText(asJson(bodyOf(one)), "yaml")}`);
    } else {
      terminal.write(isEmpty ? table.first(fresh) : table.more(fresh));
      isEmpty = false;
    }
  };
}

/** How often a list that has no events is asked for. */
const askMs = 1_000;

/** Shows a list, and then what changes in it, by asking again and again, until `signal`, at which it throws. */
export async function watchByAsking<Row extends { readonly id: number | string }>(
  session: Session,
  {
    ask,
    goneOf,
    ...options
  }: Omit<ShowerOptions<Row>, "shown"> & {
    readonly ask: () => Promise<readonly Row[]>;
    /** The last that is shown of a row that is there no longer. */
    readonly goneOf: (row: Row) => Row;
  },
  signal: AbortSignal,
): Promise<void> {
  const shown = new Map<Row["id"], Row>();
  const show = shower(session, { ...options, shown });
  let isAwayTold = false;
  const askAgain = async (): Promise<readonly Row[]> => {
    try {
      const rows = await ask();
      isAwayTold = false;
      return rows;
    } catch (error) {
      // What was shown last may be long gone: without a word it would be taken for what is.
      if (isAway(error) && !isAwayTold) {
        session.terminal.note(`${(error as Error).message}: trying again`);
        isAwayTold = true;
      }
      throw error;
    }
  };
  for (let rows = await ask(); ; rows = await insisting(session, askAgain, signal)) {
    const present = new Set(rows.map(({ id }) => id));
    const gone = [...shown.values()].filter(({ id }) => !present.has(id));
    await show([...rows, ...gone.map(goneOf)]);
    // It may come back under the same id, and is to be shown then.
    for (const { id } of gone) shown.delete(id);
    await session.clock.sleep(askMs, signal);
  }
}

function asJson(row: object): Json {
  return row as unknown as Json;
}
