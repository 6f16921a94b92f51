import type { StructuralSchema } from "../schema/structural.ts";

/** What strategic merge knows of a field. */
export interface PatchField {
  /** Whether the schema names it. */
  readonly isKnown: boolean;
  /** Of the field, or of the items if it is a list. */
  readonly schema: StructuralSchema | undefined;
  readonly strategy: "merge" | "replace" | "";
  readonly mergeKey: string | undefined;
}

/** Looks a field up. One that the schema does not name merges by the rules of merge patches. */
export function lookupField(schema: StructuralSchema | undefined, name: string): PatchField {
  const properties = schema?.properties;
  const field =
    properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (field === undefined) {
    return { isKnown: false, schema: undefined, strategy: "", mergeKey: undefined };
  }
  return {
    isKnown: true,
    schema: field.type === "array" ? field.items : field,
    strategy: strategyOf(field),
    mergeKey: field["x-kubernetes-patch-merge-key"],
  };
}

/** `retainKeys` concerns only those who make patches. */
function strategyOf(field: StructuralSchema): PatchField["strategy"] {
  const [strategy] = (field["x-kubernetes-patch-strategy"] ?? "")
    .split(",")
    .filter((word) => word !== "retainKeys");
  return strategy === "merge" || strategy === "replace" ? strategy : "";
}
