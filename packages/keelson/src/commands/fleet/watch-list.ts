// What every `get --watch` does: asks until there is an answer, and shows of a list what is new in it.

import { Backoff, jsonEqual, systemRandom, writeJson, type Json } from "@keelson/base";
import { Unreachable } from "../client/rest-client.ts";
import { valueText, type Output } from "../output/formats.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";

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
      if (!(error instanceof Unreachable)) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}

export interface ShowerOptions<Row> {
  readonly output: Output;
  readonly columns: readonly Column<Row>[];
  readonly nameOf: (row: Row) => string;
  /** What was shown last of each, by id. */
  readonly shown: Map<number, Row>;
}

/** Shows of a list what was not shown before, and remembers it in `shown`. */
export function shower<Row extends { readonly id: number }>(
  { terminal }: Session,
  { output, columns, nameOf, shown }: ShowerOptions<Row>,
) {
  const table = new Table(columns);
  let isEmpty = true;
  return async (rows: readonly Row[]): Promise<void> => {
    const fresh = rows.filter((one) => {
      const before = shown.get(one.id);
      return before === undefined || !jsonEqual(asJson(before), asJson(one));
    });
    for (const one of fresh) shown.set(one.id, one);
    if (fresh.length === 0) return;
    if (output === "name") terminal.write(fresh.map((one) => `${nameOf(one)}\n`).join(""));
    else if (output === "json") {
      terminal.write(fresh.map((one) => `${writeJson(asJson(one))}\n`).join(""));
    } else if (output === "yaml") {
      for (const one of fresh) terminal.write(`---\n${await valueText(asJson(one), "yaml")}`);
    } else {
      terminal.write(isEmpty ? table.first(fresh) : table.more(fresh));
      isEmpty = false;
    }
  };
}

function asJson(row: object): Json {
  return row as unknown as Json;
}
