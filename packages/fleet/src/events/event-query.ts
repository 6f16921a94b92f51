// Which events a request asks for, and which of them the caller may see.

import { allowsCluster, refuseProblems, type FieldProblem, type Identity } from "@keelson/base";
import type { Query } from "../resources/list-query.ts";
import { integerMax } from "../resources/resource.ts";
import type { FleetEvent } from "./event-log.ts";
import { fleetEventMeanings, isFleetEventType } from "./event-types.ts";

export interface EventQuery {
  /** Whether the event is asked for. */
  readonly matches: (event: FleetEvent) => boolean;
  /** The last event that the reader has had; undefined: it wants what comes from now on. */
  readonly after: number | undefined;
}

const names = ["cluster_id", "resource_id", "type"];

/** A filter given several times lets through whatever one of them does. Throws `VALIDATION_FAILED` with all that is wrong. */
export function readEventQuery(query: Query, lastEventId: string | undefined): EventQuery {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, message: string): void => void problems.push({ field, message });
  for (const field of Object.keys(query)) {
    if (!names.includes(field)) wrong(field, "is not a known parameter");
  }
  const values = (field: string): readonly string[] | undefined => {
    const given = query[field];
    return given === undefined ? undefined : ([given].flat() as string[]);
  };
  const clusters = values("cluster_id");
  const types = values("type");
  const ids = values("resource_id");
  for (const id of ids ?? []) {
    if (!/^\d{1,10}$/.test(id) || Number(id) > integerMax) {
      wrong("resource_id", "must be the id of a resource");
    }
  }
  for (const type of types ?? []) {
    if (!isFleetEventType(type)) {
      wrong("type", `must be one of ${Object.keys(fleetEventMeanings).join(", ")}`);
    }
  }
  const after = afterOf(lastEventId, wrong);
  refuseProblems(problems);
  const resourceIds = ids?.map(Number);
  return {
    after,
    matches: ({ clusterId, resourceId, type }) =>
      isAmong(clusters, clusterId) && isAmong(resourceIds, resourceId) && isAmong(types, type),
  };
}

/**
 * Somebody with certain clusters sees what concerns one of them. What concerns no single cluster, as a global resource
 * does, tells of others too.
 */
export function maySee(identity: Identity, { clusterId }: FleetEvent): boolean {
  if (clusterId === undefined) return identity.clusters === "all";
  return allowsCluster(identity, clusterId);
}

function afterOf(
  lastEventId: string | undefined,
  wrong: (field: string, message: string) => void,
): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  const after = /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
  if (Number.isSafeInteger(after)) return after;
  wrong("Last-Event-ID", "must be the id of an event");
  return undefined;
}

function isAmong<Value>(wanted: readonly Value[] | undefined, value: Value | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}
