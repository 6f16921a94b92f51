// What an Ark kind is, before it is a definition.

import type { TSchema } from "typebox";
import type { DeclaredKind, PrinterColumn } from "@keelson/kube";
import { arkGroup } from "./ark-group.ts";

/** A kind of `ark.mckinsey.com`. */
export interface ArkKind extends DeclaredKind {
  readonly group: typeof arkGroup;
  readonly version: "v1alpha1" | "v1prealpha1";
  readonly spec: TSchema;
  readonly status: TSchema;
}

/** A kind as most are. */
export function arkKind(
  kind: Pick<ArkKind, "kind" | "plural" | "description" | "spec" | "status" | "columns"> &
    Partial<ArkKind>,
): ArkKind {
  return {
    group: arkGroup,
    version: "v1alpha1",
    isNamespaced: true,
    selectableFields: [],
    ...kind,
  };
}

/** A column of text. */
export function column(name: string, jsonPath: string): PrinterColumn {
  return { name, type: "string", jsonPath };
}

/** A column that shows a condition. */
export function conditionColumn(name: string, type = name): PrinterColumn {
  return column(name, `.status.conditions[?(@.type=="${type}")].status`);
}
