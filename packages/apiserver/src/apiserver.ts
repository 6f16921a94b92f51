// The API server, put together: what is served, who may, the loops that keep it in order.

import type { AddressInfo } from "node:net";
import type { SecureContextOptions } from "node:tls";

import { type Clock, type Log, type Metrics, type Random, TaskScope } from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec } from "@keelson/kube";
import { NotFound, type Selector, type Store } from "@keelson/store";

import { Admission } from "./admission/admission.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { priorityAdmission } from "./admission/priority.ts";
import { serviceAccountAdmission } from "./admission/service-account.ts";
import {
  defaultClasses,
  defaultTolerations,
  notReadyTaint,
  storageProtection,
} from "./admission/small-defaults.ts";
import { ApiHandler, type PathHandler } from "./api-handler.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { BoundObjects } from "./auth/bound-objects.ts";
import type { Authorizer } from "./auth/authorizer.ts";
import { RbacAuthorizer, rbacStoreKinds } from "./auth/rbac/rbac-authorizer.ts";
import type { RbacKind } from "./auth/rbac/rbac-rules.ts";
import type { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import type { TokenAuthenticator } from "./auth/token-authenticator.ts";
import { runBootstrap } from "./bootstrap/bootstrap.ts";
import { definitionKind, runDefinitions, serveDefinitions } from "./crds/definitions.ts";
import { Discovery } from "./discovery/discovery.ts";
import { documentPaths } from "./discovery/document-paths.ts";
import { healthPaths, type HealthCheck } from "./health.ts";
import { Server } from "./http/server.ts";
import { addressRange } from "./effects/address-range.ts";
import { serviceEffects } from "./effects/services.ts";
import { exclusively } from "./loops/exclusive.ts";
import { runGarbageCollector } from "./loops/garbage-collector.ts";
import { runNamespaceContents, runNamespaces } from "./loops/namespaces.ts";
import { Mirror } from "./mirror.ts";
import { Objects } from "./objects.ts";
import { OpenApi } from "./openapi/openapi.ts";
import { ResourceDispatch } from "./resource-dispatch.ts";
import { builtinResources } from "./resources/builtin-resource.ts";
import { customResources } from "./resources/custom-resource.ts";
import { Registry } from "./resources/registry.ts";
import type { Resource } from "./resources/resource.ts";
import { binding } from "./subresources/binding.ts";
import { eviction } from "./subresources/eviction.ts";
import { scale } from "./subresources/scale.ts";
import type { Verbs } from "./verbs/verb.ts";
import type { Writing } from "./writes/write-request.ts";

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
  /** Who callers are. Called once, before anything is served. */
  readonly identity: (parts: IdentityParts) => Identity;
  /** The certificate of our CA, PEM: every namespace holds it. */
  readonly rootCertificate: string;
  readonly tls: SecureContextOptions | undefined;
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
  readonly #server: Server;
  readonly #scope: TaskScope;
  readonly #undo: AsyncDisposableStack;

  /** Resolves when it can serve: the mirrors are there, what every cluster holds is there. */
  static async start(options: ApiServerOptions, signal: AbortSignal): Promise<ApiServer> {
    const parts = await build(options, signal);
    return new ApiServer(parts);
  }

  private constructor({ server, scope, registry, undo }: Parts) {
    this.#server = server;
    this.#scope = scope;
    this.#undo = undo;
    this.registry = registry;
  }

  async listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    return this.#server.listen(address);
  }

  /** Resolves never, or rejects with what no loop could survive. */
  join(): Promise<void> {
    return this.#scope.join();
  }

  /** Runs a task for as long as the server does. */
  spawn(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    this.#scope.spawn(name, task);
  }

  get server(): Server {
    return this.#server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

interface Parts {
  readonly server: Server;
  readonly scope: TaskScope;
  readonly registry: Registry;
  readonly undo: AsyncDisposableStack;
}

async function build(options: ApiServerOptions, signal: AbortSignal): Promise<Parts> {
  const { store, clock, random, log } = options;
  await using undo = new AsyncDisposableStack();
  const scope = undo.use(new TaskScope(signal));
  const mirrors: Mirror[] = [];
  const mirror = (kind: string, selector: Selector = {}): Mirror => {
    const made = new Mirror({ store, clock, random, log, kind, selector });
    scope.spawn(`mirror ${kind}`, (within) => made.run(within));
    mirrors.push(made);
    return made;
  };
  const namespaces = mirror("Namespace");
  const serviceAccounts = mirror("ServiceAccount");
  const rootConfigMaps = mirror("ConfigMap", {
    fields: [{ path: ["metadata", "name"], operator: "Equals", value: "kube-root-ca.crt" }],
  });
  const definitions = mirror(definitionKind);
  const priorityClasses = mirror("PriorityClass.scheduling.k8s.io");
  const storageClasses = mirror("StorageClass.storage.k8s.io");
  const ingressClasses = mirror("IngressClass.networking.k8s.io");
  const rbac = (kind: RbacKind): Mirror => mirror(rbacStoreKinds[kind]);
  const authorizer: Authorizer = undo.use(
    new RbacAuthorizer({
      Role: rbac("Role"),
      RoleBinding: rbac("RoleBinding"),
      ClusterRole: rbac("ClusterRole"),
      ClusterRoleBinding: rbac("ClusterRoleBinding"),
    }),
  );
  const identity = options.identity({ objects: boundObjects(store, serviceAccounts) });
  const kinds = await loadBuiltinKinds();
  const registry = new Registry();
  registry.put("built-in", builtinResources(kinds));
  registry.put("own", options.resources ?? []);
  await Promise.all(mirrors.map(async (one) => await one.ready));
  undo.use(serveDefinitions({ definitions, registry, resourcesOf: customResources }));

  const admission = new Admission([
    namespaceLifecycle({ store, namespaces }),
    serviceAccountAdmission({ store, serviceAccounts, random }),
    notReadyTaint,
    priorityAdmission({ classes: priorityClasses }),
    defaultTolerations,
    defaultClasses({ storageClasses, ingressClasses }),
    storageProtection,
  ]);
  const addresses = addressRange(serviceRange);
  const effects = new Map([["Service", serviceEffects({ store, clock, random, log, addresses })]]);
  const writing: Writing = { store, admission, effects, clock, random };
  const verbs: Verbs = { ...writing, codec: new ProtobufCodec(kinds), authorizer, log };
  const loop = (name: string): Objects => new Objects({ ...writing, registry, name });
  await runBootstrap({ objects: loop("keelson-bootstrap") }, signal);

  const shared = { registry, clock, random, log };
  const once = (name: string, work: (within: AbortSignal) => Promise<void>): void => {
    scope.spawn(name, (within) => exclusively({ store, clock, random, log, name }, work, within));
  };
  once("definitions", (within) =>
    runDefinitions({ ...shared, definitions, objects: loop("definition-controller") }, within),
  );
  once("namespaces", (within) =>
    runNamespaces({ ...shared, namespaces, objects: loop("namespace-controller") }, within),
  );
  once("namespace contents", (within) =>
    runNamespaceContents(
      {
        namespaces,
        serviceAccounts,
        configMaps: rootConfigMaps,
        objects: loop("namespace-contents"),
        rootCertificate: () => options.rootCertificate,
        clock,
        random,
        log,
      },
      within,
    ),
  );
  once("garbage collector", (within) =>
    runGarbageCollector({ ...shared, store, objects: loop("garbage-collector") }, within),
  );

  const database: HealthCheck = { name: "database", check: (within) => store.ping(within) };
  const live: HealthCheck = { name: "ping", check: () => Promise.resolve() };
  let address = "";
  const discovery = new Discovery({ registry, serverAddress: () => address });
  const openApi = new OpenApi({ registry, kinds, clock });
  const paths: readonly PathHandler[] = [
    healthPaths({ live: [live], ready: [database], clock }),
    documentPaths([discovery, openApi]),
  ];
  const dispatch = new ResourceDispatch({
    verbs,
    registry,
    subresources: new Map([
      ["*/scale", scale],
      ["pods/binding", binding],
      ["pods/eviction", eviction(registry)],
    ]),
    virtual: new Map(),
  });
  const handler = new ApiHandler({
    authenticator: identity.authenticator,
    authorizer,
    impersonate: (user) => user,
    admit: () => ({ [Symbol.dispose]: () => undefined }),
    paths,
    dispatch,
    clock,
    log,
  });
  const server = undo.use(
    new Server({ handler, clock, random, log, tls: options.tls, onFinished: () => undefined }),
  );
  address = "127.0.0.1";
  return { server, scope, registry, undo: undo.move() };
}

/** What tokens are bound to: accounts from memory, the rest as it is stored now. */
function boundObjects(store: Store, serviceAccounts: Mirror): BoundObjects {
  return {
    find: ({ kind, namespace, name }, signal) => {
      const mirrored = kind === "ServiceAccount" ? serviceAccounts.get(namespace, name) : undefined;
      if (mirrored !== undefined) return mirrored.object;
      return store.get({ kind, namespace, name }, signal).then(
        ({ body }) => body.value,
        (error: unknown) => {
          if (error instanceof NotFound) return undefined;
          throw error;
        },
      );
    },
  };
}
