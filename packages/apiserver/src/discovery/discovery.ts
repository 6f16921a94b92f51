// Which kinds there are (KB 59): legacy documents, and aggregated ones for those who ask.

import { negotiateAnswer, type Negotiated, type Offer } from "@keelson/kube";
import { stringify } from "yaml";

import type { UnservedVersions } from "../apiservices/unserved-versions.ts";
import { isProduced, notProduced, produced } from "../encoding/produced.ts";
import type { Registry } from "../resources/registry.ts";
import { aggregatedShape, apiGroupDiscoveryList } from "./aggregated.ts";
import { apiGroups, type ApiGroup } from "./api-groups.ts";
import {
  bytesOf,
  hashOf,
  noBytes,
  revalidated,
  type DocumentAnswer,
  type DocumentRequest,
} from "./document.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./legacy.ts";
import { serverVersion } from "./server-version.ts";

export interface DiscoveryOptions {
  readonly registry: Registry;
  /** What others were to serve: it is shown as stale. */
  readonly unserved?: Pick<UnservedVersions, "all">;
  /** Where clients reach this server, `127.0.0.1:6443`. */
  readonly serverAddress: () => string;
  /** What `/` lists besides documents and health. */
  readonly paths?: readonly string[];
}

/** Answers for the resources of a registry. Documents are made when they are asked for, once for each state of it. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  #generation = -1;
  #unserved: UnservedVersions["all"] = none;
  #groups: readonly ApiGroup[] = [];
  readonly #made = new Map<string, Document>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /**
   * The answer to a GET; undefined if there is no such document. Throws `NotAcceptable` for a format that it
   * does not have.
   */
  answer({ path, accept, ifNoneMatch }: DocumentRequest): DocumentAnswer | undefined {
    this.#refresh();
    if (path === "/" || path === "/version" || path === "/version/") {
      if (path !== "/" && !isProduced(accept, jsonOnly)) throw notProduced(jsonOnly);
      const document = this.#document(path, () =>
        JSON.stringify(path === "/" ? { paths: this.#paths() } : serverVersion(), undefined, 2),
      );
      return answerOf(document, "application/json", revalidated);
    }
    // Only the exact paths know the aggregated shape.
    const hasAggregated = path === "/api" || path === "/apis";
    const make = this.#legacyBody(path);
    if (make === undefined) return undefined;
    if (this.#isRouted(path) && !isProduced(accept)) throw notProduced();
    const negotiated = negotiateAnswer(accept, hasAggregated ? withShape : plain);
    if (negotiated.conversion !== undefined) {
      return this.#aggregated(path, negotiated, ifNoneMatch);
    }
    const { mediaType } = negotiated;
    const document = this.#document(`${mediaType} ${path}`, () => write(make(), mediaType));
    return answerOf(document, mediaType, revalidated);
  }

  /** Whether the real server's router answers: not for groups, nor for versions of custom kinds alone. */
  #isRouted(path: string): boolean {
    const [, root, name, version] = withoutSlash(path).split("/");
    if (root === "api") return true;
    const group = this.#groups.find((one) => one.name === name);
    const found = group?.versions.find((one) => one.version === version);
    return found?.resources.some(({ isCustom }) => !isCustom) ?? false;
  }

  #aggregated(
    path: string,
    { mediaType }: Negotiated,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer {
    const groups = this.#groups.filter(({ name }) => (name === "") === (path === "/api"));
    const json = this.#document(`v2 ${path}`, () =>
      write(apiGroupDiscoveryList(groups), "application/json"),
    );
    // The name is that of the content, whatever the format.
    const etag = `"${hashOf(json.bytes)}"`;
    const headers = { "cache-control": "public", etag, vary: "Accept" };
    if (ifNoneMatch === etag) return { status: 304, headers, body: noBytes };
    const document =
      mediaType === "application/json"
        ? json
        : this.#document(`v2 ${mediaType} ${path}`, () =>
            write(apiGroupDiscoveryList(groups), mediaType),
          );
    const { group, version, kind } = aggregatedShape;
    const type = `${mediaType};g=${group};v=${version};as=${kind}`;
    return { status: 200, headers: { ...headers, "content-type": type }, body: document.bytes };
  }

  /** What a path shows; undefined if nothing is there. */
  #legacyBody(path: string): (() => object) | undefined {
    const [, root, ...names] = withoutSlash(path).split("/");
    const [first, second, ...more] = names;
    if (more.length > 0) return undefined;
    const named = this.#groups.filter(({ name }) => name !== "");
    const core = this.#groups.find(({ name }) => name === "");
    if (root === "api" && second === undefined) {
      if (core === undefined) return undefined;
      if (first === undefined) return () => apiVersions(core, this.#options.serverAddress());
      return versionBody(core, first);
    }
    if (root !== "apis") return undefined;
    if (first === undefined) return () => apiGroupList(named);
    const group = named.find(({ name }) => name === first);
    if (group === undefined || second !== undefined) return versionBody(group, second);
    return () => apiGroup(group);
  }

  #paths(): string[] {
    const { paths = [] } = this.#options;
    const own = this.#groups.flatMap(({ name, versions }) => {
      const root = name === "" ? "/api" : `/apis/${name}`;
      return [root, ...versions.map(({ version }) => `${root}/${version}`)];
    });
    return [...new Set([...always, ...own, ...paths])].sort();
  }

  #refresh(): void {
    const { generation, all } = this.#options.registry.served;
    const unserved = this.#options.unserved?.all ?? none;
    if (generation === this.#generation && unserved === this.#unserved) return;
    this.#generation = generation;
    this.#unserved = unserved;
    this.#groups = apiGroups(all, unserved);
    this.#made.clear();
  }

  #document(key: string, make: () => string): Document {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const document = { bytes: bytesOf(make()) };
    this.#made.set(key, document);
    return document;
  }
}

const none: UnservedVersions["all"] = [];

/** What every server has. */
const always = [
  "/apis",
  "/apis/",
  "/healthz",
  "/livez",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/readyz",
  "/version",
];

interface Document {
  readonly bytes: Uint8Array;
}

const formats: Offer["formats"] = ["application/json", "application/yaml"].map((mediaType) => ({
  mediaType,
  canStream: false,
}));

const jsonOnly = ["application/json"];
/** Protobuf is not among our formats, but the words of a refusal name it. */
const plain: Offer = { formats, named: produced };
const withShape: Offer = {
  formats,
  named: produced,
  canConvert: ({ group, version, kind }) =>
    group === aggregatedShape.group &&
    version === aggregatedShape.version &&
    kind === aggregatedShape.kind,
};

function versionBody(
  group: ApiGroup | undefined,
  version: string | undefined,
): (() => object) | undefined {
  const found = group?.versions.find((one) => one.version === version);
  return found === undefined ? undefined : () => apiResourceList(found);
}

function answerOf({ bytes }: Document, mediaType: string, cacheControl: string): DocumentAnswer {
  const headers = { "content-type": mediaType, "cache-control": cacheControl };
  return { status: 200, headers, body: bytes };
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** As Go writes it: a line of JSON, or YAML with sorted names. */
function write(body: object, mediaType: string): string {
  if (mediaType === "application/json") return `${JSON.stringify(body)}\n`;
  return stringify(body, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
}
