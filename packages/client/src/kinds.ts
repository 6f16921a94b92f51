// Which kinds a cluster serves, by its own word: discovery.

import { isJsonObject, untilAbort, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import type { Caller } from "./caller.ts";
import { GroupUnavailable, isNotFound, UnknownKind } from "./errors.ts";
import { objectsOf, textOf, textsOf } from "./json-parts.ts";
import type { ObjectKind } from "./object.ts";

/** A kind as the cluster serves it. */
export interface Resource extends ObjectKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural of the URL. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  /** `status`, `scale` and the like. */
  readonly subresources: readonly string[];
}

/** Between two readings of discovery at least this long passes: whoever asks for an unknown kind waits. */
const refreshMsMin = 500;

const aggregated =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/** The kinds of a cluster. Read once, and again whenever a kind is asked for that was not there: a CRD may be new. */
export class Kinds {
  readonly #caller: Caller;
  #known: ReadonlyMap<string, Resource> = new Map();
  /** Versions of groups that the cluster could not tell of at the last reading. */
  #silent: ReadonlySet<string> = new Set();
  #isStale = true;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #begun = 0;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * How a kind is served. Rejects with `UnknownKind` if discovery, read after this call began, does not name it, and
   * with `GroupUnavailable` if whoever serves its group could not be asked: then nobody knows.
   */
  async resolve(kind: ObjectKind, signal: AbortSignal): Promise<Resource> {
    const key = keyOfKind(kind);
    const isKnown = (): boolean => !this.#isStale && this.#known.has(key);
    if (!isKnown()) await this.#refresh(isKnown, signal);
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    if (this.#silent.has(kind.apiVersion)) throw new GroupUnavailable(kind.apiVersion);
    throw new UnknownKind(kind);
  }

  /**
   * How a kind is served in its version or, if that is served no more, in another one of its group. Rejects as `resolve`
   * does: with `UnknownKind` only if every version could be asked.
   */
  async resolveInAnyVersion(kind: ObjectKind, signal: AbortSignal): Promise<Resource> {
    try {
      return await this.resolve(kind, signal);
    } catch (error) {
      if (!(error instanceof UnknownKind)) throw error;
      const group = groupOf(kind.apiVersion);
      const isIt = (one: Resource): boolean => one.group === group && one.kind === kind.kind;
      const found = [...this.#known.values()].find(isIt);
      if (found !== undefined) return found;
      const silent = [...this.#silent].find((version) => groupOf(version) === group);
      throw silent === undefined ? error : new GroupUnavailable(silent);
    }
  }

  /** Every kind that is served, in no order, but for those of groups that could not be asked. */
  async all(signal: AbortSignal): Promise<readonly Resource[]> {
    const isFresh = (): boolean => !this.#isStale;
    if (!isFresh()) await this.#refresh(isFresh, signal);
    return [...this.#known.values()];
  }

  /** Something was defined or taken away: whoever asks next reads discovery anew. */
  invalidate(): void {
    this.#isStale = true;
  }

  /**
   * Resolves when discovery has been read by a reading that began after this call, or by one that is enough. Callers
   * at the same time share one, which none of them can cancel for the others.
   */
  async #refresh(isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { clock } = this.#caller;
    const begunBefore = this.#begun;
    if (this.#reading !== undefined) {
      // It began before this call: what it does not name may have come since.
      await untilAbort(this.#reading, signal).catch(() => signal.throwIfAborted());
      if (isEnough()) return;
    }
    const waitMs = this.#readAtMs + refreshMsMin - clock.monotonic();
    if (waitMs > 0 && this.#begun === begunBefore) await clock.sleep(waitMs, signal);
    // A reading that began meanwhile and has failed already says nothing.
    const isRead = this.#begun !== begunBefore && (this.#reading !== undefined || !this.#isStale);
    if (!isRead) {
      this.#begun += 1;
      const reading = this.#read().finally(() => (this.#reading = undefined));
      reading.catch(() => undefined); // Whoever began it may have left by the time that it fails.
      this.#reading = reading;
    }
    await untilAbort(this.#reading ?? Promise.resolve(), signal);
  }

  async #read(): Promise<void> {
    this.#isStale = false;
    this.#readAtMs = this.#caller.clock.monotonic();
    try {
      const [core, groups] = await Promise.all([this.#readRoot("/api"), this.#readRoot("/apis")]);
      const found = [...core.resources, ...groups.resources];
      this.#known = new Map(found.map((one) => [keyOfKind(one), one]));
      this.#silent = new Set([...core.silent, ...groups.silent]);
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  async #readRoot(path: "/api" | "/apis"): Promise<Discovered> {
    const body = await this.#get(path, aggregated);
    if (body === undefined) return { resources: [], silent: [] };
    const kind = memberOf(body, "kind");
    if (kind === "APIGroupDiscoveryList") {
      return { resources: aggregatedResources(body), silent: staleVersions(body) };
    }
    const versions =
      kind === "APIVersions"
        ? textsOf(memberOf(body, "versions"))
        : objectsOf(memberOf(body, "groups")).flatMap((group) =>
            objectsOf(memberOf(group, "versions")).map((one) =>
              textOf(memberOf(one, "groupVersion")),
            ),
          );
    // One group that does not answer must not hide the others: an aggregated server may be down.
    const silent: string[] = [];
    const resources = await Promise.all(
      versions.map(async (version) => {
        try {
          const list = await this.#get(`${path}/${version}`, "application/json");
          return list === undefined ? [] : legacyResources(list);
        } catch {
          silent.push(version);
          return [];
        }
      }),
    );
    return { resources: resources.flat(), silent };
  }

  async #get(path: string, accept: string): Promise<JsonObject | undefined> {
    try {
      const { body } = await this.#caller.call(
        { method: "GET", path, headers: { accept }, priority: "high", isDiscovery: true },
        neverAborted,
      );
      return isJsonObject(body) ? body : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined; // A server with custom groups alone has no /api.
      throw error;
    }
  }
}

interface Discovered {
  readonly resources: readonly Resource[];
  /** Versions of groups that could not be asked. */
  readonly silent: readonly string[];
}

const neverAborted = new AbortController().signal;

function keyOfKind({ apiVersion, kind }: ObjectKind): string {
  return `${apiVersion} ${kind}`;
}

function groupOf(apiVersion: string): string {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined ? "" : group;
}

function aggregatedResources(list: JsonObject): Resource[] {
  return objectsOf(memberOf(list, "items")).flatMap((groupItem) => {
    const metadata = memberOf(groupItem, "metadata");
    const group = isJsonObject(metadata) ? textOf(memberOf(metadata, "name")) : "";
    return objectsOf(memberOf(groupItem, "versions")).flatMap((versionItem) => {
      const version = textOf(memberOf(versionItem, "version"));
      return objectsOf(memberOf(versionItem, "resources")).flatMap((item) => {
        const responseKind = memberOf(item, "responseKind");
        const kind = isJsonObject(responseKind) ? textOf(memberOf(responseKind, "kind")) : "";
        if (kind === "") return [];
        return {
          group,
          version,
          apiVersion: group === "" ? version : `${group}/${version}`,
          kind,
          resource: textOf(memberOf(item, "resource")),
          isNamespaced: memberOf(item, "scope") === "Namespaced",
          verbs: textsOf(memberOf(item, "verbs")),
          subresources: objectsOf(memberOf(item, "subresources")).map((sub) =>
            textOf(memberOf(sub, "subresource")),
          ),
        };
      });
    });
  });
}

/** What the server has not heard from whoever serves it: what it lists of them may be old, or nothing. */
function staleVersions(list: JsonObject): string[] {
  return objectsOf(memberOf(list, "items")).flatMap((groupItem) => {
    const metadata = memberOf(groupItem, "metadata");
    const group = isJsonObject(metadata) ? textOf(memberOf(metadata, "name")) : "";
    return objectsOf(memberOf(groupItem, "versions"))
      .filter((version) => memberOf(version, "freshness") === "Stale")
      .map((version) => `${group}/${textOf(memberOf(version, "version"))}`);
  });
}

function legacyResources(list: JsonObject): Resource[] {
  const apiVersion = textOf(memberOf(list, "groupVersion"));
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const items = objectsOf(memberOf(list, "resources"));
  const names = items.map((item) => textOf(memberOf(item, "name")));
  return items.flatMap((item) => {
    const resource = textOf(memberOf(item, "name"));
    if (resource.includes("/")) return [];
    return {
      group,
      version,
      apiVersion,
      kind: textOf(memberOf(item, "kind")),
      resource,
      isNamespaced: memberOf(item, "namespaced") === true,
      verbs: textsOf(memberOf(item, "verbs")),
      subresources: names
        .filter((name) => name.startsWith(`${resource}/`))
        .map((name) => name.slice(resource.length + 1)),
    };
  });
}
