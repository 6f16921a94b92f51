// Parts of the schemas that describe the API. They document; what is sent is read field by field, with words about each.

import { Type, type TProperties, type TSchema } from "typebox";
import { limitMax, limitUsual, statuses } from "./resources/list-query.ts";
import { integerMax, policies } from "./resources/resource.ts";

export const Time = Type.String({ format: "date-time" });
export const Id = Type.Integer({ minimum: 1, maximum: integerMax });
export const Count = Type.Integer({ minimum: 0 });
export const Anything = Type.Unknown();

export function words(all: readonly string[], description?: string): TSchema {
  const literals = all.map((word) => Type.Literal(word));
  return Type.Union(literals, description === undefined ? {} : { description });
}

export function orNull(schema: TSchema, description?: string): TSchema {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** An object with these members and no other. */
export function exactly(members: TProperties, description?: string): TSchema {
  const options = { additionalProperties: false };
  return Type.Object(members, description === undefined ? options : { ...options, description });
}

export const Generation = Type.Integer({ minimum: 1, description: "rises with every change" });
export const Revision = Type.Integer({
  minimum: 1,
  maximum: integerMax,
  description: "the user's own number, which may fall",
});
export const Status = words(statuses);
export const Health = words([
  "Unknown",
  "Missing",
  "Suspended",
  "Degraded",
  "Progressing",
  "Healthy",
]);

export const ClusterId = Type.String({
  maxLength: 100,
  pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$",
});
export const Namespace = Type.String({
  maxLength: 63,
  description: "required for kinds that live in namespaces, ignored for others",
});
export const Kind = Type.String({ maxLength: 255, pattern: "^[A-Z][A-Za-z0-9]*$" });
export const Name = Type.String({ minLength: 1, maxLength: 253 });
export const ApiVersion = Type.String({
  maxLength: 100,
  description: "may be left out for the usual kinds of apps, core, networking.k8s.io and batch",
});
export const Spec = Type.Object(
  {},
  {
    description:
      "part of a manifest: spec, data, rules, … and metadata.labels, metadata.annotations; values of a Secret read as markers",
  },
);
export const Labels = Type.Record(Type.String(), Type.String());

/** Policies as they are shown. */
export const policyMembers = {
  conflict_policy: words(policies.conflictPolicy, "when others own a field"),
  drift_policy: words(policies.driftPolicy, "when somebody changes a field of ours"),
  immutable_policy: words(policies.immutablePolicy, "when a field cannot be changed"),
  propagation: words(policies.propagation, "how it is deleted"),
  paused: Type.Boolean({ description: "nothing is written to the cluster" }),
};

/** The same, each of which may be missing in what is sent. */
export const optionalPolicies: TProperties = Object.fromEntries(
  Object.entries(policyMembers).map(([name, schema]) => [name, Type.Optional(schema)]),
);

export const Warnings = Type.Array(exactly({ code: Type.String(), message: Type.String() }));

/** A refusal inside a larger answer. */
export const refusalMembers = {
  error: Type.String(),
  code: Type.String(),
  details: Type.Object({}),
};

export const Deleted = exactly({
  id: Id,
  status: words(["deleting", "deleted"]),
  message: Type.String(),
});

/** Queries and headers that several routes take. */
export const flag = (description: string): TSchema => words(["true", "false"], description);
export const dryRunQuery = { dryRun: flag("try it in the cluster, and store nothing") };
export const orphanQuery = { orphan: flag("forget it and leave what is in the cluster") };
const Limit = Type.Integer({ minimum: 1, maximum: limitMax, default: limitUsual });
export const pageQuery = {
  limit: Limit,
  cursor: Type.String({ description: "the next of the page before" }),
};
export const historyQuery = {
  limit: Limit,
  before: Type.Integer({ description: "the next of the page before" }),
};
export const ifMatchHeader = {
  "If-Match": Type.String({ description: "refused unless this is the ETag: its generation" }),
};
