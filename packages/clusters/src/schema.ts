// What callers send, as schemas: they check, give the types and make the documents. Rules that need more than the body
// are in `resources/spec-rules.ts`. Members that we own are ignored, wherever a body may have others.

import { Type, type Static } from "typebox";

const Text = (description: string, max = 255) =>
  Type.String({ minLength: 1, maxLength: max, description });

const ProjectId = Type.Optional(
  Type.Union([Type.String({ maxLength: 255 }), Type.Null()], {
    description: "the project that the cluster goes to",
  }),
);

/** Free-form: only its known parts are looked at, and the rest comes back as it was. */
const Spec = Type.Object({}, { description: "free-form" });

const ClusterSpec = Type.Object(
  { platform: Type.Object({ type: Text("gcp, aws, azure or any other") }) },
  { description: "free-form; only the platform's type is required" },
);

export const NewCluster = Type.Object({
  name: Text("unique among the owner's clusters"),
  target_project_id: ProjectId,
  spec: ClusterSpec,
});
export type NewCluster = Static<typeof NewCluster>;

const expectedGeneration = {
  generation: Type.Optional(Type.Integer({ minimum: 1, description: "refused unless it is this" })),
  expected_generation: Type.Optional(Type.Integer({ minimum: 1, description: "the same" })),
};

export const ClusterUpdate = Type.Object({
  name: Type.Optional(Type.String({ description: "if given, the name it has" })),
  target_project_id: ProjectId,
  spec: ClusterSpec,
  ...expectedGeneration,
});
export type ClusterUpdate = Static<typeof ClusterUpdate>;

export const NewNodepool = Type.Object({
  name: Text("unique in its cluster"),
  cluster_id: Type.String({ description: "the id of its cluster" }),
  spec: Type.Optional(Spec),
});
export type NewNodepool = Static<typeof NewNodepool>;

export const NodepoolUpdate = Type.Object({
  name: Type.Optional(Type.String({ description: "if given, the name it has" })),
  target_project_id: ProjectId,
  spec: Spec,
  ...expectedGeneration,
});
export type NodepoolUpdate = Static<typeof NodepoolUpdate>;

const Condition = Type.Object({
  type: Text("unique among the conditions"),
  status: Type.Union([Type.Literal("True"), Type.Literal("False"), Type.Literal("Unknown")]),
  reason: Type.Optional(Type.String({ maxLength: 1_024 })),
  message: Type.Optional(Type.String({ maxLength: 32_768 })),
  lastTransitionTime: Type.Optional(Type.String({ format: "date-time" })),
  severity: Type.Optional(Type.String({ maxLength: 255 })),
});

const ErrorType = Type.Union([
  Type.Literal("Transient"),
  Type.Literal("Configuration"),
  Type.Literal("Fatal"),
  Type.Literal("System"),
]);

/** In both spellings; stored in the first. */
const LastError = Type.Object({
  controllerName: Type.Optional(Type.String({ maxLength: 255 })),
  errorType: Type.Optional(ErrorType),
  errorCode: Type.Optional(Type.String({ maxLength: 255 })),
  message: Type.Optional(Type.String({ maxLength: 32_768 })),
  userActionable: Type.Optional(Type.Boolean()),
  suggestions: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  details: Type.Optional(Type.Object({})),
  retryAfter: Type.Optional(Type.Integer({ minimum: 0, description: "nanoseconds" })),
  timestamp: Type.Optional(Type.String({ format: "date-time" })),
  controller_name: Type.Optional(Type.String({ maxLength: 255 })),
  error_type: Type.Optional(ErrorType),
  error_code: Type.Optional(Type.String({ maxLength: 255 })),
  user_actionable: Type.Optional(Type.Boolean()),
  retry_after: Type.Optional(Type.Integer({ minimum: 0, description: "nanoseconds" })),
});

export const StatusReport = Type.Object({
  controller_name: Text("who reports"),
  observed_generation: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  conditions: Type.Array(Condition, { maxItems: 100 }),
  metadata: Type.Optional(Type.Object({})),
  last_error: Type.Optional(Type.Union([LastError, Type.Null()])),
  finalizer: Type.Optional(
    Type.Boolean({ description: "whether a deletion waits for this controller" }),
  ),
});
export type StatusReport = Static<typeof StatusReport>;

export const ControllerRegistration = Type.Object({
  kinds: Type.Array(Type.Union([Type.Literal("cluster"), Type.Literal("nodepool")]), {
    minItems: 1,
    uniqueItems: true,
  }),
  platforms: Type.Optional(
    Type.Array(Text("a platform's type"), { maxItems: 100, description: "none is all" }),
  ),
  finalizer: Type.Optional(Type.Boolean()),
});
export type ControllerRegistration = Static<typeof ControllerRegistration>;
