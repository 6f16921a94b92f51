// What an Ark kind is, before it is a definition.

import type { TSchema } from "typebox";
import type { PrinterColumn } from "@keelson/kube";

/** A kind of `ark.mckinsey.com`. */
export interface ArkKind {
  readonly kind: string;
  readonly plural: string;
  readonly version: "v1alpha1" | "v1prealpha1";
  readonly isNamespaced: boolean;
  readonly description: string;
  readonly spec: TSchema;
  readonly status: TSchema;
  /** `Age` comes after them. */
  readonly columns: readonly PrinterColumn[];
  /** What a field selector may name: `spec.type`. */
  readonly selectableFields: readonly string[];
}

/** A kind as most are. */
export function arkKind(
  kind: Pick<ArkKind, "kind" | "plural" | "description" | "spec" | "status" | "columns"> &
    Partial<ArkKind>,
): ArkKind {
  return { version: "v1alpha1", isNamespaced: true, selectableFields: [], ...kind };
}

/** A column of text. */
export function column(name: string, jsonPath: string): PrinterColumn {
  return { name, type: "string", jsonPath };
}

/** A column that shows a condition. */
export function conditionColumn(name: string, type = name): PrinterColumn {
  return column(name, `.status.conditions[?(@.type=="${type}")].status`);
}
