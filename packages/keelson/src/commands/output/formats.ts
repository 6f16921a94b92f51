// Answers as machines and people read them.

import { isJsonArray, isJsonObject, JsonNumber, writeJson, type Json } from "@keelson/base";

export const outputs = ["table", "wide", "json", "yaml", "name"] as const;

export type Output = (typeof outputs)[number];

/** The text of a value in a format that shows values whole, with a line break at its end. */
export async function valueText(value: Json, output: "json" | "yaml"): Promise<string> {
  if (output === "json") return `${indentedJson(value)}\n`;
  const { Document, Scalar, visit } = await import("yaml");
  // As Kubernetes' tools read it: what 1.1 takes for a number or a switch must stand in quotes.
  const document = new Document(value, { version: "1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (!(node.value instanceof JsonNumber)) return undefined;
      const number = new Scalar(Number(node.value.text));
      number.source = node.value.text;
      return number;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** A value in a line, for tables: text as it is, where it cannot be taken for something else. */
export function shortText(value: Json | undefined, lengthMax = 60): string {
  if (value === undefined) return "-";
  const text = typeof value === "string" && /^[\w./:@-]+$/.test(value) ? value : writeJson(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}

function indentedJson(value: Json, indent = ""): string {
  const inner = `${indent}  `;
  if (isJsonArray(value)) {
    if (value.length === 0) return "[]";
    const items = value.map((item) => inner + indentedJson(item, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${indentedJson(member, inner)}`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
}
