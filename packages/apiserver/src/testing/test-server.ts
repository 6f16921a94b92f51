import type { SecureContextOptions } from "node:tls";

import {
  noMetrics,
  silentLog,
  systemClock,
  systemRandom,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
import { SqliteBackend, Store } from "@keelson/store";

import type { AdmissionPlugin } from "../admission/admission.ts";
import { ApiServer, type RunningLimits } from "../apiserver.ts";
import type { Audit } from "../audit.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { mastersGroup } from "../auth/user.ts";
import type { Resource } from "../resources/resource.ts";

export interface TestServerOptions {
  /** Belongs to the caller; one in memory unless told. */
  readonly store?: Store;
  readonly resources?: readonly Resource[];
  readonly admission?: readonly AdmissionPlugin[];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** Those of the server; the store has its own. */
  readonly metrics?: Metrics;
  /** Everybody is in `system:masters` unless told. */
  readonly authenticator?: Authenticator;
  /** Without, it speaks plain HTTP/1.1. */
  readonly tls?: SecureContextOptions;
  readonly audit?: Audit;
  /** Not unless told. */
  readonly simulatesWorkloads?: boolean;
  /** As a server of its own has it, unless told. */
  readonly startPatienceMs?: number;
  /** As a server of its own has them, unless told. */
  readonly limits?: RunningLimits;
  /** 0 unless told: any that is free. */
  readonly port?: number;
}

export interface TestServer extends AsyncDisposable {
  readonly api: ApiServer;
  readonly store: Store;
  /** `http://127.0.0.1:…`, or `https` with certificates. */
  readonly url: string;
}

const master: Authenticator = {
  authenticate: () => ({
    user: { name: "tester", uid: "", groups: [mastersGroup, "system:authenticated"], extra: {} },
  }),
};

/** Starts a server on loopback; disposing of the answer stops it, and the store if it is the server's own. */
export async function startTestServer(
  options: TestServerOptions,
  signal: AbortSignal,
): Promise<TestServer> {
  const { clock = systemClock, log = silentLog, authenticator = master } = options;
  await using undo = new AsyncDisposableStack();
  const store =
    options.store ??
    undo.use(
      await Store.open(
        { backend: new SqliteBackend({ path: ":memory:", clock }), clock, log },
        signal,
      ),
    );
  const api = undo.use(
    await ApiServer.start(
      {
        store,
        clock,
        log,
        random: options.random ?? systemRandom,
        metrics: options.metrics ?? noMetrics,
        resources: options.resources ?? [],
        admission: options.admission ?? [],
        identity: () => ({ authenticator }),
        rootCertificate: "",
        tls: options.tls,
        ...(options.audit === undefined ? {} : { audit: options.audit }),
        simulatesWorkloads: options.simulatesWorkloads ?? false,
        ...(options.startPatienceMs === undefined
          ? {}
          : { startPatienceMs: options.startPatienceMs }),
        ...(options.limits === undefined ? {} : { limits: options.limits }),
      },
      signal,
    ),
  );
  const { port } = await api.listen({ host: "127.0.0.1", port: options.port ?? 0 });
  const disposal = undo.move();
  return {
    api,
    store,
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}
