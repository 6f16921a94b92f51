// The API server behind a host cluster: only kinds of ours, and the host says who callers are, what they may do and which
// namespaces there are. Garbage collection and the deletion of namespaces are the host's too.

import {
  listenerUrl,
  TaskScope,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec } from "@keelson/kube";
import type { Store } from "@keelson/store";

import { Admission, type AdmissionPlugin } from "../admission/admission.ts";
import { namespaceLifecycle } from "../admission/namespace-lifecycle.ts";
import { ApiHandler } from "../api-handler.ts";
import type { Audit } from "../audit.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { certificateAuthenticator } from "../auth/client-certificates.ts";
import { Impersonation } from "../auth/impersonation.ts";
import { CertificateFiles } from "../auth/pki/certificate-files.ts";
import { servingOptions } from "../auth/pki/serving.ts";
import { openPki, pkiPaths, renewPki } from "../auth/pki/standalone-pki.ts";
import { requestHeaderAuthenticator } from "../auth/request-header.ts";
import { bearerAuthenticator } from "../auth/token-authenticator.ts";
import { unionAuthenticator } from "../auth/union.ts";
import { Discovery } from "../discovery/discovery.ts";
import { documentPaths } from "../discovery/document-paths.ts";
import { PiecePool } from "../encoding/byte-pieces.ts";
import { failureEncoder } from "../encoding/failure-answer.ts";
import { finishedRequests } from "../finished-requests.ts";
import { healthPaths } from "../health.ts";
import { Server } from "../http/server.ts";
import { StreamTurns } from "../http/stream-turns.ts";
import { FairQueue } from "../limits/fair-queue.ts";
import { LongRunning } from "../limits/long-running.ts";
import { apiMetrics } from "../metrics.ts";
import { OpenApi } from "../openapi/openapi.ts";
import { ResourceDispatch } from "../resource-dispatch.ts";
import { runObjectCounts } from "../object-counts.ts";
import { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";
import type { Verbs } from "../verbs/verb.ts";
import { Turns } from "../writes/turns.ts";
import { versionAvailability } from "./availability.ts";
import { delegatedAuthorizer } from "./delegated-authorizer.ts";
import { delegatedTokens } from "./delegated-tokens.ts";
import type { Host } from "./host.ts";
import { HostTrust } from "./host-trust.ts";

/** How long the host has to take its connections elsewhere when we stop. */
const leaveMs = 2_000;

/** The name by which the host reaches us, unless certificates are given: that of the chart's Service. */
const serviceHost = "ark-apiserver.ark-system.svc";

export interface AggregatedOptions {
  /** Belongs to the caller, and outlives the server. */
  readonly store: Store;
  /** The cluster; belongs to the caller too. */
  readonly cluster: Host;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What is served. */
  readonly resources: readonly Resource[];
  /** Rules besides those of the namespaces, in their order. */
  readonly admission?: readonly AdmissionPlugin[];
  /** Told of every finished request. */
  readonly audit?: Audit;
  readonly host: string;
  readonly port: number;
  /** Where certificate and key are kept, and made if there are none. */
  readonly certDir: string;
  /** A certificate to show instead. */
  readonly servingFiles: { readonly certificate: string; readonly key: string } | undefined;
  /** Authorities that may vouch for clients besides the host's. */
  readonly clientAuthorityFile: string | undefined;
  /** Whether callers without credentials are let in, as `system:anonymous`; else they hear 401, whatever they ask for. */
  readonly allowsAnonymous: boolean;
}

/** A listening server. Disposing of it ends watches and finishes requests. */
export class AggregatedServer implements AsyncDisposable {
  readonly server: Server;
  /** `https://127.0.0.1:6443`. */
  readonly url: string;
  readonly #scope: TaskScope;
  readonly #undo: AsyncDisposableStack;

  private constructor(parts: {
    readonly server: Server;
    readonly scope: TaskScope;
    readonly url: string;
    readonly undo: AsyncDisposableStack;
  }) {
    this.server = parts.server;
    this.url = parts.url;
    this.#scope = parts.scope;
    this.#undo = parts.undo;
  }

  /** Throws `BadHostTrust`, `CertificateFileError`, or what listening throws. */
  static async start(options: AggregatedOptions, signal: AbortSignal): Promise<AggregatedServer> {
    const { cluster, log, host, port } = options;
    await using undo = new AsyncDisposableStack();
    const scope = undo.use(new TaskScope(signal));
    const trust = new HostTrust({ host: cluster, log });
    const files = await openFiles(options, scope);
    const server = undo.use(await buildServer(options, { trust, files, scope }));
    undo.use(files.onChange((loaded) => server.useCertificates(servingOptions(loaded))));
    scope.spawn("certificates", (within) => files.run(within));
    const url = listenerUrl("https", await server.listen({ host, port }));
    return new AggregatedServer({ server, scope, url, undo: undo.move() });
  }

  /** Resolves never, or rejects with what it could not survive. */
  join(): Promise<void> {
    return this.#scope.join();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

/** The certificate that we show, and who may vouch for clients besides the host. Made if none is given. */
async function openFiles(options: AggregatedOptions, scope: TaskScope): Promise<CertificateFiles> {
  const { clock, random, log, certDir, servingFiles, clientAuthorityFile } = options;
  if (servingFiles === undefined) {
    const pkiOptions = { folder: certDir, hosts: [serviceHost], clock, random, log };
    const pki = await openPki(pkiOptions);
    scope.spawn("renewal", (within) =>
      renewPki(pkiOptions, { pki, renewed: () => undefined }, within),
    );
  }
  return CertificateFiles.open({
    paths: {
      ...(servingFiles ?? pkiPaths(certDir).serving),
      clientAuthorities: clientAuthorityFile === undefined ? [] : [clientAuthorityFile],
    },
    clock,
    log,
  });
}

interface Given {
  readonly trust: HostTrust;
  readonly files: CertificateFiles;
  readonly scope: TaskScope;
}

async function buildServer(options: AggregatedOptions, given: Given): Promise<Server> {
  const { store, cluster, clock, random, log, audit } = options;
  const kinds = await loadBuiltinKinds();
  const registry = new Registry();
  registry.put("own", options.resources);
  const authorizer = delegatedAuthorizer({ host: cluster, clock });
  const metrics = apiMetrics(options.metrics);
  given.scope.spawn("object counts", (within) =>
    runObjectCounts({ store, registry, metrics, clock }, within),
  );
  const codec = new ProtobufCodec(kinds);
  const encodeFailure = failureEncoder(codec);
  const plugins = [namespaceLifecycle(cluster.namespaces), ...(options.admission ?? [])];
  const verbs: Verbs = {
    store,
    clock,
    random,
    turns: new Turns(),
    admission: new Admission(plugins),
    effects: new Map(),
    kinds,
    codec,
    registry,
    authorizer,
    log,
    metrics,
    streamTurns: new StreamTurns(),
    pool: new PiecePool(),
  };
  const handler = new ApiHandler({
    authenticator: authenticatorOf(options, given),
    authorizer,
    impersonation: new Impersonation(authorizer),
    requests: new FairQueue({ clock }),
    watches: new LongRunning(),
    paths: [
      healthPaths({
        live: [{ name: "ping", check: () => Promise.resolve() }],
        ready: [
          { name: "database", check: (within) => store.ping(within) },
          { name: "host", check: (within) => cluster.ping(within) },
        ],
        clock,
      }),
      versionAvailability({ store, clock }),
      documentPaths([
        new Discovery({ registry, serverAddress: () => "" }),
        new OpenApi({ registry, kinds, clock }),
      ]),
    ],
    dispatch: new ResourceDispatch({
      verbs,
      registry,
      subresources: new Map(),
      virtual: new Map(),
    }),
    encodeFailure,
    metrics,
    clock,
    log,
  });
  return new Server({
    handler,
    encodeFailure,
    clock,
    random,
    log,
    tls: servingOptions(given.files.current),
    onFinished: finishedRequests({ metrics, registry, audit }),
    userHeaders: () => given.trust.current.names.user,
    // So the host calls a Service; whoever is beside us has other names for us.
    proxies: { isName: (servername) => servername.endsWith(".svc"), leaveMs },
  });
}

/** Who callers are: by the front proxy, by certificate, by token; all as the host has it. */
function authenticatorOf(options: AggregatedOptions, { trust, files }: Given): Authenticator {
  const { clock, log, cluster, clientAuthorityFile } = options;
  const ofFile = certificateAuthenticator({
    clock,
    authorities: () => files.current.clientAuthorities,
  });
  return unionAuthenticator({
    authenticators: [
      requestHeaderAuthenticator({
        clock,
        authorities: () => trust.current.frontProxies,
        names: () => trust.current.names,
      }),
      certificateAuthenticator({ clock, authorities: () => trust.current.clientAuthorities }),
      ...(clientAuthorityFile === undefined ? [] : [ofFile]),
      bearerAuthenticator(delegatedTokens({ host: cluster, clock }), []),
    ],
    allowsAnonymous: options.allowsAnonymous,
    log,
  });
}
