// The values that an `enum` allows, found without looking at each of them.

import type { Json } from "@keelson/base";
import { goJson } from "../go-text/go-json.ts";
import { floatOf, kindOf, truncateToInt64, type ValueKind } from "./go-value.ts";
import { identityOf } from "./identity.ts";
import type { StructuralSchema } from "./structural.ts";

/** The allowed values of a schema; undefined if it allows all. Made once for each schema. */
export function enumerationOf(schema: StructuralSchema): Enumeration | undefined {
  const allowed = schema.enum ?? [];
  if (allowed.length === 0) return undefined;
  const known = enumerations.get(allowed);
  if (known !== undefined) return known;
  const made = new Enumeration(allowed);
  enumerations.set(allowed, made);
  return made;
}

const enumerations = new WeakMap<readonly Json[], Enumeration>();

class Enumeration {
  /** The values as messages show them. */
  readonly texts: readonly string[];
  /** All of them in one text. */
  readonly text: string;
  readonly #kinds = new Set<ValueKind>();
  readonly #identities = new Set<string>();
  readonly #floats = new Set<number>();
  #longest = 0;

  constructor(allowed: readonly Json[]) {
    this.texts = allowed.map((value) => (typeof value === "string" ? value : goJson(value)));
    this.text = this.texts.join(" ");
    for (const value of allowed) {
      const identity = identityOf(value);
      this.#kinds.add(kindOf(value));
      this.#identities.add(identity);
      this.#longest = Math.max(this.#longest, identity.length);
      if (kindOf(value) === "number") this.#floats.add(floatOf(value));
    }
  }

  /** Whether a value, converted to the type of an allowed one where Go can do so, equals it; null never does. */
  has(value: Json): boolean {
    if (value === null) return false;
    const kind = kindOf(value);
    const isKind = this.#kinds.has(kind);
    if (isKind && this.#identities.has(identityOf(value, this.#longest))) return true;
    if (kind === "number") return this.#identities.has(String(truncateToInt64(floatOf(value))));
    if (kind !== "integer") return false;
    // Go turns an integer into the character of that number.
    return this.#floats.has(floatOf(value)) || this.#identities.has(identityOf(characterOf(value)));
  }
}

function characterOf(value: Json): string {
  const code = Number(value);
  const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
