// Objects as the real server holds them while it judges them: some messages show that form, with its own names and everything
// that is empty.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { goJson, goJsonString } from "../../go-text/go-json.ts";
import { memberOf } from "../../object/member.ts";
import { objectOf, sortedKeys } from "../../object/members.ts";
import data from "../data/internal-structs.json" with { type: "json" };

/** The value in one line, as messages show it. The type is a key of the data: `core.PodTemplateSpec`. */
export function showInternal(type: string, value: JsonObject): string {
  return printLine(nodeOf(type, value));
}

/** The value in lines, each level indented by a space. */
export function showInternalLines(type: string, value: JsonObject): string {
  return printLines(nodeOf(type, value), "");
}

type FieldRecord = readonly [printed: string, member: string, type: string, omits?: string];

const structs: ReadonlyMap<string, readonly FieldRecord[]> = new Map(
  // oxlint-disable-next-line no-unsafe-type-assertion -- the extraction writes such records
  Object.entries(data as unknown as Readonly<Record<string, readonly FieldRecord[]>>),
);

/** A text, a list, or members in order. */
type Node = string | readonly Node[] | { readonly members: readonly (readonly [string, Node])[] };

function nodeOf(type: string, value: Json | undefined): Node {
  if (type.startsWith("*"))
    return value === undefined || value === null ? "null" : nodeOf(type.slice(1), value);
  if (type.startsWith("[]")) {
    if (value === undefined || !isJsonArray(value)) return "null";
    return value.map((item) => nodeOf(type.slice(2), item));
  }
  if (type.startsWith("{}")) {
    if (value === undefined || !isJsonObject(value)) return "null";
    const item = type.slice(2);
    return { members: sortedKeys(value).map((key) => [key, nodeOf(item, value[key])] as const) };
  }
  switch (type) {
    case "string":
      return goJsonString(typeof value === "string" ? value : "");
    case "bool":
      return String(value === true);
    case "number":
    case "intstr.IntOrString":
      return value === undefined || value === null ? "0" : goJson(value);
    case "resource.Quantity":
      return value === undefined || value === null ? '"0"' : goJson(value);
    default:
      return structNode(type, value);
  }
}

function structNode(type: string, value: Json | undefined): Node {
  const fields = structs.get(type);
  // What prints itself, such as a time, prints as it was sent.
  if (fields === undefined) return value === undefined ? "null" : goJson(value);
  const object = value !== undefined && isJsonObject(value) ? whole(type, value) : {};
  const members: (readonly [string, Node])[] = [];
  for (const [printed, member, own, omits] of fields) {
    const found = memberAt(object, member === "" ? lowerFirst(printed) : member);
    if (omits !== undefined && (found === undefined || found === null)) continue;
    members.push([printed, nodeOf(own, found)]);
  }
  return { members };
}

/** What clients send beside the security context of a Pod, the real server keeps in it. */
function whole(type: string, value: JsonObject): JsonObject {
  if (type !== "core.PodSpec") return value;
  const moved = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"]
    .filter((name) => Object.hasOwn(value, name))
    .map((name) => [name, value[name] ?? null] as const);
  const context = { ...objectOf(value, "securityContext"), ...Object.fromEntries(moved) };
  return { ...value, securityContext: context };
}

function memberAt(object: JsonObject, path: string): Json | undefined {
  const dot = path.indexOf(".");
  if (dot < 0) return memberOf(object, path);
  return memberOf(objectOf(object, path.slice(0, dot)), path.slice(dot + 1));
}

function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}

function printLine(node: Node): string {
  if (typeof node === "string") return node;
  if (!("members" in node)) return `[${node.map(printLine).join(",")}]`;
  return `{${node.members.map(([key, own]) => `${goJsonString(key)}:${printLine(own)}`).join(",")}}`;
}

function printLines(node: Node, indent: string): string {
  if (typeof node === "string") return node;
  const inner = `${indent} `;
  const items =
    "members" in node
      ? node.members.map(([key, own]) => `${goJsonString(key)}: ${printLines(own, inner)}`)
      : node.map((item) => printLines(item, inner));
  const [open, close] = "members" in node ? ["{", "}"] : ["[", "]"];
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}
