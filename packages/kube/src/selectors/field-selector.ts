// Field selectors: `metadata.name=x,status.phase!=Running` (KB 22).

import { compareBytes } from "../go-text/byte-order.ts";
import { BadSelector } from "./requirement.ts";

/** One condition on one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** All of these must hold; none chooses everything. */
export type FieldSelector = readonly FieldRequirement[];

/** Reads a selector. Throws a `BadSelector` with the words of Kubernetes. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort(compareBytes)) {
    if (term === "") continue;
    const split = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (split === null) {
      throw new BadSelector(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    const [, field = "", operator, escaped = ""] = split;
    const value = unescape(escaped);
    // Nothing of nothing asks for nothing.
    if (field === "" && value === "") continue;
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value });
  }
  return requirements;
}

/** The selector as Kubernetes writes it; `parseFieldSelector` reads it back. */
export function printFieldSelector(selector: FieldSelector): string {
  return selector
    .map(({ field, operator, value }) => field + operator + value.replaceAll(/[\\,=]/g, "\\$&"))
    .join(",");
}

/** Whether an object with these fields is chosen; a field that it does not have is the empty text. */
export function matchesFields(
  selector: FieldSelector,
  fieldOf: (field: string) => string | undefined,
): boolean {
  return selector.every(({ field, operator, value }) => {
    const isEqual = (fieldOf(field) ?? "") === value;
    return operator === "=" ? isEqual : !isEqual;
  });
}

/** The value a field must have, if the selector says one. */
export function exactField(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.operator === "=" && term.field === field)?.value;
}

/** Commas part terms, unless a backslash is before them. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescape(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  let result = "";
  let isEscaped = false;
  for (const character of value) {
    if (isEscaped) {
      if (!/[\\,=]/.test(character)) {
        throw new BadSelector(`invalid field selector: invalid escape sequence: \\${character}`);
      }
      result += character;
      isEscaped = false;
    } else if (character === "\\") {
      isEscaped = true;
    } else if (character === "," || character === "=") {
      const code = character.codePointAt(0) ?? 0;
      throw new BadSelector(`invalid field selector: unescaped character in value: ${code}`);
    } else {
      result += character;
    }
  }
  if (isEscaped) throw new BadSelector("invalid field selector: invalid escape sequence: \\");
  return result;
}
