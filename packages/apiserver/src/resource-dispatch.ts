// Which verb, or which subresource, answers a request about a resource.

import { failures, pathSegmentNames, quote } from "@keelson/kube";

import { unavailable, type UnservedVersions } from "./apiservices/unserved-versions.ts";
import type { Answer, Streaming } from "./http/answer.ts";
import type { Exchange, ResourceExchange } from "./http/exchange.ts";
import type { ResourceRequest } from "./http/request-info.ts";
import type { Registry } from "./resources/registry.ts";
import type { Resource } from "./resources/resource.ts";
import { create } from "./verbs/create.ts";
import { deleteCollection } from "./verbs/delete-collection.ts";
import { deleteOne } from "./verbs/delete.ts";
import { get } from "./verbs/get.ts";
import { list } from "./verbs/list.ts";
import { patch } from "./verbs/patch.ts";
import { update } from "./verbs/update.ts";
import type { Verb, Verbs } from "./verbs/verb.ts";
import { watch } from "./verbs/watch.ts";
import { keyOf } from "./writes/write-request.ts";

/** The verbs of one subresource, or of a resource that is answered and not kept. */
export type Answerers = Readonly<Partial<Record<string, Verb>>>;

export interface DispatchOptions {
  readonly verbs: Verbs;
  readonly registry: Registry;
  /** What others were to serve; nobody, where there are none. */
  readonly unserved?: UnservedVersions;
  /** What is not an object of its resource: `pods/eviction`, `serviceaccounts/token`, by plural and subresource. */
  readonly subresources: ReadonlyMap<string, Answerers>;
  /** Resources that are not stored: reviews, by group and plural. */
  readonly virtual: ReadonlyMap<string, Answerers>;
}

const usual: Answerers = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

/** Subresources whose body is the object itself, of which each writes a part. */
const partial: Answerers = { get, update, patch };
const partialNames = new Set(["status", "finalize", "approval", "ephemeralcontainers", "resize"]);

/** A path below no group that is served: answered like any other page that is not there. */
export class UnknownPath extends Error {
  readonly code = "UNKNOWN_PATH";
  override readonly name = "UnknownPath";
}

/** What only a node can do: nothing runs here. */
const needsNode = new Set([
  ...["log", "exec", "attach", "portforward", "proxy"].map((name) => `pods/${name}`),
  "services/proxy",
  "nodes/proxy",
]);

/** A resource, where what is asked for takes a node. */
class NeedsNode {
  readonly resource: Resource;

  constructor(resource: Resource) {
    this.resource = resource;
  }
}

export class ResourceDispatch {
  readonly #options: DispatchOptions;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  hasGroup(group: string): boolean {
    return this.#options.registry.hasGroup(group);
  }

  /** Whether a request names a resource that there is. */
  isServed({ group, version, resource }: ResourceRequest): boolean {
    return this.#options.registry.find(group, version, resource) !== undefined;
  }

  /** Throws, or rejects, with what becomes a Status. */
  answer(exchange: Exchange & { readonly info: ResourceRequest }): Promise<Answer | Streaming> {
    const { info, signal } = exchange;
    const resource = this.#find(info);
    if (resource === "unserved") return Promise.resolve(unavailable);
    if (resource instanceof NeedsNode) return this.#explain(resource, info, signal);
    if (resource.deprecation !== undefined) exchange.warn(resource.deprecation);
    const verb = this.#verbOf(resource, info);
    const full: ResourceExchange = { ...exchange, resource };
    return verb(this.#options.verbs, full);
  }

  /** Of what takes a node it is at least said whether its object is there. */
  async #explain(
    { resource }: NeedsNode,
    { namespace, name }: ResourceRequest,
    signal: AbortSignal,
  ): Promise<never> {
    await this.#options.verbs.store.get(keyOf({ resource, namespace, name }), signal);
    throw failures.methodNotAllowed();
  }

  #find(info: ResourceRequest): Resource | NeedsNode | "unserved" {
    const { group, version, resource: plural, namespace, subresource, rest } = info;
    const { registry, unserved } = this.#options;
    const resource = registry.find(group, version, plural);
    if (resource === undefined && unserved?.has(group, version) === true) return "unserved";
    if (resource === undefined && !registry.hasGroup(group)) throw new UnknownPath();
    if (resource === undefined || rest.length > 0) throw failures.resourceNotFound();
    // A namespace in the path of a kind that has none leads nowhere, but for namespaces themselves.
    const isMisplaced = !resource.isNamespaced && namespace !== "" && plural !== "namespaces";
    if (isMisplaced) throw resource.isCustom ? new UnknownPath() : failures.resourceNotFound();
    if (group === "" && needsNode.has(`${plural}/${subresource}`) && info.isNamed) {
      return new NeedsNode(resource);
    }
    const isKnown =
      subresource === "" || resource.subresources.some(({ name }) => name === subresource);
    if (!isKnown && resource.isCustom && info.isNamed) {
      throw failures.notFound({ group, resource: plural }, info.name);
    }
    if (!isKnown) throw failures.resourceNotFound();
    return resource;
  }

  #verbOf(resource: Resource, info: ResourceRequest): Verb {
    const { subresource, verb } = info;
    const allowed =
      subresource === ""
        ? resource.verbs
        : (resource.subresources.find(({ name }) => name === subresource)?.verbs ?? []);
    // What cannot be listed is nowhere but in its namespace.
    const isEverywhere = resource.isNamespaced && info.namespace === "" && !info.isNamed;
    if (isEverywhere && !resource.verbs.includes("list")) throw failures.resourceNotFound();
    const answerers = this.#answerersOf(resource, subresource);
    const found = Object.hasOwn(answerers, verb) ? answerers[verb] : undefined;
    // Of a kind that goes discovery tells less than is answered: finalizers must still be removed.
    const isAnswered = allowed.includes(verb) || resource.isClosing === true;
    if (found === undefined || !isAnswered) throw failures.methodNotAllowed();
    this.#checkAddress(resource, info);
    return found;
  }

  #answerersOf(resource: Resource, subresource: string): Answerers {
    const { subresources, virtual } = this.#options;
    if (subresource !== "") {
      const special =
        subresources.get(`${resource.plural}/${subresource}`) ??
        subresources.get(`*/${subresource}`);
      return special ?? (partialNames.has(subresource) ? partial : {});
    }
    if (resource.storage !== undefined) return usual;
    return virtual.get(`${resource.group}/${resource.plural}`) ?? {};
  }

  /** Objects with a namespace are written in one; all namespaces at once can only be read. */
  #checkAddress(resource: Resource, info: ResourceRequest): void {
    const { namespace, verb, isNamed, name, subresource } = info;
    if (resource.isNamespaced && namespace === "") {
      if (isNamed) throw failures.resourceNotFound();
      if (verb !== "list" && verb !== "watch") throw failures.methodNotAllowed();
    }
    const wantsName = verb === "update" || verb === "patch" || verb === "delete" || verb === "get";
    if (wantsName && !isNamed) throw failures.methodNotAllowed();
    if (verb === "create" && isNamed && subresource === "") throw failures.methodNotAllowed();
    if (!isNamed) return;
    if (name.includes("/")) throw failures.resourceNotFound();
    if (name.includes("\0")) {
      throw failures.notFound({ group: resource.group, resource: resource.plural }, name);
    }
    const problems = pathSegmentNames(name);
    if (problems.length > 0) {
      const why = problems.join(", ");
      throw failures.badRequest(`Name parameter invalid: ${quote(name)}: ${why}`);
    }
  }
}
