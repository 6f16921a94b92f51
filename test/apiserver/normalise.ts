// Making the answers of two servers comparable: what differs at each run gets a name by its order of appearance.

import { isJsonArray, isJsonObject, writeJson, type Json, type JsonObject } from "@keelson/base";
import { NumberedNames } from "../tools/numbered-names.ts";
import { textOf } from "./text-of.ts";

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
const freshTime = /20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const token = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const pem = /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----\n?/g;
const age = /^(\d+[smhdy])+$|^<invalid>$/;

/** What a server adds to a namespace by itself, at a moment of its own. */
const addedByItself = new Set(["kube-root-ca.crt", "default"]);

/**
 * One side of a comparison, for the length of a case. Versions and uids are named so that "the same as before"
 * can still be told; times, tokens and what the server chooses at random have only a name.
 */
export class Normaliser {
  readonly #names = new NumberedNames();

  normalise(value: Json): Json {
    return this.#walk(sorted(value), []);
  }

  text(text: string): string {
    return this.#string(text);
  }

  #walk(value: Json, path: readonly string[]): Json {
    if (isJsonArray(value)) return this.#array(value, path);
    if (isJsonObject(value)) return this.#object(value, path);
    return typeof value === "string" ? this.#member(value, path) : this.#number(value, path);
  }

  #array(array: readonly Json[], path: readonly string[]): readonly Json[] {
    const last = path.at(-1);
    const kept =
      last === "items" || last === "rows"
        ? array.filter((item) => !isAddedByItself(item))
        : last === "groups"
          ? array.filter((item) => !isGroupBesides(item))
          : array;
    const items = kept.map((item) => this.#walk(item, [...path, "[]"]));
    // The real server finds problems, and walks bindings, in the order of maps, which is any.
    if (last === "causes" || last === "resourceRules" || last === "nonResourceRules") {
      return items.sort((a, b) => (writeJson(a) < writeJson(b) ? -1 : 1));
    }
    if (last !== "managedFields") return items;
    // KB 42: the order of managers is free. Within a second it is by name, across a second by time: that is chance.
    return items.sort((a, b) => (managerKey(a) < managerKey(b) ? -1 : 1));
  }

  #object(object: JsonObject, path: readonly string[]): JsonObject {
    const isList = Array.isArray(object["items"]) || Array.isArray(object["rows"]);
    const entries = Object.entries(object).map(([key, value]): [string, Json] => {
      if (key === "metadata" && isList && isJsonObject(value)) return [key, this.#listMeta(value)];
      return [this.#key(key), this.#walk(value, [...path, key])];
    });
    const { name, generateName } = object;
    if (typeof name === "string" && typeof generateName === "string" && name !== generateName) {
      const isGenerated =
        name.startsWith(generateName.slice(0, 58)) && /^.{5}$/.test(name.slice(-5));
      if (isGenerated) entries.push(["name", `${generateName}*****`]);
    }
    return Object.fromEntries(entries);
  }

  /** Managed fields name owners by their uid: `k:{"uid":"…"}`. */
  #key(key: string): string {
    return key.startsWith("k:{")
      ? key.replaceAll(uuid, (found) => this.#names.of("uid", found))
      : key;
  }

  /** The version of a list is the whole store's, which others write to as well. */
  #listMeta(metadata: JsonObject): JsonObject {
    const { resourceVersion, continue: token, ...rest } = metadata;
    return {
      ...rest,
      ...(typeof resourceVersion === "string"
        ? { resourceVersion: listVersion(resourceVersion) }
        : {}),
      ...(typeof token === "string" ? { continue: tokenText(token) } : {}),
    };
  }

  #member(value: string, path: readonly string[]): Json {
    const key = path.at(-1) ?? "";
    const parent = path.at(-2) ?? "";
    if (value === "") return value;
    if (key === "resourceVersion" && parent === "metadata") return this.#names.of("version", value);
    if (key === "resourceVersion" && /^(object|involvedObject|preconditions)$/.test(parent)) {
      return this.#names.of("version", value);
    }
    if (key === "continue" && parent === "metadata") return tokenText(value);
    if (/^(clusterIP|clusterIPs|ip)$/.test(key) || (parent === "clusterIPs" && key === "[]")) {
      return value.replace(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/, "<cluster ip>");
    }
    if (parent === "cells" && age.test(value)) return "<age>";
    return this.#string(value);
  }

  #number(value: Json, path: readonly string[]): Json {
    if (path.at(-1) !== "nodePort" && path.at(-1) !== "healthCheckNodePort") return value;
    return typeof value === "number" && value > 30_004 ? "<node port>" : value;
  }

  #string(text: string): string {
    return (
      orderedProblems(orderedConflicts(text))
        .replaceAll(uuid, (found) => this.#names.of("uid", found))
        .replaceAll(token, "<token>")
        .replaceAll(pem, "<pem>")
        .replaceAll(freshTime, (found) => (isFresh(found) ? "<time>" : found))
        .replaceAll(/resource version: \d+ \(\d+\)/g, "resource version: <old> (<floor>)")
        .replaceAll(/(Too large resource version: \d+, current: )\d+/g, "$1<now>")
        .replaceAll(/10\.(?!96\.0\.)(9[6-9]|10\d|11[01])\.\d+\.\d+/g, "<cluster ip>")
        .replaceAll(/\b(gen-[\w.-]*-|kube-api-access-)[a-z\d]{5}\b/g, "$1*****")
        .replaceAll(/(\\*"resourceVersion\\*":\\*")\d+/g, "$1<version>")
        .replaceAll(/(ResourceVersion in record \()\d+/g, "$1<version>")
        .replaceAll(/(\d+):3[0-2]\d{3}\/(TCP|UDP)/g, "$1:<node port>/$2")
        // The whole object in a message: members in the order of Go's structs, which is not ours.
        .replaceAll(/Invalid value: "\{\\"apiVersion.*\}": /g, 'Invalid value: "{…}": ')
        .replaceAll(/X509SHA256=[\da-f]{64}/g, "X509SHA256=…")
        .replaceAll(/127\.0\.0\.1:\d+/g, "<address>")
    );
  }
}

/** KB 42: a block for each manager, in any order. */
function orderedConflicts(text: string): string {
  const head = /^Apply failed with \d+ conflicts: /.exec(text)?.[0];
  if (head === undefined) return text;
  const blocks = text.slice(head.length).split(/\n(?=conflicts with )/);
  return `${head}${blocks.sort().join("\n")}`;
}

/** `… is invalid: [a, b]` with its problems in some order. */
function orderedProblems(text: string): string {
  const match = /^(.* is invalid: \[)(.*)\]$/s.exec(text);
  if (match === null) return text;
  const [, head = "", problems = ""] = match;
  const next =
    /, (?=[^\s:]+(?:\[[^\]]*\][^\s:]*)?: (?:Invalid|Required|Forbidden|Duplicate|Unsupported|Internal|Too) )/;
  return `${head}${problems.split(next).sort().join(", ")}]`;
}

/** Numbers are given in the order in which values are met, so the order of members must not matter. */
function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key): [string, Json] => [key, sorted(value[key] ?? null)]),
  );
}

function isAddedByItself(item: Json): boolean {
  if (!isJsonObject(item)) return false;
  const { metadata, object } = item;
  const holder = isJsonObject(metadata) ? item : isJsonObject(object) ? object : undefined;
  const name = isJsonObject(holder?.["metadata"]) ? holder["metadata"]["name"] : undefined;
  return typeof name === "string" && addedByItself.has(name);
}

/** Groups that other cases add and remove, and the one that is served here alone. */
function isGroupBesides(item: Json): boolean {
  const name = isJsonObject(item) ? item["name"] : undefined;
  return (
    typeof name === "string" &&
    /(^|\.)example\.com$|^ark\.mckinsey\.com$|^platform\.internal$/.test(name)
  );
}

/** Who manages: what orders entries by anything but their times. */
export function managerKey(entry: Json): string {
  if (!isJsonObject(entry)) return "";
  const { operation, manager, subresource, apiVersion, fieldsV1 } = entry;
  return writeJson([
    operation ?? "",
    manager ?? "",
    subresource ?? "",
    apiVersion ?? "",
    fieldsV1 ?? null,
  ]);
}

function listVersion(value: string): string {
  return /^[1-9]\d*$/.test(value) ? "<list version>" : value;
}

/** Whether a token goes on at its own version or at a fresh one; the rest is nobody's business. */
function tokenText(token: string): string {
  try {
    const text = Buffer.from(token, "base64url").toString("utf8");
    const { v, rv, start } = JSON.parse(text) as { v?: Json; rv?: number; start?: string };
    const version = rv === -1 ? "-1" : rv === undefined ? "none" : "<version>";
    return `token ${textOf(v)} at ${version}${start?.endsWith("\0") === true ? " after a key" : ""}`;
  } catch {
    return token;
  }
}

function isFresh(time: string): boolean {
  return Math.abs(Date.parse(time) - Date.now()) < 2 * 24 * 3_600_000;
}
