// What controllers say, stored: one transaction for the report, what it closes and whom it wakes.

import { jsonSame, RestError, type JsonObject } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import { requireController, requireWriter, type Caller } from "../access/access.ts";
import type { Deletions } from "../deletion/deletions.ts";
import type { WakeReason } from "../events/event.ts";
import type { Kind } from "../kinds.ts";
import { writing, type Lifecycle } from "../lifecycle.ts";
import { ringForStatuses } from "../loops/status-bell.ts";
import { idsOf, type Resource } from "../resources/resource.ts";
import type { StatusReport } from "../schema.ts";
import { findReport, toReport, writeReport } from "../sql/reports.ts";
import { writeWake } from "../sql/wakes.ts";
import { lockResource, toResource } from "../sql/resources.ts";
import { noveltyOf, readReport, settleConditions, type SentReport } from "./read-report.ts";
import type { Report } from "./report.ts";

/** Throws a `RestError` for whatever the caller is refused. */
export class Reports {
  readonly #lifecycle: Lifecycle;
  readonly #deletions: Deletions;

  constructor(lifecycle: Lifecycle, deletions: Deletions) {
    this.#lifecycle = lifecycle;
    this.#deletions = deletions;
  }

  async report(
    caller: Caller,
    { kind, id }: { readonly kind: Kind; readonly id: string },
    body: StatusReport,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { access, metrics, outbox } = this.#lifecycle;
    requireController(caller);
    requireWriter(caller);
    access.requireName(caller, body.controller_name);
    const sent = readReport(body);
    const { resource, result, isGone, isTold } = await writing(
      this.#lifecycle,
      async (sql) => this.#write(sql, caller, { kind, id }, sent),
      signal,
    ).catch((error: unknown) => {
      const refused = error instanceof RestError ? refusals[error.code] : undefined;
      if (refused !== undefined) metrics.reports.add({ kind: kind.name, result: refused });
      throw error;
    });
    metrics.reports.add({ kind: kind.name, result });
    if (!isTold) ringForStatuses(outbox);
    this.#lifecycle.log.debug(
      {
        request_id: caller.requestId,
        user: caller.identity.user,
        kind: kind.name,
        resource: resource.id,
        generation: sent.observedGeneration,
        controller: sent.controllerName,
        result,
      },
      "reported",
    );
    if (isGone) await this.#deletions.finishParent(resource, signal);
    return {
      message: "status updated",
      ...idsOf(resource),
      controller_name: sent.controllerName,
      observed_generation: sent.observedGeneration,
    };
  }

  async #write(
    sql: Transaction,
    caller: Caller,
    { kind, id }: { readonly kind: Kind; readonly id: string },
    sent: SentReport,
  ) {
    const nowMs = this.#lifecycle.statuses.nowMs();
    const [row] = await sql.run(lockResource, { kind: kind.name, id, nowMs });
    if (row === undefined) throw new RestError("RESOURCE_NOT_FOUND", `no such ${kind.name}`);
    const resource = toResource(kind.name, row);
    const { controllerName, observedGeneration, metadata, lastError } = sent;
    // In a statement after the lock: only then does it see what the holder before us committed.
    const [found] = await sql.run(findReport, { kind: kind.name, id, controllerName });
    const before = found === undefined ? undefined : toReport(found);
    requireTimely(resource, before, sent);

    const now = new Date(nowMs).toISOString();
    const conditions = settleConditions(sent.conditions, before?.conditions ?? [], now);
    const isDeleting = resource.deletionTimestamp !== null;
    const isFinalized =
      isDeleting &&
      conditions.some(({ type, status }) => type === "Finalized" && status === "True");
    const report = { controllerName, observedGeneration, conditions, metadata, lastError };
    await sql.run(writeReport, {
      kind: kind.name,
      id,
      ...report,
      finalizer: sent.finalizer ?? null,
      isDeleting,
      isFinalized,
    });
    const isGone = isDeleting && (await this.#deletions.finish(sql, kind, [id], caller)).length > 0;
    const reason = wakeReason(report, before);
    const wakes = reason !== undefined && !isGone && this.#lifecycle.wakesDependents;
    const isWoken = wakes && (await this.#wake(sql, caller, resource, { reason, controllerName }));
    const result = before === undefined ? "created" : reason === undefined ? "same" : "changed";
    return { resource, result, isGone, isTold: isGone || isWoken };
  }

  /** Dependents wake at once, or as soon as they have not been woken too often. Whether it was at once. */
  async #wake(
    sql: Transaction,
    caller: Caller,
    { kind, id }: Resource,
    { reason, controllerName }: { readonly reason: WakeReason; readonly controllerName: string },
  ): Promise<boolean> {
    const { random, wakesPerMinuteMax: perMinuteMax } = this.#lifecycle;
    const eventId = random.uuid();
    const { identity } = caller;
    const wake = { kind, id, eventId, reason, controllerName, caller: identity, perMinuteMax };
    const [written] = await sql.run(writeWake, wake);
    return written?.is_deferred === false;
  }
}

const refusals: Readonly<Record<string, string>> = {
  STALE_GENERATION: "stale",
  FUTURE_GENERATION: "future",
};

/** Throws `STALE_GENERATION` for less than this controller has said before, `FUTURE_GENERATION` for what is still to come. */
function requireTimely(
  { kind, generation }: Resource,
  before: Report | undefined,
  { controllerName, observedGeneration }: SentReport,
): void {
  if (before !== undefined && observedGeneration < before.observedGeneration) {
    throw new RestError(
      "STALE_GENERATION",
      `${controllerName} has reported on generation ${before.observedGeneration} before`,
      { details: { generation, observed_generation: before.observedGeneration } },
    );
  }
  if (observedGeneration > generation) {
    throw new RestError(
      "FUTURE_GENERATION",
      `the ${kind} is at generation ${generation}, not yet at ${observedGeneration}`,
      { details: { generation } },
    );
  }
}

/** Undefined for a report that says nothing new: nobody is woken. */
function wakeReason(
  after: Omit<Report, "updatedAt">,
  before: Report | undefined,
): WakeReason | undefined {
  if (before === undefined) return "controller_status_created";
  const { says, generation } = noveltyOf(after, before, jsonSame);
  if (says && generation) return "controller_status_and_generation_change";
  if (says) return "controller_status_change";
  return generation ? "controller_generation_change" : undefined;
}
