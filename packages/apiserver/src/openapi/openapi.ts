// What every kind looks like (KB 60): OpenAPI v3 by versions, OpenAPI v2 as a whole.

import { parseAccept, type BuiltinKinds } from "@keelson/kube";
import type { Clock } from "@keelson/base";

import { apiGroups, type ApiGroup, type ApiVersion } from "../discovery/api-groups.ts";
import {
  bytesOf,
  hashOf,
  noBytes,
  revalidated,
  type DocumentAnswer,
  type DocumentRequest,
} from "../discovery/document.ts";
import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";
import { once } from "../resources/once.ts";
import { BuiltinSchemas } from "./builtin-schemas.ts";
import { unversionedOperations } from "./discovery-operations.ts";
import { isCustom } from "./operations-of.ts";
import { wholeDocument } from "./v2.ts";
import { unversionedDocument, versionDocument } from "./v3.ts";

export interface OpenApiOptions {
  readonly registry: Registry;
  readonly kinds: BuiltinKinds;
  readonly clock: Clock;
}

/**
 * Answers for the resources of a registry. A document is made when it is asked for, and again only when a resource
 * of its version has changed.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #schemas: () => BuiltinSchemas;
  #generation = -1;
  #groups: readonly ApiGroup[] = [];
  /** By name in the index. */
  #documents: ReadonlyMap<string, Document> = new Map();
  #index: Document | undefined;
  #whole: Document | undefined;

  constructor({ registry, kinds, clock }: OpenApiOptions) {
    this.#registry = registry;
    this.#clock = clock;
    this.#schemas = once(() => new BuiltinSchemas(kinds));
  }

  /** The answer to a GET; undefined if the path is none of OpenAPI's. */
  answer(request: DocumentRequest): DocumentAnswer | undefined {
    const { path } = request;
    if (path !== "/openapi/v2" && path !== "/openapi/v3" && !path.startsWith("/openapi/v3/")) {
      return undefined;
    }
    this.#refresh();
    if (path === "/openapi/v2") {
      this.#whole ??= new Document([], () => wholeDocument(this.#groups, this.#schemas()));
      return this.#answer(this.#whole, request);
    }
    if (path === "/openapi/v3") {
      this.#index ??= new Document([], () => this.#indexBody());
      return this.#answer(this.#index, { ...request, accept: "" });
    }
    const document = this.#documents.get(path.slice("/openapi/v3/".length));
    if (document === undefined) {
      return { status: 404, headers: { "cache-control": revalidated }, body: noBytes };
    }
    return this.#answer(document, request);
  }

  #answer(
    document: Document,
    { path, accept, ifNoneMatch, hash = "" }: DocumentRequest,
  ): DocumentAnswer {
    const headers = { "cache-control": revalidated, vary: "Accept" };
    if (!acceptsJson(accept)) return { status: 406, headers, body: noBytes };
    const etag = `"${document.hash}"`;
    if (hash !== "" && hash !== document.hash) {
      const location = `${path}?hash=${document.hash}`;
      return { status: 301, headers: { ...headers, etag, location }, body: noBytes };
    }
    const kept = hash === "" ? headers : { ...headers, ...this.#keptForEver() };
    if (ifNoneMatch !== undefined && names(ifNoneMatch, etag)) {
      return { status: 304, headers: { ...kept, etag }, body: noBytes };
    }
    const contentType = "application/json";
    return {
      status: 200,
      headers: { ...kept, etag, "content-type": contentType },
      body: document.bytes,
    };
  }

  #keptForEver(): Readonly<Record<string, string>> {
    const yearMs = 365 * 24 * 60 * 60 * 1000;
    return {
      "cache-control": "public, immutable",
      expires: new Date(this.#clock.now() + yearMs).toUTCString(),
    };
  }

  #indexBody(): string {
    const paths = [...this.#documents].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify({
      paths: Object.fromEntries(
        paths.map(([name, { hash }]) => [
          name,
          { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` },
        ]),
      ),
    });
  }

  #refresh(): void {
    const { generation, all } = this.#registry.served;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#groups = apiGroups(all);
    this.#index = undefined;
    this.#whole = undefined;
    const documents = new Map<string, Document>();
    const keep = (name: string, made: Document): void => {
      const known = this.#documents.get(name);
      documents.set(name, known?.isOf(made.resources) === true ? known : made);
    };
    const builtin = this.#groups.filter(({ versions }) => !versions.every(isCustom));
    for (const [name, operation] of unversionedOperations(builtin.map((group) => group.name))) {
      keep(name, new Document([], () => unversionedDocument(operation, this.#schemas())));
    }
    for (const version of this.#groups.flatMap(({ versions }) => versions)) {
      const make = (): string => versionDocument(version, this.#schemas());
      keep(nameOf(version), new Document(version.resources, make));
    }
    this.#documents = documents;
  }
}

/** A document and what it was made of. */
class Document {
  readonly resources: readonly Resource[];
  readonly #make: () => string;
  #made: { readonly bytes: Uint8Array; readonly hash: string } | undefined;

  constructor(resources: readonly Resource[], make: () => string) {
    this.resources = resources;
    this.#make = make;
  }

  get bytes(): Uint8Array {
    return this.#content().bytes;
  }

  get hash(): string {
    return this.#content().hash;
  }

  /** Whether it is made of the same resources: these never change. */
  isOf(resources: readonly Resource[]): boolean {
    return (
      resources.length === this.resources.length &&
      resources.every((resource, index) => resource === this.resources[index])
    );
  }

  #content(): { readonly bytes: Uint8Array; readonly hash: string } {
    if (this.#made === undefined) {
      const bytes = bytesOf(this.#make());
      this.#made = { bytes, hash: hashOf(bytes) };
    }
    return this.#made;
  }
}

function nameOf({ group, version }: ApiVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function acceptsJson(accept: string): boolean {
  if (accept === "") return true;
  return parseAccept(accept).some(
    ({ type, subtype }) =>
      (type === "*" && subtype === "*") ||
      (type === "application" && (subtype === "*" || subtype === "json")),
  );
}

/** Whether an `If-None-Match` header has a tag; weak ones count. */
function names(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
