// The conditions in the status of a definition.

import type { Json, JsonObject } from "@keelson/base";

import { firstCondition, isFirstTrue } from "../kinds/rules/conditions.ts";
import { objectOf, objectsOf, textOf } from "../object/members.ts";

export type DefinitionConditionType =
  | "Established"
  | "NamesAccepted"
  | "NonStructuralSchema"
  | "Terminating"
  | "KubernetesAPIApprovalPolicyConformant";

export interface DefinitionCondition {
  readonly type: DefinitionConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** A condition as it stands, or nothing. */
export function conditionOf(
  definition: JsonObject,
  type: DefinitionConditionType,
): JsonObject | undefined {
  return firstCondition(objectOf(definition, "status"), type);
}

export function isConditionTrue(definition: JsonObject, type: DefinitionConditionType): boolean {
  return isFirstTrue(objectOf(definition, "status"), type);
}

/** Whether a condition already says so. */
export function saysAlready(
  definition: JsonObject,
  { type, status, reason, message }: DefinitionCondition,
): boolean {
  const old = conditionOf(definition, type);
  return (
    old !== undefined &&
    textOf(old, "status") === status &&
    textOf(old, "reason") === reason &&
    textOf(old, "message") === message
  );
}

/** The definition with the condition in it; its time moves only with its status. */
export function withCondition(
  definition: JsonObject,
  { type, status, reason, message }: DefinitionCondition,
  now: string,
): JsonObject {
  const old = objectsOf(objectOf(definition, "status"), "conditions");
  const index = old.findIndex((one) => textOf(one, "type") === type);
  const before = old[index] ?? {};
  const since = textOf(before, "lastTransitionTime");
  const isSame = textOf(before, "status") === status && since !== "";
  const next: JsonObject = {
    ...before,
    type,
    status,
    lastTransitionTime: isSame ? since : now,
    reason,
    message,
  };
  const conditions = index < 0 ? [...old, next] : old.with(index, next);
  return withStatus(definition, { conditions });
}

/** The definition with the condition in it; itself if it says so already. */
export function saying(
  definition: JsonObject,
  condition: DefinitionCondition,
  now: string,
): JsonObject {
  return saysAlready(definition, condition)
    ? definition
    : withCondition(definition, condition, now);
}

export function withoutCondition(
  definition: JsonObject,
  type: DefinitionConditionType,
): JsonObject {
  const old = objectsOf(objectOf(definition, "status"), "conditions");
  return withStatus(definition, { conditions: old.filter((one) => textOf(one, "type") !== type) });
}

export function withStatus(
  definition: JsonObject,
  more: Readonly<Record<string, Json>>,
): JsonObject {
  return { ...definition, status: { ...objectOf(definition, "status"), ...more } };
}
