// `keelson cluster status`: the conditions, and the controllers behind them.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import { readAwaited, type Awaited } from "./deleting.ts";
import { findOne, type FindOptions } from "./find.ts";
import { addressOf, type Condition, type Declared, type Kind, type Status } from "./shapes.ts";

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
  /** Whether a deletion waits for it. */
  readonly isAwaited: boolean;
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

  const isDeleting = phase === "Deleting";
  const awaited = isDeleting ? await readAwaited(client, { kind, found }, signal) : undefined;
  const rows = rowsOf(told, awaited);
  if (rows.length === 0 && !isDeleting) {
    terminal.note("no controller has reported, and none is registered for it");
  }
  if (rows.length > 0) {
    const nowMs = clock.now();
    const columns = controllerColumns({ generation, isDeleting, nowMs, isWide: output === "wide" });
    terminal.write(`\n${new Table(columns).first(rows)}`);
  }
  for (const { name, report } of rows) {
    for (const advice of suggestionsOf(report)) terminal.note(`${name}: ${advice}`);
  }
  if (awaited !== undefined) showNodepools(session, found.name, awaited);
}

/** Those that the deletion of their cluster waits for. */
function showNodepools(
  { terminal }: Pick<Session, "terminal">,
  cluster: string,
  { nodepools, nodepoolsTotal }: Awaited,
): void {
  if (nodepools.length === 0) return;
  const table = new Table<Declared>([
    { heading: "NODEPOOL", of: ({ name }) => name },
    { heading: "PHASE", of: ({ status }) => status.phase },
  ]);
  terminal.write(`\n${table.first(nodepools)}`);
  const more = nodepoolsTotal - nodepools.length;
  if (more <= 0) return;
  terminal.note(`and ${more} more: "keelson nodepool list --cluster ${cluster}" shows them`);
}

function rowsOf(
  { controller_status: reports, expected_controllers: expected }: StatusAnswer,
  awaited: Awaited | undefined,
): readonly Row[] {
  const reporters = reports.map((one) => one.controller_name);
  const awaitedNames = awaited?.controllers ?? [];
  const names = [...new Set([...expected, ...reporters, ...awaitedNames])];
  return names.toSorted().map((name) => {
    const report = reports.find((one) => one.controller_name === name);
    const isAwaited = awaitedNames.includes(name) && !hasLetGo(report);
    return { name, report, isExpected: expected.includes(name), isAwaited };
  });
}

function controllerColumns({
  nowMs,
  isWide,
  ...about
}: {
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly nowMs: number;
  readonly isWide: boolean;
}): readonly Column<Row>[] {
  return [
    { heading: "CONTROLLER", of: ({ name }) => name },
    { heading: "GENERATION", of: ({ report }) => String(report?.observed_generation ?? "-") },
    { heading: "AVAILABLE", of: ({ report }) => conditionOf(report, "Available")?.status ?? "-" },
    { heading: "REPORTED", of: ({ report }) => ageOf(report?.last_updated, nowMs) },
    ...(isWide ? [{ heading: "CONDITIONS", of: ({ report }: Row) => conditionsText(report) }] : []),
    { heading: "MESSAGE", of: (row) => messageOf(row, about) },
  ];
}

/** The most important that is to be said of it. */
function messageOf(
  { report, isExpected, isAwaited }: Row,
  { generation, isDeleting }: { readonly generation: number; readonly isDeleting: boolean },
): string {
  const error = report?.last_error;
  if (isAwaited) {
    const open = isExpected ? "has not let go yet" : "has not let go yet, or is retired";
    return error === undefined ? open : `${open}; ${errorText(error)}`;
  }
  if (isDeleting && hasLetGo(report)) return "has let go";
  if (report === undefined) return "has not reported yet";
  if (!isExpected) return "is not waited for: it does not apply, or is retired";
  const { observed_generation: observed } = report;
  // A deletion is a generation too, and waits for nobody to see it.
  const isBehind = observed < generation && !isDeleting;
  const behind = isBehind ? `behind generation ${generation}` : undefined;
  const said = error === undefined ? ownWords(report) : errorText(error);
  return [behind, said].filter((text) => text !== undefined && text !== "").join("; ");
}

function hasLetGo(report: Report | undefined): boolean {
  return conditionOf(report, "Finalized")?.status === "True";
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
