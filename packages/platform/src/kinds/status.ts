// What the operator says of an Application or a PreviewEnvironment.

import { Type, type Static } from "typebox";

import { mapList, object, oneOf } from "./schema-parts.ts";

export const phases = ["Pending", "Provisioning", "Running", "Failed", "Terminating"] as const;
export type Phase = (typeof phases)[number];

/** One word, as machines compare it. */
const reason = { maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_]*)$" } as const;
const reasonPattern = new RegExp(reason.pattern);

/** Whether a condition may have it as its reason: a status with another would be refused for ever. */
export function isReason(text: string): boolean {
  return text.length <= reason.maxLength && reasonPattern.test(text);
}

const condition = object({
  type: Type.String({ maxLength: 316 }),
  status: oneOf(["True", "False", "Unknown"]),
  reason: Type.String({ minLength: 1, ...reason }),
  message: Type.String({ maxLength: 32768 }),
  lastTransitionTime: Type.String({ format: "date-time" }),
  observedGeneration: Type.Optional(Type.Integer({ format: "int64", minimum: 0 })),
});
export type Condition = Static<typeof condition>;

const ownedKinds = ["Schema", "Role", "Bucket", "Realm", "Namespace"] as const;
export type OwnedKind = (typeof ownedKinds)[number];

const owned = object({
  kind: oneOf(ownedKinds),
  name: Type.String({ minLength: 1, maxLength: 253 }),
  state: oneOf(["Creating", "Ready", "Deleting", "Retained"]),
});
/** Something outside the cluster that an object made, or is about to. */
export type Owned = Static<typeof owned>;

export const commonStatus = {
  phase: Type.Optional(oneOf(phases)),
  url: Type.Optional(Type.String()),
  observedGeneration: Type.Optional(Type.Integer({ format: "int64" })),
  conditions: Type.Optional(mapList(condition, { keys: ["type"] })),
  owned: Type.Optional(mapList(owned, { keys: ["kind", "name"] })),
};
