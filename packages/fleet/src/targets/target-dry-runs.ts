// Writes of targets that are only tried: made and undone with the copies that follow them, and then asked of the cluster.

import { RestError, type Identity, type Json, type JsonObject } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import { forgottenCopies, plannedCopies, type PlannedCopy } from "../globals/planned-copies.ts";
import { diffOf, type DiffField } from "../resources/diff.ts";
import type { DryRunsOptions } from "../resources/dry-runs.ts";
import type { Resource } from "../resources/resource.ts";
import { tryAll } from "../resources/try-all.ts";
import { undone } from "../resources/undone.ts";
import { listCopiesIn, listConflictsIn } from "../sql/globals.ts";
import { toResource } from "../sql/resources.ts";
import { countOwn, findTarget, type TargetRow } from "../sql/targets.ts";
import { probeTarget } from "../worker/probe-target.ts";
import { TargetAccess, type TargetAccessOptions } from "./target-access.ts";
import { reachedInside, type ClientPort } from "./target-clients.ts";
import { TargetRequests, type TargetRequest } from "./target-requests.ts";
import { shownTarget } from "./target-rows.ts";
import { beginWrite } from "./write-targets.ts";

/** A warning. An alias, not an interface: only so is it JSON to the compiler. */
type Warning = { readonly code: string; readonly message: string };

/** What a write has made of things, before it was undone. */
interface Planned {
  readonly before: TargetRow | undefined;
  readonly after: TargetRow | "gone" | "moved";
  readonly copies: readonly PlannedCopy[];
  readonly warnings: readonly Warning[];
}

/**
 * The same writes as those of `Targets`, with the same refusals, and nothing is stored. Where one would change how the
 * cluster is reached, it is reached in that way: else `TARGET_UNREACHABLE`. The answer has a result for each copy of a
 * global resource that would come, change or go; what the cluster refuses of one says so there.
 */
export class TargetDryRuns {
  readonly #options: DryRunsOptions;
  readonly #requests: TargetRequests;

  constructor(options: DryRunsOptions & TargetAccessOptions) {
    const { database } = options;
    this.#options = options;
    this.#requests = new TargetRequests({ database, access: new TargetAccess(options) });
  }

  async create(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    return this.#tried(identity, () => this.#requests.create(identity, body), signal);
  }

  async replace(
    identity: Identity,
    clusterId: string,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    return this.#tried(
      identity,
      () => this.#requests.replace(identity, clusterId, body, signal),
      signal,
    );
  }

  async delete(
    identity: Identity,
    at: { readonly clusterId: string; readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    return this.#tried(identity, () => this.#requests.delete(identity, at), signal);
  }

  async #tried(
    identity: Identity,
    read: () => Promise<TargetRequest>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    for (;;) {
      const request = await read();
      const planned = await undone(
        this.#options,
        async (sql) => {
          await beginWrite(sql, identity.user);
          return plan(sql, request);
        },
        signal,
      );
      if (planned.after === "moved") continue;
      return this.#answer(request, planned, signal);
    }
  }

  async #answer(
    request: TargetRequest,
    { before, after, copies, warnings }: Planned,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    await using held = new AsyncDisposableStack();
    const { clients, told } = await this.#reach(request, held, signal);
    const changing = copies.filter(({ outcome }) => outcome !== "unchanged");
    // Of a pause the target itself tells, as it would be.
    const trying = { ...this.#options, clients, leavesOutPauses: true };
    const results = await tryAll(trying, changing, signal);
    const target = typeof after === "string" ? undefined : after;
    const { credential = null } = request.reached;
    const isReplaced = before !== undefined && credential !== null;
    return {
      dry_run: true,
      result: target === undefined ? null : shownTarget(target),
      diff: targetDiff(before, target),
      conflicts: [],
      warnings: [
        ...(isReplaced
          ? [{ code: "credential", message: "its credential would be replaced" }]
          : []),
        ...told,
        ...warnings,
        ...pausedWarning(target),
      ],
      copies: changing.map(({ resource, outcome }, index) => {
        const { globalId = null, namespace, kind, name, apiVersion } = resource;
        const key = { global_id: globalId, namespace, kind, name, api_version: apiVersion };
        return { ...key, outcome, ...results[index] };
      }),
    };
  }

  /** To the cluster as it would be reached, which is tried if it is new. Throws `TARGET_UNREACHABLE` if we are not let in. */
  async #reach(
    { clusterId, reached: { credential = null, agent = false } }: TargetRequest,
    held: AsyncDisposableStack,
    signal: AbortSignal,
  ): Promise<{
    readonly clients: Pick<ClientPort, "clientOf">;
    readonly told: readonly Warning[];
  }> {
    const { clients } = this.#options;
    if (credential === null) {
      const inside = { clientOf: () => Promise.reject(reachedInside(clusterId)) };
      return { clients: agent ? inside : clients, told: [] };
    }
    const access = { credential, in_process: false, agent: false };
    const client = held.use(await clients.connect(clusterId, access));
    const answer = await probeTarget(client, signal);
    if ("about" in answer) {
      const message = `${clusterId} cannot be reached: ${answer.message}`;
      throw new RestError("TARGET_UNREACHABLE", message);
    }
    const { message } = answer;
    return {
      clients: { clientOf: async () => client },
      told: message === null ? [] : [{ code: "not_ready", message }],
    };
  }
}

async function plan(sql: Transaction, request: TargetRequest): Promise<Planned> {
  const { clusterId, isOrphaning } = request;
  const [before] = await sql.run(findTarget, clusterId);
  const copiesBefore = await copiesIn(sql, clusterId);
  const [count] = await sql.run(countOwn, clusterId);
  const after = await request.write(sql);
  if (isOrphaning) {
    const warnings = forgottenWarning(count?.own ?? 0);
    return { before, after, copies: forgottenCopies(copiesBefore), warnings };
  }
  const copies = plannedCopies(copiesBefore, await copiesIn(sql, clusterId));
  const conflicts = await sql.run(listConflictsIn, clusterId);
  return { before, after, copies, warnings: conflicts.map(conflictWarning) };
}

async function copiesIn(sql: Transaction, clusterId: string): Promise<readonly Resource[]> {
  return (await sql.run(listCopiesIn, clusterId)).map(toResource);
}

/** What somebody has decided of a target, field by field; never its credential. */
function targetDiff(
  before: TargetRow | undefined,
  after: TargetRow | undefined,
): readonly DiffField[] {
  const former = before === undefined ? undefined : decided(before);
  return diffOf({
    desired: after === undefined ? undefined : decided(after),
    applied: former,
    current: former,
    managedFields: [],
    owned: [],
    drift: [],
    isForcing: true,
  });
}

function decided(row: TargetRow): JsonObject {
  const { server = null, labels = {}, paused = false, agent = false } = shownTarget(row);
  return { server, labels, paused, agent };
}

function pausedWarning(target: TargetRow | undefined): readonly Warning[] {
  if (target?.paused !== true) return [];
  return [
    { code: "paused", message: "it is paused: nothing is written to it until it is resumed" },
  ];
}

function forgottenWarning(own: number): readonly Warning[] {
  if (own === 0) return [];
  const message =
    own === 1
      ? "a resource would be forgotten, and its object would stay"
      : `${own} resources would be forgotten, and their objects would stay`;
  return [{ code: "forgotten", message }];
}

function conflictWarning({
  kind,
  name,
}: {
  readonly kind: string;
  readonly name: string;
}): Warning {
  const message = `a resource of the key of global ${kind} ${name} is left alone: it is delivered once that one goes`;
  return { code: "conflict", message };
}
