// Versions that a real server moves although nothing has changed (S12).

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { compare } from "../oracle/compare.ts";

/**
 * Follows the answers of one case on both servers. Where the real one gives an object a new version and nothing else,
 * and ours leaves it alone, the version has moved in vain: it counts as the one before, and later ones move up.
 */
export class VainVersions {
  readonly #oracleBodies: JsonObject[] = [];
  readonly #names = new Map<string, string>();
  #highest = 0;

  /** The real server's answer as if no version had moved in vain, and whether one did just now. */
  follow(oracle: Json, ours: Json): { readonly oracle: Json; readonly isVain: boolean } {
    const renamed = this.renamed(oracle);
    const [body, own] = [bodyOf(renamed), bodyOf(ours)];
    if (body === undefined) return { oracle: renamed, isVain: false };
    const [version, ownVersion] = [versionOf(body), versionOf(own)];
    const before = this.#oracleBodies.findLast(
      (one) => uidOf(one) === uidOf(body) && one["kind"] === body["kind"],
    );
    this.#oracleBodies.push(body);
    const isNew = numberOf(version) > this.#highest;
    this.#highest = Math.max(this.#highest, numberOf(version));
    const isVain =
      before !== undefined &&
      isNew &&
      ownVersion !== version &&
      ownVersion === versionOf(before) &&
      compare(withVersion(body, ""), withVersion(before, "")).length === 0;
    if (!isVain) return { oracle: renamed, isVain };
    this.#names.set(rawVersion(oracle), ownVersion);
    this.#oracleBodies.pop();
    this.#highest -= 1;
    return { oracle: this.renamed(oracle), isVain };
  }

  /** Something that the server said, with the versions as they count. */
  renamed(value: Json): Json {
    if (this.#names.size === 0) return value;
    if (typeof value === "string") return this.#nameOf(value);
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => this.renamed(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]): [string, Json] => [key, this.renamed(member)]),
    );
  }

  #nameOf(text: string): string {
    const number = numberOf(text);
    if (number === 0) return text;
    const vain = [...this.#names.keys()].filter((name) => numberOf(name) < number).length;
    return this.#names.get(text) ?? `version-${number - vain}`;
  }
}

function bodyOf(answer: Json): JsonObject | undefined {
  const body = isJsonObject(answer) ? answer["body"] : undefined;
  return isJsonObject(body) ? body : undefined;
}

function rawVersion(answer: Json): string {
  return versionOf(bodyOf(answer));
}

function versionOf(body: JsonObject | undefined): string {
  return metadataText(body, "resourceVersion");
}

function uidOf(body: JsonObject): string {
  return metadataText(body, "uid");
}

function metadataText(body: JsonObject | undefined, name: string): string {
  const metadata = body?.["metadata"];
  const value = isJsonObject(metadata) ? metadata[name] : undefined;
  return typeof value === "string" ? value : "";
}

function withVersion(body: JsonObject, resourceVersion: string): JsonObject {
  const { metadata } = body;
  return { ...body, metadata: { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion } };
}

function numberOf(name: string): number {
  return Number(/^version-(\d+)$/.exec(name)?.[1] ?? 0);
}
