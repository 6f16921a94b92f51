// The API server, put together: what is served, who may, the loops that keep it in order.

import type { AddressInfo } from "node:net";
import type { SecureContextOptions } from "node:tls";

import { TaskScope, type Clock, type Log, type Metrics, type Random } from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec, type BuiltinKinds } from "@keelson/kube";
import type { Store } from "@keelson/store";

import { Admission, type AdmissionPlugin } from "./admission/admission.ts";
import { standardAdmission } from "./admission/standard-admission.ts";
import { ApiHandler } from "./api-handler.ts";
import { UnservedVersions, unservedPaths } from "./apiservices/unserved-versions.ts";
import type { Audit } from "./audit.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { storedBoundObjects, type BoundObjects } from "./auth/bound-objects.ts";
import { Impersonation } from "./auth/impersonation.ts";
import { RbacAuthorizer } from "./auth/rbac/rbac-authorizer.ts";
import type { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import type { TokenAuthenticator } from "./auth/token-authenticator.ts";
import { runBootstrap } from "./bootstrap/bootstrap.ts";
import { OwnAddress } from "./bootstrap/own-address.ts";
import { ensureOwnService } from "./bootstrap/own-service.ts";
import { Patience } from "./bootstrap/patience.ts";
import { serveDefinitions } from "./crds/serve-definitions.ts";
import { Discovery } from "./discovery/discovery.ts";
import { documentPaths } from "./discovery/document-paths.ts";
import { addressRange } from "./effects/address-range.ts";
import { filledIn, serviceEffects } from "./effects/services.ts";
import { PiecePool } from "./encoding/byte-pieces.ts";
import { failureEncoder } from "./encoding/failure-answer.ts";
import { finishedRequests } from "./finished-requests.ts";
import { healthPaths } from "./health.ts";
import { Server } from "./http/server.ts";
import { StreamTurns } from "./http/stream-turns.ts";
import { FairQueue, type FairQueueLimits } from "./limits/fair-queue.ts";
import { LongRunning, type LongRunningLimits } from "./limits/long-running.ts";
import { spawnLoops } from "./loops/loops.ts";
import { apiMetrics } from "./metrics.ts";
import { Mirrors } from "./mirrors.ts";
import { runObjectCounts } from "./object-counts.ts";
import { Objects } from "./objects.ts";
import { OpenApi } from "./openapi/openapi.ts";
import { ResourceDispatch } from "./resource-dispatch.ts";
import { builtinResources } from "./resources/builtin-resource.ts";
import { customResources } from "./resources/custom-resource.ts";
import { Registry } from "./resources/registry.ts";
import type { Resource } from "./resources/resource.ts";
import { specialAnswerers } from "./subresources/special-answerers.ts";
import type { Verbs } from "./verbs/verb.ts";
import { Turns } from "./writes/turns.ts";
import type { Writing } from "./writes/write-request.ts";

/** How long a database is waited for, as at the start of the whole. */
const startPatienceMs = 30_000;

/** The addresses of Services; the first is our own. */
export const serviceRange = "10.96.0.0/12";

export interface ApiServerOptions {
  /** Belongs to the caller, and outlives the server. */
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Kinds of our own, served beside the built-in ones. */
  readonly resources?: readonly Resource[];
  /** What is asked besides, after what every cluster asks. */
  readonly admission?: readonly AdmissionPlugin[];
  /** Who callers are. Called once, before anything is served. */
  readonly identity: (parts: IdentityParts) => Identity;
  /** Told of every finished request. */
  readonly audit?: Audit;
  /** The certificate of our CA, PEM: every namespace holds it. */
  readonly rootCertificate: string;
  readonly tls: SecureContextOptions | undefined;
  /** Whether the loop runs that marks workloads as a healthy cluster would. */
  readonly simulatesWorkloads: boolean;
  /** How long a start waits for a database that is away; 30 s unless told. */
  readonly startPatienceMs?: number;
  /** How much runs at once, of all and of one user; `docs/limits.md` unless told. */
  readonly limits?: RunningLimits;
}

/** Requests and watches are counted apart. */
export interface RunningLimits {
  readonly requests?: FairQueueLimits;
  readonly watches?: LongRunningLimits;
}

/** What telling callers apart needs of the server. */
export interface IdentityParts {
  readonly objects: BoundObjects;
}

export interface Identity {
  readonly authenticator: Authenticator;
  /** What TokenReview asks, and what signs; absent where there are no tokens. */
  readonly tokens?: TokenAuthenticator;
  readonly serviceAccounts?: ServiceAccountTokens;
}

/** A running API server. Disposing of it ends watches, finishes requests and stops the loops. */
export class ApiServer implements AsyncDisposable {
  readonly registry: Registry;
  readonly server: Server;
  readonly #scope: TaskScope;
  readonly #publish: Parts["publish"];
  readonly #undo: AsyncDisposableStack;

  /** Resolves when it can serve: the mirrors are there, what every cluster holds is there. Throws `DatabaseAway`. */
  static async start(options: ApiServerOptions, signal: AbortSignal): Promise<ApiServer> {
    return new ApiServer(await build(options, signal));
  }

  private constructor({ server, scope, registry, publish, undo }: Parts) {
    this.#publish = publish;
    this.server = server;
    this.registry = registry;
    this.#scope = scope;
    this.#undo = undo;
  }

  async listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    const bound = await this.server.listen(address);
    await this.#publish(bound.port);
    return bound;
  }

  /** Resolves never, or rejects with what no loop could survive. */
  join(): Promise<void> {
    return this.#scope.join();
  }

  /** Runs a task for as long as the server does. */
  spawn(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    this.#scope.spawn(name, task);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

interface Parts {
  readonly server: Server;
  readonly scope: TaskScope;
  readonly registry: Registry;
  /** Tells the cluster at which port we listen, from now on. */
  readonly publish: (port: number) => Promise<void>;
  readonly undo: AsyncDisposableStack;
}

async function build(options: ApiServerOptions, signal: AbortSignal): Promise<Parts> {
  const { store, clock, random, log } = options;
  const shared = { store, clock, random, log };
  await using undo = new AsyncDisposableStack();
  const scope = undo.use(new TaskScope(signal));
  const kinds = await loadBuiltinKinds();
  const registry = new Registry();
  registry.put("built-in", builtinResources(kinds));
  registry.put("own", options.resources ?? []);
  const mirrors = new Mirrors(shared, scope);
  const authorizer = undo.use(new RbacAuthorizer(mirrors.rbac));
  const patience = new Patience({
    ...shared,
    patienceMs: options.startPatienceMs ?? startPatienceMs,
  });
  const mirrored = { done: mirrors.ready, ask: () => store.ping(signal) };
  await patience.until("what it holds", mirrored, signal);
  undo.use(
    serveDefinitions({ definitions: mirrors.definitions, registry, resourcesOf: customResources }),
  );

  const plugins = [
    ...standardAdmission({ store, random, mirrors, authorizer }),
    ...(options.admission ?? []),
  ];
  const addresses = addressRange(serviceRange);
  const writing: Writing = {
    store,
    clock,
    random,
    turns: new Turns(),
    admission: new Admission(plugins),
    effects: new Map([["Service", serviceEffects({ ...shared, addresses })]]),
  };
  const loop = (name: string, manager: string): Objects =>
    new Objects({ ...writing, registry, name, manager });
  const own = new Objects({
    ...writing,
    effects: new Map([["Service", filledIn]]),
    registry,
    name: "apiserver",
    manager: "kube-apiserver",
  });
  const { simulatesWorkloads: hasNode } = options;
  await runBootstrap({ ...shared, objects: own, serviceRange, hasNode, patience }, signal);
  spawnLoops({ ...shared, ...options, scope, registry, mirrors, loop });

  const metrics = apiMetrics(options.metrics);
  scope.spawn("object counts", (within) =>
    runObjectCounts({ store, registry, metrics, clock }, within),
  );
  const codec = new ProtobufCodec(kinds);
  const streams = { streamTurns: new StreamTurns(), pool: new PiecePool() };
  const verbs: Verbs = { ...writing, kinds, codec, registry, authorizer, log, metrics, ...streams };
  const { apiServices } = mirrors;
  const unserved = undo.use(new UnservedVersions({ apiServices, registry }));
  const handler = handlerOf(options, { kinds, registry, unserved, mirrors, authorizer, verbs });
  const { audit } = options;
  const server = undo.use(
    new Server({
      handler,
      encodeFailure: failureEncoder(verbs.codec),
      clock,
      random,
      log,
      tls: options.tls,
      onFinished: finishedRequests({ metrics, registry, audit }),
    }),
  );
  const publish = async (port: number): Promise<void> => {
    const service = { ...shared, objects: own, range: serviceRange };
    const ensureService = (within: AbortSignal) => ensureOwnService(service, within);
    const address = new OwnAddress({ ...shared, objects: own, port, ensureService });
    await patience.of("our address", () => address.publish(signal), signal);
    scope.spawn("our address", (within) => address.run(within));
  };
  return { server, scope, registry, publish, undo: undo.move() };
}

interface HandlerParts {
  readonly kinds: BuiltinKinds;
  readonly registry: Registry;
  readonly unserved: UnservedVersions;
  readonly mirrors: Mirrors;
  readonly authorizer: RbacAuthorizer;
  readonly verbs: Verbs;
}

/** The life of a request, with everything that takes part in it. */
function handlerOf(options: ApiServerOptions, parts: HandlerParts): ApiHandler {
  const { store, clock, log } = options;
  const { requests, watches } = options.limits ?? {};
  const { kinds, registry, unserved, mirrors, authorizer, verbs } = parts;
  const boundObjects = storedBoundObjects(store, mirrors.serviceAccounts);
  const identity = options.identity({ objects: boundObjects });
  const { answerers, virtual } = specialAnswerers({
    kinds,
    registry,
    authorizer,
    identity,
    boundObjects,
    clock,
  });
  const discovery = new Discovery({ registry, unserved, serverAddress: () => "127.0.0.1" });
  const openApi = new OpenApi({ registry, kinds, clock });
  return new ApiHandler({
    authenticator: identity.authenticator,
    authorizer,
    impersonation: new Impersonation(authorizer),
    requests: new FairQueue({ clock, ...(requests === undefined ? {} : { limits: requests }) }),
    watches: new LongRunning(watches),
    paths: [
      healthPaths({
        live: [{ name: "ping", check: () => Promise.resolve() }],
        ready: [{ name: "database", check: (within) => store.ping(within) }],
        clock,
      }),
      unservedPaths(unserved),
      documentPaths([discovery, openApi]),
    ],
    dispatch: new ResourceDispatch({
      verbs,
      registry,
      unserved,
      subresources: answerers,
      virtual,
    }),
    encodeFailure: failureEncoder(verbs.codec),
    metrics: verbs.metrics,
    clock,
    log,
  });
}
