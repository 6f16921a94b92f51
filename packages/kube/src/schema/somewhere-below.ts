import type { StructuralSchema } from "./structural.ts";

/**
 * Whether there is a schema of some sort anywhere below another: asked once for each schema, and almost always no, so
 * that nothing needs to be walked.
 */
export function somewhereBelow(
  isSought: (schema: StructuralSchema) => boolean,
): (schema: StructuralSchema) => boolean {
  const answers = new WeakMap<StructuralSchema, boolean>();
  const hasBelow = (schema: StructuralSchema): boolean => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    answers.set(schema, true); // Of a schema that contains itself the answer is not known yet.
    const { items, additionalProperties } = schema;
    const parts = Object.values(schema.properties ?? {});
    if (items !== undefined) parts.push(items);
    if (typeof additionalProperties === "object") parts.push(additionalProperties);
    const isFound = parts.some((part) => isSought(part) || hasBelow(part));
    answers.set(schema, isFound);
    return isFound;
  };
  return hasBelow;
}
