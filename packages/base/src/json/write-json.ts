import { JsonNumber, type Json, type JsonObject } from "./json.ts";

/**
 * Writes a value so that `readJson` gives it back: numbers by their text, keys in their order.
 *
 * As with `JSON.stringify` members that are `undefined` are left out, numbers that are not finite are null,
 * and lone surrogates are escaped. Throws a `TypeError` for a value that contains itself.
 */
export function writeJson(value: Json): string {
  try {
    // It throws at the first bigint or `JsonNumber`, which almost no value has.
    return JSON.stringify(value);
  } catch {
    return writeCarefully(value);
  }
}

/** An array or object that is being written. */
interface Frame {
  readonly container: readonly Json[] | JsonObject;
  /** The keys of an object; an array has none. */
  readonly keys: readonly string[] | undefined;
  /** The index of the next item or key. */
  next: number;
  /** What stands before the next item: nothing, then a comma. */
  separator: "" | ",";
}

/** With a stack of its own: depth must not overflow the other one. */
function writeCarefully(root: Json): string {
  const frames: Frame[] = [];
  const within = new Set<object>();

  /** Writes a scalar, or the beginning of an array or object, which becomes the innermost frame. */
  const begin = (value: Json): string => {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (value instanceof JsonNumber) return value.text;
    if (within.has(value)) throw new TypeError("a value that contains itself cannot be written");
    within.add(value);
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    frames.push({ container: value, keys, next: 0, separator: "" });
    return keys === undefined ? "[" : "{";
  };
  const end = ({ container, keys }: Frame): string => {
    within.delete(container);
    frames.pop();
    return keys === undefined ? "]" : "}";
  };

  let text = begin(root);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, keys, separator } = frame;
    const index = frame.next++;
    if (keys === undefined) {
      const items = container as readonly Json[];
      if (index >= items.length) text += end(frame);
      else text += separator + begin(items[index] ?? null);
    } else {
      const key = keys[index];
      if (key === undefined) {
        text += end(frame);
      } else {
        const member = (container as JsonObject)[key];
        if (member === undefined) continue;
        text += `${separator}${JSON.stringify(key)}:${begin(member)}`;
      }
    }
    frame.separator = ",";
  }
  return text;
}
