// Paths of fields as people write them.

/** `/spec/containers/0/image` as `spec.containers[0].image`; keys that are no words stand in quotes. */
export function fieldPath(pointer: string): string {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const text = steps
    .map((step) => {
      if (/^\d+$/.test(step)) return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("");
  return text === "" ? "everything" : text.replace(/^\./, "");
}
