// What callers may read: one resource, a page of them, a status with the reports it is made of.

import { RestError, type Json, type JsonObject } from "@keelson/base";
import { visible, type Caller } from "../access/access.ts";
import { redact } from "../access/secrets.ts";
import type { Kind, KindName } from "../kinds.ts";
import type { Lifecycle } from "../lifecycle.ts";
import type { Report } from "../reports/report.ts";
import { countResources, listResources } from "../sql/lists.ts";
import { listReports, toReport } from "../sql/reports.ts";
import { findResources, toResource, type ResourceRow } from "../sql/resources.ts";
import { readFacts, toFacts } from "../sql/statuses.ts";
import { expectedControllers } from "../status/aggregate.ts";
import type { Status } from "../status/status.ts";
import { GatheredReads } from "./gathered-reads.ts";
import type { GetAsked, ListAsked } from "./list-query.ts";
import { idsOf, reportAnswer, resourceAnswer, type Resource } from "./resource.ts";

/** An answer, and the version for its ETag. */
export interface Shown {
  readonly body: JsonObject;
  readonly resourceVersion: string;
}

/** Every method throws a `RestError` for whatever the caller is refused. */
export class ResourceReader {
  readonly #lifecycle: Lifecycle;
  readonly #reads: Readonly<Record<KindName, GatheredReads<ResourceRow>>>;

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
    const { database, statuses } = lifecycle;
    const reads = (kind: KindName): GatheredReads<ResourceRow> =>
      new GatheredReads({
        read: (ids) =>
          // Whose request it is does not matter: one that goes away leaves the others their answer.
          database.run(findResources, { kind, ids, nowMs: statuses.nowMs() }, never),
      });
    this.#reads = { cluster: reads("cluster"), nodepool: reads("nodepool") };
  }

  /** The resource, if the caller may see it. */
  async find(
    caller: Caller,
    { kind, id, includeDeleted = false }: { kind: Kind; id: string; includeDeleted?: boolean },
    signal: AbortSignal,
  ): Promise<Resource> {
    const row = await this.#reads[kind.name].find(id, signal);
    const found = row === undefined ? undefined : toResource(kind.name, row);
    return visible(caller, kind.name, found, { includeDeleted });
  }

  async get(
    caller: Caller,
    { kind, id, ...asked }: GetAsked & { readonly kind: Kind; readonly id: string },
    signal: AbortSignal,
  ): Promise<Shown> {
    const { includeDeleted, includeReports, includeSecrets } = asked;
    const resource = await this.find(caller, { kind, id, includeDeleted }, signal);
    if (includeSecrets) requireSecrets(caller);
    const status = await this.#lifecycle.statuses.of(resource, signal);
    const shown = shownAs({ resource, status, includeSecrets });
    if (!includeReports) return shown;
    const reports = await this.#reportsOf(resource, signal);
    const told = reports.map((report) => reportAnswer(resource, report));
    return { ...shown, body: { ...shown.body, controller_status: told } };
  }

  /** At most three statements: the page, its total, and the cache of what was stale on it. */
  async list(
    caller: Caller,
    { kind, asked }: { readonly kind: Kind; readonly asked: ListAsked },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { database, statuses } = this.#lifecycle;
    if (asked.includeSecrets) requireSecrets(caller);
    const { limit, offset, phase, includeSecrets } = asked;
    const filter = {
      ...asked.filter,
      createdBy: caller.isController ? null : caller.identity.user,
      includeDeleted: asked.filter.includeDeleted && caller.isController,
    };
    const { rules } = statuses;
    const nowMs = statuses.nowMs();
    const page = { kind: kind.name, filter, phase, rules, limit, offset, nowMs };
    const [rows, [count]] = await Promise.all([
      database.run(listResources, page, signal),
      database.run(countResources, page, signal),
    ]);
    const resources = rows.map((row) => toResource(kind.name, row));
    const stale = rows.filter((row) => row.is_stale && row.deleted_at === null);
    const read = { resources, facts: stale.map(toFacts), nowMs };
    const known = await statuses.ofPage(kind.name, read, signal);
    return {
      [kind.plural]: resources.map((resource) =>
        resourceAnswer(resource, {
          spec: includeSecrets ? resource.spec : redact(resource.spec),
          status: known.get(resource.id),
        }),
      ),
      total: count?.total ?? 0,
      limit,
      offset,
    };
  }

  /** The status, the reports behind it and who is expected to report. */
  async status(
    caller: Caller,
    at: { readonly kind: Kind; readonly id: string; readonly includeDeleted: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { database, statuses } = this.#lifecycle;
    const resource = await this.find(caller, at, signal);
    const [status, reports, facts] = await Promise.all([
      statuses.of(resource, signal),
      this.#reportsOf(resource, signal),
      database.run(readFacts, { kind: resource.kind, ids: [resource.id] }, signal),
    ]);
    return {
      ...idsOf(resource),
      generation: resource.generation,
      status: (status ?? null) as unknown as Json,
      controller_status: reports.map((report) => reportAnswer(resource, report)),
      expected_controllers: facts.flatMap((row) => expectedControllers(toFacts(row).facts)),
    };
  }

  async #reportsOf(
    { kind, id }: Pick<Resource, "kind" | "id">,
    signal: AbortSignal,
  ): Promise<readonly Report[]> {
    const rows = await this.#lifecycle.database.run(listReports, { kind, id }, signal);
    return rows.map(toReport);
  }
}

/** The answer about a resource. */
export function shownAs({
  resource,
  status,
  includeSecrets = false,
}: {
  readonly resource: Resource;
  readonly status: Status | undefined;
  readonly includeSecrets?: boolean;
}): Shown {
  const spec = includeSecrets ? resource.spec : redact(resource.spec);
  return {
    body: resourceAnswer(resource, { spec, status }),
    resourceVersion: resource.resourceVersion,
  };
}

function requireSecrets({ isController }: Caller): void {
  if (!isController) throw new RestError("FORBIDDEN", "secrets are shown to controllers only");
}

const never = new AbortController().signal;
