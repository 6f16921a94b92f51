// `keelson cluster status`: the conditions, and the controllers behind them.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import { findOne, type FindOptions } from "./find.ts";
import { addressOf, type Condition, type Kind, type Status } from "./shapes.ts";

interface Report {
  readonly controller_name: string;
  readonly observed_generation: number;
  readonly conditions: readonly Condition[];
  readonly last_error?: JsonObject;
  readonly last_updated: string;
}

interface StatusAnswer {
  readonly generation: number;
  readonly status: Status;
  readonly controller_status: readonly Report[];
  readonly expected_controllers: readonly string[];
}

/** A controller that has reported, or is expected to. */
interface Row {
  readonly name: string;
  readonly report: Report | undefined;
  readonly isExpected: boolean;
}

export async function showStatus(
  session: Session,
  word: string,
  { kind, output, clusterId }: FindOptions & { readonly kind: Kind; readonly output: Output },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, paint, clock } = session;
  const found = await findOne(client, { kind, word, clusterId }, signal);
  const answer = await client.get(`${addressOf(kind, found)}/status`, {}, signal);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText(answer, output));
    return;
  }
  const told = answer as unknown as StatusAnswer;
  const { status, generation } = told;
  const { phase, reason, message } = status;
  const shown = paintedAs(paint, phase, phase);
  terminal.write(`${found.name}, generation ${generation}: ${shown}, ${reason}, ${message}\n\n`);
  const conditions = new Table<Condition>([
    { heading: "CONDITION", of: ({ type }) => type },
    { heading: "STATUS", of: (one) => one.status },
    { heading: "REASON", of: (one) => one.reason },
    { heading: "SINCE", of: ({ lastTransitionTime }) => ageOf(lastTransitionTime, clock.now()) },
  ]);
  terminal.write(conditions.first(status.conditions));

  const rows = rowsOf(told);
  if (rows.length === 0) {
    terminal.note("no controller has reported, and none is registered for it");
    return;
  }
  const controllers = new Table(
    controllerColumns({ generation, nowMs: clock.now(), isWide: output === "wide" }),
  );
  terminal.write(`\n${controllers.first(rows)}`);
  for (const { name, report } of rows) {
    for (const advice of suggestionsOf(report)) terminal.note(`${name}: ${advice}`);
  }
}

function rowsOf({ controller_status: reports, expected_controllers: expected }: StatusAnswer) {
  const names = [...new Set([...expected, ...reports.map((one) => one.controller_name)])];
  return names.toSorted().map((name): Row => ({
    name,
    report: reports.find((one) => one.controller_name === name),
    isExpected: expected.includes(name),
  }));
}

function controllerColumns({
  generation,
  nowMs,
  isWide,
}: {
  readonly generation: number;
  readonly nowMs: number;
  readonly isWide: boolean;
}): readonly Column<Row>[] {
  return [
    { heading: "CONTROLLER", of: ({ name }) => name },
    { heading: "GENERATION", of: ({ report }) => String(report?.observed_generation ?? "-") },
    { heading: "AVAILABLE", of: ({ report }) => conditionOf(report, "Available")?.status ?? "-" },
    { heading: "REPORTED", of: ({ report }) => ageOf(report?.last_updated, nowMs) },
    ...(isWide ? [{ heading: "CONDITIONS", of: ({ report }: Row) => conditionsText(report) }] : []),
    { heading: "MESSAGE", of: (row) => messageOf(row, generation) },
  ];
}

/** The most important that is to be said of it. */
function messageOf({ report, isExpected }: Row, generation: number): string {
  if (report === undefined) return "has not reported yet";
  const { observed_generation: observed, last_error: error } = report;
  if (!isExpected) return "is not waited for: it does not apply, or is retired";
  const behind = observed < generation ? `behind generation ${generation}` : undefined;
  const said = error === undefined ? ownWords(report) : errorText(error);
  return [behind, said].filter((text) => text !== undefined && text !== "").join("; ");
}

function ownWords(report: Report): string {
  const available = conditionOf(report, "Available");
  if (available === undefined || available.status === "True") return "";
  return available.message === "" ? available.reason : available.message;
}

function errorText(error: JsonObject): string {
  const word = (name: string): string => {
    const value = error[name];
    return typeof value === "string" ? value : "";
  };
  const kind = [word("errorType"), word("errorCode")].filter((one) => one !== "").join(" ");
  return [kind, word("message")].filter((one) => one !== "").join(": ");
}

function suggestionsOf(report: Report | undefined): readonly string[] {
  const error = report?.last_error;
  const given = error !== undefined && isJsonObject(error) ? error["suggestions"] : undefined;
  return Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
}

function conditionOf(report: Report | undefined, type: string): Condition | undefined {
  return report?.conditions.find((one) => one.type === type);
}

function conditionsText(report: Report | undefined): string {
  const all = report?.conditions.map(({ type, status }) => `${type}=${status}`) ?? [];
  return all.length === 0 ? "-" : all.join(",");
}
