// What is answered, as schemas: for the document of the API. Tests hold real answers against them.

import { Type, type TSchema } from "typebox";
import type { Kind } from "../kinds.ts";
import { namedPhases, phases } from "../status/status.ts";

const Time = Type.String({ format: "date-time" });
const Id = Type.String({ format: "uuid" });
const words = (all: readonly string[], description = "") =>
  Type.Union(
    all.map((word) => Type.Literal(word)),
    description === "" ? {} : { description },
  );

const Condition = Type.Object({
  type: Type.String(),
  status: words(["True", "False", "Unknown"]),
  reason: Type.String(),
  message: Type.String(),
  lastTransitionTime: Time,
  severity: Type.Optional(Type.String()),
});

export const Status = Type.Object(
  {
    observedGeneration: Type.Integer({ minimum: 1 }),
    phase: words(phases),
    reason: Type.String(),
    message: Type.String(),
    conditions: Type.Array(Condition),
    lastUpdateTime: Time,
  },
  { additionalProperties: false },
);

const Report = (kind: Kind) =>
  Type.Object(
    {
      ...idsOf(kind),
      controller_name: Type.String(),
      observed_generation: Type.Integer({ minimum: 1 }),
      conditions: Type.Array(Condition),
      metadata: Type.Object({}),
      last_error: Type.Optional(Type.Object({ errorType: Type.String(), message: Type.String() })),
      last_updated: Time,
    },
    { additionalProperties: false },
  );

export const Resource = (kind: Kind) =>
  Type.Object(
    {
      id: Id,
      ...(kind.name === "nodepool" ? { cluster_id: Id } : {}),
      name: Type.String(),
      target_project_id: Type.Union([Type.String(), Type.Null()]),
      created_by: Type.String(),
      generation: Type.Integer({ minimum: 1 }),
      resource_version: Type.String(),
      spec: Type.Object({}, { description: "free-form; secrets read as [REDACTED]" }),
      status: Status,
      created_at: Time,
      updated_at: Time,
      deletion_timestamp: Type.Optional(Time),
      deleted_at: Type.Optional(Time),
      organization_id: Type.Optional(Type.String()),
      controller_status: Type.Optional(Type.Array(Report(kind))),
    },
    { additionalProperties: false },
  );

export const ResourceList = (kind: Kind) =>
  Type.Object(
    {
      [kind.plural]: Type.Array(Resource(kind)),
      total: Type.Integer({ minimum: 0 }),
      limit: Type.Integer(),
      offset: Type.Integer(),
    },
    { additionalProperties: false },
  );

export const ResourceStatus = (kind: Kind) =>
  answer(kind, {
    generation: Type.Integer({ minimum: 1 }),
    status: Status,
    controller_status: Type.Array(Report(kind)),
    expected_controllers: Type.Array(Type.String()),
  });

export const Reported = (kind: Kind) =>
  answer(kind, {
    message: Type.String(),
    controller_name: Type.String(),
    observed_generation: Type.Integer({ minimum: 1 }),
  });

export const Deleted = (kind: Kind) =>
  Type.Object({ message: Type.String(), [kind.idField]: Id }, { additionalProperties: false });

export const Reconciled = (kind: Kind) => answer(kind, { message: Type.String(), event_id: Id });

export const Scheduled = (kind: Kind) => answer(kind, { enabled: Type.Boolean() });

export const Controller = Type.Object(
  {
    name: Type.String(),
    kinds: Type.Array(words(["cluster", "nodepool"])),
    platforms: Type.Array(Type.String()),
    finalizer: Type.Boolean(),
    retired_at: Type.Optional(Time),
  },
  { additionalProperties: false },
);

export const ControllerList = Type.Object(
  { controllers: Type.Array(Controller) },
  { additionalProperties: false },
);

const flag = (description: string) => words(["true", "false"], description);

/** Each the data of an event with its position. */
export const History = Type.Object(
  {
    events: Type.Array(
      Type.Object({
        id: Id,
        type: Type.String(),
        cluster_id: Id,
        generation: Type.Integer({ minimum: 1 }),
        reason: Type.String(),
        timestamp: Time,
        position: Type.Integer({ minimum: 1 }),
      }),
    ),
    limit: Type.Integer(),
    next: Type.Union([Type.Integer(), Type.Null()], { description: "the next page's before" }),
  },
  { additionalProperties: false },
);

/** How many events a page of history holds at most, and unless told. */
export const historyMax = 100;
export const historyUsual = 50;

export const historyQuery: Record<string, TSchema> = {
  limit: Type.Integer({ minimum: 1, maximum: historyMax, default: historyUsual }),
  before: Type.Integer({ minimum: 1, description: "a position: what came before it" }),
  include_deleted: flag("of a tombstone too, for controllers"),
};

export const lastEventIdHeader: Record<string, TSchema> = {
  "Last-Event-ID": Type.String({
    description: "of a stream: the last event that was had; without it from now on",
  }),
};

export const ifMatchHeader: Record<string, TSchema> = {
  "If-Match": Type.String({ description: "refused unless this is the ETag: its resource_version" }),
};

/** The queries, as they are written in an address. */
export const listQuery = ({ name, limitMax }: Kind): Record<string, TSchema> => ({
  limit: Type.Integer({ minimum: 1, maximum: limitMax, default: 50 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
  platform: Type.String({ description: "in any case" }),
  status: words(namedPhases),
  name: Type.String({ description: "exact, or a beginning that ends in *" }),
  ...(name === "nodepool" ? { clusterId: Id } : {}),
  include_deleted: flag("tombstones too, for controllers"),
  include_secrets: flag("secrets too, for controllers"),
});

export const getQuery: Record<string, TSchema> = {
  include: Type.Literal("controller_status"),
  include_deleted: flag("a tombstone too, for controllers"),
  include_secrets: flag("secrets too, for controllers"),
};

export const statusQuery: Record<string, TSchema> = {
  include_deleted: flag("a tombstone too, for controllers"),
};

export const deleteQuery = ({ hasPhaseGate }: Kind): Record<string, TSchema> => ({
  force: flag("at once, whoever is waited for"),
  ...(hasPhaseGate ? { confirm: words(namedPhases) } : {}),
});

function answer(kind: Kind, members: Record<string, TSchema>) {
  return Type.Object({ ...idsOf(kind), ...members }, { additionalProperties: false });
}

function idsOf({ name }: Kind): Record<string, TSchema> {
  return { cluster_id: Id, ...(name === "nodepool" ? { nodepool_id: Id } : {}) };
}
