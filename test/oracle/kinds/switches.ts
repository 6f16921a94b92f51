// How kinds differ in the answers to requests that are the same for all: found by sending them.

import type { Oracle } from "../cluster.ts";
import type { Response } from "../../tools/http-client.ts";
import type { Method } from "../../tools/wire.ts";
import type { DiscoveredKind } from "./discovery.ts";
import type { Fields, MinimalObject } from "./minimal-objects.ts";
import { apiVersionOf, collectionPath } from "./paths.ts";

/** See `Switches` in `packages/kube/src/kinds/builtin-kind.ts` for what each says. */
export interface FoundSwitches {
  readonly putCreates: boolean;
  readonly putNeedsVersion: boolean;
  readonly deleteReturnsObject: boolean;
  readonly orphansByDefault: boolean;
  readonly collectable: boolean;
  readonly graceful: boolean;
  readonly generatesNames: boolean;
  /** `metadata.generation` after creation and after one change, if there is one; 0 for none. */
  readonly generations: readonly number[];
  readonly keepsStatusOnCreate: boolean | undefined;
  readonly statusWritesMetadata: boolean | undefined;
}

/** What the server made of the minimal object; what differs from run to run is fixed. */
export interface Example {
  readonly sent: Fields;
  readonly got: Fields;
}

export interface ExperimentOptions {
  readonly oracle: Oracle;
  readonly kind: DiscoveredKind;
  readonly minimal: MinimalObject;
  readonly namespace: string;
  /** A status with one field set. */
  readonly status: Fields | undefined;
}

type Object = Fields & { readonly metadata: Fields };

/** Creates and deletes several objects of one kind; leaves none. */
export class Experiment {
  readonly #options: ExperimentOptions;
  readonly #collection: string;
  #names = 0;

  constructor(options: ExperimentOptions) {
    const { kind, namespace } = options;
    this.#options = options;
    this.#collection = collectionPath(kind, kind.namespaced ? namespace : undefined);
  }

  async example(signal: AbortSignal): Promise<Example> {
    const sent = this.#object();
    // The answer to the POST: a later GET may show what a controller has added meanwhile.
    const got = (await this.#must("POST", this.#collection, sent, signal)).body as Fields;
    await this.#remove(this.#pathOf(sent), signal);
    return { sent, got: withFixedFacts(got) };
  }

  async switches(signal: AbortSignal): Promise<FoundSwitches> {
    return {
      putCreates: await this.#putCreates(signal),
      ...(await this.#updates(signal)),
      ...(await this.#deletions(signal)),
      generatesNames: await this.#generatesNames(signal),
      ...(await this.#statuses(signal)),
    };
  }

  async #putCreates(signal: AbortSignal): Promise<boolean> {
    const object = this.#object();
    const path = this.#pathOf(object);
    const { status } = await this.#send("PUT", path, object, signal);
    if (status === 201) await this.#remove(path, signal);
    return status === 201;
  }

  async #updates(signal: AbortSignal) {
    const path = await this.#create(this.#object(), signal);
    const read = async (): Promise<Object> =>
      (await this.#must("GET", path, undefined, signal)).body as Object;
    const created = await read();
    const generations = [Number(created.metadata["generation"] ?? 0)];

    const { resourceVersion: _, ...metadata } = created.metadata;
    const put = await this.#send("PUT", path, { ...created, metadata }, signal);
    const needsVersion = put.status === 422 && put.text.includes("must be specified for an update");
    if (!needsVersion && put.status !== 200) throw this.#surprise("PUT without version", put);

    const { change } = this.#options.minimal;
    if (change !== undefined) {
      await this.#must("PATCH", path, change, signal);
      generations.push(Number((await read()).metadata["generation"] ?? 0));
    }
    await this.#remove(path, signal);
    return { putNeedsVersion: needsVersion, generations };
  }

  async #deletions(signal: AbortSignal) {
    const plain = await this.#create(this.#object(), signal);
    await this.#must("DELETE", `${plain}?gracePeriodSeconds=30`, undefined, signal);
    const after = await this.#send("GET", plain, undefined, signal);
    const metadata = after.status === 200 ? (after.body as Object).metadata : {};
    const finalizers = (metadata["finalizers"] ?? []) as string[];
    const orphansByDefault = finalizers.includes("orphan");
    await this.#remove(plain, signal);

    // Deleted at once, which the others may not be.
    const swift = await this.#create(this.#object(), signal);
    const background = "propagationPolicy=Background&gracePeriodSeconds=0";
    const deleted = await this.#must("DELETE", `${swift}?${background}`, undefined, signal);
    await this.#remove(swift, signal);

    const foreground = await this.#create(this.#object(), signal);
    const query = "propagationPolicy=Foreground&gracePeriodSeconds=0";
    await this.#must("DELETE", `${foreground}?${query}`, undefined, signal);
    const remaining = await this.#send("GET", foreground, undefined, signal);
    const collectable = remaining.text.includes('"foregroundDeletion"');
    await this.#remove(foreground, signal);
    return {
      deleteReturnsObject: (deleted.body as Fields)["kind"] !== "Status",
      orphansByDefault,
      collectable,
      graceful: Number(metadata["deletionGracePeriodSeconds"] ?? 0) > 0,
    };
  }

  async #generatesNames(signal: AbortSignal): Promise<boolean> {
    const object = this.#object();
    const { name: _, ...metadata } = object.metadata;
    const body = { ...object, metadata: { ...metadata, generateName: "minimal-" } };
    const { status } = await this.#send("POST", `${this.#collection}?dryRun=All`, body, signal);
    return status === 201;
  }

  async #statuses(signal: AbortSignal) {
    const { status, kind } = this.#options;
    if (status === undefined || !kind.subresources.some(({ name }) => name === "status")) {
      return { keepsStatusOnCreate: undefined, statusWritesMetadata: undefined };
    }
    const withStatus = { ...this.#object(), status };
    const created = await this.#send("POST", `${this.#collection}?dryRun=All`, withStatus, signal);
    if (created.status !== 201) throw this.#surprise("create with status", created);
    const [field = ""] = Object.keys(status);
    const kept = ((created.body as Fields)["status"] ?? {}) as Fields;

    const path = await this.#create(this.#object(), signal);
    const patch = { metadata: { labels: { written: "by-status" } } };
    const patched = await this.#must("PATCH", `${path}/status`, patch, signal);
    await this.#remove(path, signal);
    return {
      keepsStatusOnCreate: JSON.stringify(kept[field]) === JSON.stringify(status[field]),
      statusWritesMetadata: patched.text.includes('"written":"by-status"'),
    };
  }

  #object(): Object {
    const { kind, minimal, namespace } = this.#options;
    const n = (this.#names += 1);
    const name = minimal.name?.(n) ?? `minimal-${n}`;
    const fields = typeof minimal.fields === "function" ? minimal.fields(name) : minimal.fields;
    const object = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name, ...(kind.namespaced ? { namespace } : {}) },
      ...fields,
    };
    return JSON.parse(JSON.stringify(object).replaceAll("NAMESPACE", namespace)) as Object;
  }

  #pathOf({ metadata }: Object): string {
    return `${this.#collection}/${encodeURIComponent(metadata["name"] as string)}`;
  }

  async #create(object: Object, signal: AbortSignal): Promise<string> {
    await this.#must("POST", this.#collection, object, signal);
    return this.#pathOf(object);
  }

  /** Whatever state it is in. */
  async #remove(path: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const query = "gracePeriodSeconds=0&propagationPolicy=Background";
      const { status } = await this.#send("DELETE", `${path}?${query}`, undefined, signal);
      if (status === 404) return;
      await this.#send("PATCH", path, { metadata: { finalizers: null } }, signal);
      if (this.#options.kind.plural === "namespaces") {
        const { body } = await this.#send("GET", path, undefined, signal);
        await this.#send("PUT", `${path}/finalize`, { ...(body as Fields), spec: {} }, signal);
      }
    }
    throw new Error(`cannot remove ${path}`);
  }

  async #must(method: Method, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    const response = await this.#send(method, path, body, signal);
    if (response.status >= 300) throw this.#surprise(`${method} ${path}`, response);
    return response;
  }

  async #send(method: Method, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    const headers =
      method === "PATCH" ? { "content-type": "application/merge-patch+json" } : undefined;
    const request = { method, path, body, ...(headers === undefined ? {} : { headers }) };
    return await this.#options.oracle.client.send(request, signal);
  }

  #surprise(what: string, { status, text }: Response): Error {
    return new Error(`${this.#options.kind.kind}: ${what} answered ${status} ${text}`);
  }
}

/** The same at each run: times, uids, versions and the addresses that were handed out. */
function withFixedFacts(object: Fields): Fields {
  const text = JSON.stringify(object)
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "7a3c1f5e-0000-4000-8000-000000000001")
    .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (_, fraction: string | undefined) =>
      fraction === undefined ? "2026-01-01T00:00:00Z" : "2026-01-01T00:00:00.123456Z",
    )
    .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"7"')
    .replaceAll(/X509SHA256=[\da-f]+/g, "X509SHA256=0")
    .replaceAll(/10\.96\.\d+\.\d+/g, "10.96.0.99");
  return JSON.parse(text) as Fields;
}
