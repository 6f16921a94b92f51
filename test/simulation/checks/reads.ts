// What reads answered: current, from one snapshot, complete, and honest when they could not (S7, S8, S13, S17).

import type { Answer, ErrorFact, LabelFact, RowFact, ScopeFact } from "../history.ts";
import { type Context, describe } from "./context.ts";
import { isSameRow } from "./truth.ts";
import type { CallFact } from "./timeline.ts";
import type { Invariant } from "./verdict.ts";

type Page = Extract<Answer, { type: "page" }>;

export function checkReads(context: Context): void {
  const byId = new Map(context.timeline.calls.map((call) => [call.id, call]));
  for (const fact of context.timeline.calls) {
    const { call, answer } = fact;
    if (answer === undefined) continue;
    if (call.op === "get") checkGet(context, fact, answer);
    if (call.op === "list" && answer.type === "page") checkPage(context, fact, answer, byId);
    if (call.op === "list" && answer.type === "error") checkFailedList(context, fact, answer, byId);
    if (call.op === "cut" && answer.type === "error") checkFailure(context, fact, answer);
  }
}

function checkGet(context: Context, fact: CallFact, answer: Answer): void {
  const { call } = fact;
  if (call.op !== "get") return;
  if (answer.type === "error") {
    if (answer.code !== "NotFound") {
      checkFailure(context, fact, answer);
      return;
    }
    if (context.canHaveBeen(call.key, fact, ({ row }) => row === undefined)) return;
    const { replica, calledAt, answeredAt } = fact;
    const isTroubled = context.timeline.isTroubled(replica, calledAt, answeredAt);
    complain(context, fact, isTroubled ? "S17" : "S7", "did not find an object that existed");
    return;
  }
  if (answer.type !== "row") return;
  const { row } = answer;
  if (context.canHaveBeen(call.key, fact, (span) => !!span.row && isSameRow(span.row, row))) return;
  const known = context.timeline.knownBefore(fact.calledAt);
  const stood = context.truth.rowAt(call.key, known);
  complain(
    context,
    fact,
    "S7",
    `read revision ${row.revision}; at ${known}, known before it began, the object was at ${stood?.revision ?? "none"}`,
  );
}

function checkPage(
  context: Context,
  fact: CallFact,
  page: Page,
  byId: ReadonlyMap<string, CallFact>,
): void {
  const { call, calledAt } = fact;
  if (call.op !== "list") return;
  const { timeline } = context;
  const pages = pagesBefore(fact, byId);
  const [first] = pages;
  const { revision } = page;
  if (
    first === undefined &&
    call.exact === undefined &&
    revision < timeline.knownBefore(calledAt)
  ) {
    const known = timeline.knownBefore(calledAt);
    complain(context, fact, "S7", `listed revision ${revision} although ${known} was known before`);
  }
  const wantedRevision = first?.revision ?? call.exact;
  if (wantedRevision !== undefined && wantedRevision !== revision) {
    complain(context, fact, "S8", `shows revision ${revision} in a list of ${wantedRevision}`);
    return;
  }
  if (wantedRevision !== undefined && wantedRevision < timeline.floorBefore(calledAt)) {
    complain(
      context,
      fact,
      "S13",
      `listed ${revision}, below the floor ${timeline.floorBefore(calledAt)}`,
    );
  }
  checkItems(context, fact, page, pages);
}

/** The items are the next of the state at that revision, and all that are left on the last page. */
function checkItems(context: Context, fact: CallFact, page: Page, pages: readonly Page[]): void {
  const { call } = fact;
  if (call.op !== "list") return;
  const { scope, selector, limit } = call;
  const state = context.truth.stateAt(page.revision, scope, selector);
  const skipped = pages.reduce((sum, { items }) => sum + items.length, 0);
  const wanted = state.slice(skipped, limit === undefined ? undefined : skipped + limit);
  const isRight =
    wanted.length === page.items.length &&
    wanted.every((row, index) => isSameRow(row, page.items[index] as RowFact));
  if (!isRight) {
    complain(
      context,
      fact,
      "S8",
      `shows ${brief(page.items)} at ${page.revision}, where the state is ${brief(wanted)}${selection(scope, selector)}`,
    );
    return;
  }
  const left = state.length - skipped - wanted.length;
  if (page.hasMore !== left > 0)
    complain(context, fact, "S8", `says ${page.hasMore ? "" : "no "}more, ${left} are left`);
  if (page.remaining !== undefined && page.remaining !== left)
    complain(context, fact, "S8", `says that ${page.remaining} remain, ${left} do`);
}

function checkFailedList(
  context: Context,
  fact: CallFact,
  error: ErrorFact,
  byId: ReadonlyMap<string, CallFact>,
): void {
  const { call, calledAt, answeredAt } = fact;
  if (call.op !== "list") return;
  const { timeline } = context;
  const wanted = pagesBefore(fact, byId)[0]?.revision ?? call.exact;
  if (error.code === "Expired") {
    if (wanted === undefined || wanted >= timeline.floorAtMost(answeredAt))
      complain(context, fact, "S13", `expired at ${wanted}, which no cut has reached`);
    return;
  }
  if (error.code === "TooNew") {
    if (wanted === undefined || wanted <= timeline.knownBefore(calledAt))
      complain(context, fact, "S7", `was told that ${wanted}, known before, is too new`);
    return;
  }
  checkFailure(context, fact, error);
}

/** S17: what fails without a reason of its own fails as Unavailable (or Full), and only while there is trouble. */
function checkFailure(context: Context, fact: CallFact, error: ErrorFact): void {
  if (error.code === "Aborted") return;
  const { replica, calledAt, answeredAt } = fact;
  const isOwnedUp = error.code === "Unavailable" || error.code === "Full";
  if (isOwnedUp && context.timeline.isTroubled(replica, calledAt, answeredAt)) return;
  complain(context, fact, "S17", `failed with ${error.code} (${error.message})`);
}

/** The pages of the list that this one goes on with, first to last. */
function pagesBefore(fact: CallFact, byId: ReadonlyMap<string, CallFact>): Page[] {
  const pages: Page[] = [];
  for (let at: CallFact | undefined = fact; at?.call.op === "list";) {
    const before: CallFact | undefined =
      at.call.after === undefined ? undefined : byId.get(at.call.after);
    if (before?.answer?.type === "page") pages.unshift(before.answer);
    at = before;
  }
  return pages;
}

function complain(context: Context, fact: CallFact, invariant: Invariant, what: string): void {
  context.verdicts.add(invariant, fact.answeredAt, `${describe(fact)} ${what}`);
}

function brief(rows: readonly RowFact[]): string {
  return `[${rows.map(({ key, revision }) => `${key.namespace}/${key.name}@${revision}`).join(" ")}]`;
}

function selection(scope: ScopeFact, selector: LabelFact | undefined): string {
  return ` of ${scope.kind} in "${scope.namespace}"${selector ? ` with ${selector.label}=${selector.value}` : ""}`;
}
