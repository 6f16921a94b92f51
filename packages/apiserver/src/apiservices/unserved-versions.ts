// Versions that an APIService promises and nobody serves: it names a service, and this server asks none on behalf of others.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import type { PathHandler } from "../api-handler.ts";
import { objectAt, textAt } from "../fields.ts";
import type { Answer } from "../http/answer.ts";
import type { Mirror } from "../mirror.ts";
import type { Registry } from "../resources/registry.ts";
import type { GroupVersion } from "./local-api-service.ts";

export const apiServiceKind = "APIService.apiregistration.k8s.io";

/** The service that an APIService leads to; undefined for what is served here. */
export function serviceOf(apiService: JsonObject): JsonObject | undefined {
  const service = memberOf(objectAt(apiService, "spec"), "service");
  return isJsonObject(service) ? service : undefined;
}

/** Follows APIServices and what is served. */
export class UnservedVersions implements Disposable {
  readonly #apiServices: Mirror;
  readonly #registry: Registry;
  readonly #following = new DisposableStack();
  #all: readonly GroupVersion[] | undefined;

  constructor({ apiServices, registry }: { apiServices: Mirror; registry: Registry }) {
    this.#apiServices = apiServices;
    this.#registry = registry;
    const forget = (): void => void (this.#all = undefined);
    this.#following.use(apiServices.onChange(forget));
    this.#following.use(registry.onChange(forget));
  }

  /** The same list until something changes. */
  get all(): readonly GroupVersion[] {
    this.#all ??= [...this.#apiServices.values()]
      .filter(({ object }) => serviceOf(object) !== undefined)
      .map(({ object }) => {
        const spec = objectAt(object, "spec");
        return { group: textAt(spec, "group"), version: textAt(spec, "version") };
      })
      .filter(({ group, version }) => this.#registry.ofVersion(group, version) === undefined);
    return this.#all;
  }

  has(group: string, version: string): boolean {
    return this.all.some((one) => one.group === group && one.version === version);
  }

  [Symbol.dispose](): void {
    this.#following.dispose();
  }
}

/** What whoever asks for such a version is told, in the words of the real server. */
export const unavailable: Answer = {
  code: 503,
  contentType: "text/plain; charset=utf-8",
  body: "service unavailable\n",
  headers: { "x-content-type-options": "nosniff" },
};

/** Answers for the documents of such versions; their group is discovery's. */
export function unservedPaths(versions: UnservedVersions): PathHandler {
  return ({ path }) => {
    const [, group = "", version = ""] = /^\/apis\/([^/]+)\/([^/]+)\/?$/.exec(path) ?? [];
    return group !== "" && versions.has(group, version) ? unavailable : undefined;
  };
}
