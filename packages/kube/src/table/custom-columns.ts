// The columns of custom kinds, from their definitions.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { JsonPath } from "../jsonpath/evaluate.ts";
import { JsonPathError } from "../jsonpath/parse.ts";
import { parseTimestamp } from "../cel/timestamps.ts";
import { printFloat } from "../go-text/go-print.ts";
import { goJson } from "../go-text/go-json.ts";
import { floatOf, integerJson, kindOf, scalarText, truncateToInt64 } from "../schema/go-value.ts";
import { humanDuration } from "./human-duration.ts";
import type { TableColumn, TableRow } from "./table.ts";

/** A column as `additionalPrinterColumns` declares it. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** What a kind shows that declares no columns. */
export const defaultPrinterColumns: readonly PrinterColumn[] = [
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** The columns of a kind, their paths read once. */
export class CustomColumns {
  readonly columns: readonly TableColumn[];
  readonly #paths: readonly { readonly type: string; readonly path: JsonPath }[];

  /** Throws a `JsonPathError` for a path that cannot be read. */
  constructor(declared: readonly PrinterColumn[] = defaultPrinterColumns) {
    this.columns = [nameColumn, ...declared.map(columnOf)];
    this.#paths = declared.map(({ type, jsonPath }) => ({ type, path: new JsonPath(jsonPath) }));
  }

  /** The row of an object at a time. */
  row(object: JsonObject, nowMs: number): TableRow {
    const { metadata = {} } = object;
    const name = isJsonObject(metadata) ? metadata["name"] : undefined;
    const cells = this.#paths.map(({ type, path }) => cellOf(type, firstOf(path, object), nowMs));
    return { cells: [typeof name === "string" ? name : "", ...cells], object };
  }
}

const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object, unique among its kind in its namespace.",
  priority: 0,
};

function columnOf({
  name,
  type,
  jsonPath,
  format = "",
  description = "",
  priority = 0,
}: PrinterColumn): TableColumn {
  const words =
    description === ""
      ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
      : description;
  return { name, type, format, description: words, priority };
}

function firstOf(path: JsonPath, object: JsonObject): Json | undefined {
  try {
    return path.find(object)[0];
  } catch (error) {
    if (error instanceof JsonPathError) return undefined; // Such a cell is empty.
    throw error;
  }
}

function cellOf(type: string, value: Json | undefined, nowMs: number): Json {
  if (value === undefined) return null;
  if (type === "string") return textOf(value);
  const kind = kindOf(value);
  const isNumber = kind === "integer" || kind === "number";
  switch (type) {
    case "integer":
      if (kind === "integer") return value;
      return isNumber ? integerJson(truncateToInt64(floatOf(value))) : null;
    case "number":
      return isNumber ? floatOf(value) : null;
    case "boolean":
      return kind === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, nowMs) : null;
    default:
      return null;
  }
}

function dateCell(text: string, nowMs: number): string {
  if (text === "" || text === "null") return "<unknown>";
  const nanos = parseTimestamp(text);
  if (nanos === undefined) return "<invalid>";
  return humanDuration(nowMs - Number(nanos / 1_000_000n));
}

function textOf(value: Json): string {
  switch (kindOf(value)) {
    case "string":
      return value as string;
    case "null":
      return "<no value>";
    case "number":
      return printFloat(floatOf(value));
    case "array":
    case "object":
      return goJson(value);
    case "integer":
    case "boolean":
      return scalarText(value);
  }
}
