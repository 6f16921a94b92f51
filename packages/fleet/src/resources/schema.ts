// What is sent to the routes of resources, and what they answer, as schemas for the document of the API. Tests hold every
// request and every answer against them.

import { Type, type TProperties } from "typebox";
import {
  Anything,
  ApiVersion,
  ClusterId,
  Count,
  exactly,
  Generation,
  Health,
  Id,
  Kind,
  Name,
  Namespace,
  optionalPolicies,
  orNull,
  policyMembers,
  refusalMembers,
  Revision,
  Spec,
  Status,
  Time,
  Warnings,
  words,
} from "../schema-parts.ts";
import { changesMax } from "./batch.ts";

const keyMembers = {
  cluster_id: ClusterId,
  namespace: Type.Optional(Namespace),
  kind: Kind,
  name: Name,
  api_version: Type.Optional(ApiVersion),
};

/** What a new resource says besides the cluster; a global one says the same. */
export const wantedMembers = {
  namespace: Type.Optional(Namespace),
  kind: Kind,
  name: Name,
  api_version: Type.Optional(ApiVersion),
  desired_spec: Spec,
  revision: Type.Optional(Revision),
  ...optionalPolicies,
};

const newMembers = { cluster_id: ClusterId, ...wantedMembers };
export const NewResource = exactly(newMembers);

/** What a PUT may say; a global resource takes the same. */
export const changeMembers = {
  desired_spec: Type.Optional(Spec),
  revision: Type.Optional(Revision),
  restore_generation: Type.Optional(Generation),
  api_version: Type.Optional(ApiVersion),
  ...optionalPolicies,
};

const identityMembers: TProperties = {
  cluster_id: Type.Optional(ClusterId),
  namespace: Type.Optional(Namespace),
  kind: Type.Optional(Kind),
  name: Type.Optional(Name),
};
export const ResourceChange = exactly(
  { ...changeMembers, ...identityMembers },
  "replaces what it carries; revision alone, or restore_generation, brings back what was; identity must be what it is",
);

const op = (word: string) => ({ op: Type.Literal(word) });
export const Batch = exactly({
  changes: Type.Array(
    Type.Union([
      exactly({ ...op("create"), ...newMembers }),
      exactly({ ...op("upsert"), ...newMembers }),
      exactly({ ...op("update"), id: Id, ...changeMembers, ...identityMembers }),
      exactly({ ...op("update"), ...keyMembers, ...changeMembers }),
      exactly({ ...op("delete"), id: Id }),
      exactly({ ...op("delete"), ...keyMembers }),
    ]),
    { minItems: 1, maxItems: changesMax },
  ),
});

const shownKey = {
  cluster_id: ClusterId,
  namespace: Type.String({ description: "empty for kinds without one" }),
  kind: Kind,
  name: Name,
};

export const Created = exactly({
  id: Id,
  ...shownKey,
  generation: Generation,
  revision: Revision,
  status: Status,
  warnings: Warnings,
});

export const Written = exactly({
  id: Id,
  generation: Generation,
  revision: Revision,
  status: Status,
});

export const ResourceList = exactly({
  resources: Type.Array(
    exactly({
      id: Id,
      ...shownKey,
      api_version: Type.String(),
      generation: Generation,
      revision: Revision,
      status: Status,
      health: Health,
      paused: Type.Boolean(),
      created_at: Time,
    }),
  ),
  total: Type.Integer({ minimum: 0, description: "of all pages" }),
  next: orNull(Type.String(), "the cursor of the next page"),
});

export const DiffFields = Type.Array(
  exactly({
    path: Type.String({ description: "a JSON pointer" }),
    desired: Anything,
    applied: Anything,
    current: Anything,
    owner: orNull(Type.String()),
    cause: words(["pending", "drift", "foreign"]),
  }),
);
export const Diff = exactly({ fields: DiffFields });

const Condition = exactly({
  type: words([
    "Applied",
    "Observed",
    "Drifted",
    "TargetReachable",
    "Paused",
    "DeletionBlocked",
    "Waiting",
  ]),
  status: words(["True", "False", "Unknown"]),
  reason: Type.String(),
  message: Type.String(),
  last_transition: orNull(Time),
});

const LastError = exactly({
  class: Type.String(),
  message: orNull(Type.String()),
  generation: orNull(Generation),
  http_status: orNull(Type.Integer()),
  attempts: Count,
  next_attempt_at: orNull(Time),
});

export const Resource = exactly({
  id: Id,
  ...shownKey,
  api_version: Type.String(),
  desired_spec: Spec,
  generation: Generation,
  revision: Revision,
  status: Status,
  health: Health,
  health_message: orNull(Type.String()),
  applied: orNull(
    exactly({
      spec: orNull(Spec),
      generation: orNull(Generation),
      revision: orNull(Revision),
      status: words(["success", "error"]),
      error_message: orNull(Type.String()),
      applied_at: orNull(Time),
    }),
    "what was last sent",
  ),
  current: orNull(
    exactly({
      spec: orNull(Spec),
      generation: orNull(Type.Integer()),
      revision: orNull(Type.Integer()),
      k8s_resource_version: orNull(Type.String()),
      uid: orNull(Type.String()),
      observed_at: orNull(Time),
    }),
    "what the cluster says",
  ),
  drift: orNull(
    Type.Array(
      exactly({
        path: Type.String({ description: "a JSON pointer" }),
        desired: Anything,
        current: Anything,
        manager: orNull(Type.String()),
      }),
    ),
  ),
  last_error: orNull(LastError),
  conditions: Type.Array(Condition),
  timeline: exactly({
    committed_at: orNull(Time),
    claimed_at: orNull(Time),
    applied_at: orNull(Time),
    observed_at: orNull(Time),
  }),
  ...policyMembers,
  global_id: orNull(Id, "the global resource that it is a copy of"),
  created_at: Time,
});

/** A line of the history, besides whose it is. */
export const revisionMembers = {
  generation: Generation,
  revision: Revision,
  api_version: Type.String(),
  desired_spec: Spec,
  actor: Type.String(),
  change_set: orNull(Type.String({ format: "uuid" })),
  created_at: Time,
};
export const Revisions = exactly({
  revisions: Type.Array(exactly({ resource_id: Id, ...revisionMembers })),
  next: orNull(Generation, "the before of the next page"),
});

export const SyncAsked = exactly({ id: Id, status: Status, message: Type.String() });
export const PauseSet = exactly({ id: Id, paused: Type.Boolean() });

/** What a cluster would make of a write. */
export const triedMembers = {
  dry_run: Type.Literal(true),
  result: orNull(Type.Object({}), "the object as the cluster would store it"),
  diff: DiffFields,
  conflicts: Type.Array(exactly({ field: Type.String(), manager: Type.String() })),
  warnings: Warnings,
};
export const Tried = exactly(triedMembers);

const outcome = words(["created", "updated", "unchanged", "deleted"]);
export const BatchDone = exactly({
  change_set: Type.String({ format: "uuid" }),
  results: Type.Array(
    exactly({ id: Id, generation: Generation, revision: Revision, status: Status, outcome }),
  ),
});
export const BatchTried = exactly({
  dry_run: Type.Literal(true),
  results: Type.Array(
    Type.Union([
      exactly({ ...triedMembers, outcome }),
      exactly({ dry_run: Type.Literal(true), ...refusalMembers }),
    ]),
  ),
});
