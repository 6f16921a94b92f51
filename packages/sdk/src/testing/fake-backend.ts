// The cluster API as a controller sees it, in memory: resources, reports, the registry, and the events of the real
// one. It asks nobody who they are and computes no status.

import { systemClock, systemRandom, type Clock, type Random } from "@keelson/base";
import type { Kind, JsonMap, Report, Resource } from "../resource.ts";
import { platformOf } from "../resource.ts";
import { memory, type MemoryTransport } from "../transports/memory.ts";

export interface FakeBackendOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

interface Entry {
  readonly kind: Kind;
  resource: Resource;
  readonly reports: Map<string, Report>;
  readonly finalizers: Set<string>;
}

interface Registered {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly platforms: readonly string[];
  readonly finalizer: boolean;
}

const secretKeys =
  /^(serviceAccountSigningKey|privateKey|password|clientSecret|secretAccessKey|token|kubeconfig)$/i;

/** Give a controller `api: backend.api` and `transport: backend.transport`. */
export class FakeBackend {
  readonly transport: MemoryTransport = memory();
  readonly api: { readonly url: string; readonly fetch: typeof fetch };
  /** Every request as `GET /clusters/…`, for tests that count. */
  readonly requests: string[] = [];
  /** Decides about each request before it is looked at: a status to be answered with, or nothing. */
  onRequest: (request: string) => number | undefined = () => undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #entries = new Map<string, Entry>();
  readonly #controllers = new Map<string, Registered>();

  constructor({ clock = systemClock, random = systemRandom }: FakeBackendOptions = {}) {
    this.#clock = clock;
    this.#random = random;
    this.api = {
      url: "http://backend.test",
      fetch: async (input, init) => this.#answer(input, init ?? {}),
    };
  }

  /** Creates a cluster; its platform is `gcp` unless the spec says. */
  async createCluster(name: string, spec: JsonMap = {}): Promise<Resource> {
    return this.#create("cluster", name, { platform: { type: "gcp" }, ...spec });
  }

  async createNodepool(name: string, clusterId: string, spec: JsonMap = {}): Promise<Resource> {
    return this.#create("nodepool", name, spec, clusterId);
  }

  /** Replaces the spec. */
  async update(id: string, spec: JsonMap): Promise<Resource> {
    const entry = this.#entry(id);
    const { generation } = entry.resource;
    entry.resource = { ...entry.resource, spec, generation: generation + 1 };
    await this.#publish(entry, "updated", "spec_change");
    return entry.resource;
  }

  /** Asks for deletion: it happens at once where no controller has a finalizer, by its registration or a report. */
  async delete(id: string): Promise<void> {
    const entry = this.#entry(id);
    for (const { name, kinds, platforms, finalizer } of this.#controllers.values()) {
      const concerns =
        platforms.length === 0 || platforms.includes(this.#platform(entry) ?? "unknown");
      if (finalizer && kinds.includes(entry.kind) && concerns) entry.finalizers.add(name);
    }
    entry.resource = { ...entry.resource, deletion_timestamp: this.#now() };
    if (entry.finalizers.size === 0) this.#entries.delete(id);
    await this.#publish(entry, "deleted", "deletion_requested");
  }

  /** Announces a resource as the scheduler does. */
  async announce(id: string, reason = "periodic_reconciliation"): Promise<void> {
    await this.#publish(this.#entry(id), "reconcile", reason);
  }

  /** What a controller has last reported. */
  report(id: string, controller: string): Report | undefined {
    return this.#entries.get(id)?.reports.get(controller);
  }

  /** The status of one of its conditions. */
  condition(id: string, controller: string, type: string): string | undefined {
    const report = this.report(id, controller);
    return report?.conditions.find((condition) => condition.type === type)?.status;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  registered(name: string): Registered | undefined {
    return this.#controllers.get(name);
  }

  async #create(kind: Kind, name: string, spec: JsonMap, clusterId?: string): Promise<Resource> {
    const now = this.#now();
    const resource: Resource = {
      id: this.#random.uuid(),
      name,
      generation: 1,
      resource_version: this.#random.uuid(),
      spec,
      status: { phase: "Pending", observedGeneration: 1 },
      created_by: "owner@example.com",
      created_at: now,
      updated_at: now,
      ...(clusterId === undefined ? {} : { cluster_id: clusterId }),
    };
    const entry = { kind, resource, reports: new Map(), finalizers: new Set<string>() };
    this.#entries.set(resource.id, entry);
    await this.#publish(entry, "created", `${kind}_created`);
    return resource;
  }

  async #publish(entry: Entry, verb: string, reason: string, controller?: string): Promise<void> {
    const { kind, resource } = entry;
    const platform = this.#platform(entry) ?? "";
    const isDeleting = resource.deletion_timestamp !== undefined;
    const event = {
      id: this.#random.uuid(),
      type: `${kind}.${verb}`,
      event_type: `${kind}.${verb}`,
      cluster_id: resource.cluster_id ?? resource.id,
      ...(kind === "nodepool" ? { nodepool_id: resource.id } : {}),
      generation: resource.generation,
      platform,
      reason,
      timestamp: this.#now(),
      source: "cls-backend",
      created_by: resource.created_by,
      user: { email: resource.created_by, domain: "example.com", roles: [] },
      metadata: isDeleting ? { finalizers: [...entry.finalizers] } : {},
    };
    await this.transport.publish(event, {
      event_id: event.id,
      event_type: event.type,
      platform,
      reason,
      ...(controller === undefined ? {} : { controller_name: controller }),
    });
  }

  async #answer(input: unknown, init: RequestInit): Promise<Response> {
    const url = new URL(String(input));
    const method = init.method ?? "GET";
    const path = url.pathname.replace(/^\/api\/v1/, "");
    const request = `${method} ${path}`;
    this.requests.push(request);
    const refusal = this.onRequest(request);
    if (refusal !== undefined) return refused(refusal, "HTTP_FAULT");
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as JsonMap) : {};
    const [, collection = "", id, part] = path.split("/");
    if (collection === "controllers" && method === "PUT" && id !== undefined) {
      this.#controllers.set(id, { ...(body as unknown as Registered), name: id });
      return Response.json(this.#controllers.get(id));
    }
    const kind = collection === "clusters" ? "cluster" : "nodepool";
    if (id === undefined) return this.#list(kind, collection, url);
    const entry = this.#entries.get(id);
    if (entry?.kind !== kind) return refused(404, "RESOURCE_NOT_FOUND");
    if (method === "PUT" && part === "status") {
      return this.#take(entry, body as unknown as Report & { readonly finalizer?: boolean });
    }
    const isOpen = url.searchParams.get("include_secrets") === "true";
    const shown = isOpen
      ? entry.resource
      : { ...entry.resource, spec: redacted(entry.resource.spec) };
    const withReports = url.searchParams.get("include") === "controller_status";
    const reports = withReports ? { controller_status: [...entry.reports.values()] } : {};
    return Response.json({ ...shown, ...reports });
  }

  #list(kind: Kind, collection: string, { searchParams }: URL): Response {
    const all = [...this.#entries.values()].filter((entry) => entry.kind === kind).toReversed();
    const limit = Number(searchParams.get("limit") ?? 50);
    const offset = Number(searchParams.get("offset") ?? 0);
    const page = all.slice(offset, offset + limit).map(({ resource }) => resource);
    return Response.json({ [collection]: page, total: all.length, limit, offset });
  }

  async #take(entry: Entry, sent: Report & { readonly finalizer?: boolean }): Promise<Response> {
    const { controller_name: name, observed_generation: generation } = sent;
    const before = entry.reports.get(name);
    if (generation > entry.resource.generation) return refused(409, "FUTURE_GENERATION");
    if (generation < (before?.observed_generation ?? 1)) return refused(409, "STALE_GENERATION");
    const { finalizer, ...report } = sent;
    entry.reports.set(name, report);
    const isDone = sent.conditions.some(
      ({ type, status }) => type === "Finalized" && status === "True",
    );
    if (isDone || finalizer === false) entry.finalizers.delete(name);
    else if (finalizer === true) entry.finalizers.add(name);
    const isGone = entry.resource.deletion_timestamp !== undefined && entry.finalizers.size === 0;
    if (isGone) this.#entries.delete(entry.resource.id);
    else if (JSON.stringify(before) !== JSON.stringify(report)) {
      const reason =
        before === undefined ? "controller_status_created" : "controller_status_change";
      await this.#publish(entry, "reconcile", reason, name);
    }
    return Response.json({ message: "status updated", controller_name: name });
  }

  #platform({ resource }: Entry): string | undefined {
    const cluster = this.#entries.get(resource.cluster_id ?? "")?.resource;
    return platformOf(resource.spec) ?? (cluster && platformOf(cluster.spec));
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`there is no resource ${id}`);
    return entry;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function refused(status: number, code: string): Response {
  return Response.json({ error: code.toLowerCase(), code, details: {} }, { status });
}

function redacted(spec: JsonMap): JsonMap {
  return JSON.parse(JSON.stringify(spec), (key: string, value: unknown) =>
    secretKeys.test(key) && typeof value === "string" ? "[REDACTED]" : value,
  ) as JsonMap;
}
