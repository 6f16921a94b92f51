// A real cluster as host, our server behind it, and everything that the two need to know of each other.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { sharedThrowawayPostgres } from "@keelson/database/testing";

import type { Driver } from "../apiserver/ours.ts";
import { CertificateAuthority, type KeyPair } from "../tools/certificates.ts";
import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { startOracle, type Oracle, type OracleOptions } from "../oracle/cluster.ts";
import { findFreePorts } from "../tools/ports.ts";
import { until } from "../tools/until.ts";
import { group, hostObjects, namespace, service, versions } from "./host-objects.ts";
import { Replica } from "./replica.ts";

/** How long the host has for a look at us, at first. */
const nudgeMsMin = 500;

export interface BedOptions {
  readonly driver: Driver;
  readonly databaseUrl?: string | undefined;
  readonly oracle?: OracleOptions;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the server listens; any free port unless told. */
  readonly port?: number;
  /** Where the host looks for it; there unless told. */
  readonly hostPort?: number;
}

/** Starts both, registers ours with the host, and waits until the host says that it is available. */
export async function startBed(options: BedOptions, signal: AbortSignal): Promise<Bed> {
  await using undo = new AsyncDisposableStack();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-bed-")));
  undo.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const oracle = undo.use(await startHost(options.oracle ?? {}, signal));
  let { databaseUrl } = options;
  if (options.driver === "postgresql" && databaseUrl === undefined) {
    const server = await sharedThrowawayPostgres("embedded");
    databaseUrl = undo.use(await server.createDatabase()).url;
  }
  const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
  const { hostPort = port } = options;
  const bed = new Bed({
    oracle,
    folder,
    port: hostPort,
    ca: await CertificateAuthority.create("ark-ca"),
  });
  await bed.prepare(signal);
  const replica = undo.use(await bed.newReplica({ ...options, databaseUrl, port }));
  if (options.driver === "postgresql") await replica.migrate(signal);
  await replica.start(signal);
  bed.replica = replica;
  await bed.untilAvailable(signal);
  bed.owns(undo.move());
  return bed;
}

/** A host that calls services by their names, as §4.4 has it on one machine. */
export async function startHost(options: OracleOptions, signal: AbortSignal): Promise<Oracle> {
  const { "kube-apiserver": given = [], ...others } = options.flags ?? {};
  const flags = { ...others, "kube-apiserver": ["--enable-aggregator-routing=false", ...given] };
  return await startOracle({ ...options, flags }, signal);
}

interface BedParts {
  readonly oracle: Oracle;
  readonly folder: string;
  /** Where the host looks for us. */
  readonly port: number;
  readonly ca: CertificateAuthority;
}

export class Bed implements AsyncDisposable {
  readonly oracle: Oracle;
  readonly folder: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly kubeconfig: string;
  readonly #ca: CertificateAuthority;
  readonly #port: number;
  #replica: Replica | undefined;
  #owned: AsyncDisposableStack | undefined;

  constructor({ oracle, folder, port, ca }: BedParts) {
    this.oracle = oracle;
    this.folder = folder;
    this.#port = port;
    this.#ca = ca;
    this.certificateFile = join(folder, "tls.crt");
    this.keyFile = join(folder, "tls.key");
    this.kubeconfig = join(folder, "host.kubeconfig");
  }

  get replica(): Replica {
    if (this.#replica === undefined) throw new Error("there is no replica yet");
    return this.#replica;
  }

  set replica(replica: Replica) {
    this.#replica = replica;
  }

  get caBundle(): string {
    return this.#ca.certificate;
  }

  /** Certificates, our identity at the host with what the chart grants it, Service and APIServices. */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.writeServingCertificate();
    const pair = await this.oracle.issue({ name: `system:serviceaccount:${namespace}:${service}` });
    const { url, ca } = this.oracle;
    writeFileSync(this.kubeconfig, kubeconfigFor({ url, ca, ...pair }), { mode: 0o600 });
    const objects = hostObjects({ port: this.#port, caBundle: this.caBundle });
    for (const { path, body } of objects) {
      const answer = await this.oracle.client.send({ method: "POST", path, body }, signal);
      if (answer.status !== 201) throw new Error(`${path} answered ${answer.text}`);
    }
  }

  /** A new certificate of the same authority, where the server reads it. */
  async writeServingCertificate(): Promise<void> {
    const hosts = [`${service}.${namespace}.svc`, "localhost", "127.0.0.1"];
    const { certificate, key } = await this.#ca.issue({ name: service, hosts });
    writeFileSync(this.certificateFile, certificate, { mode: 0o600 });
    writeFileSync(this.keyFile, key, { mode: 0o600 });
  }

  async newReplica(options: BedOptions): Promise<Replica> {
    const { certificateFile, keyFile, kubeconfig } = this;
    const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
    return new Replica({
      ...options,
      certificateFile,
      keyFile,
      kubeconfig,
      ca: this.caBundle,
      port,
    });
  }

  /** What the host says of each of our APIServices: `True`, or why not. */
  async availability(signal: AbortSignal): Promise<readonly string[]> {
    const all: string[] = [];
    for (const { version } of versions) {
      const path = `/apis/apiregistration.k8s.io/v1/apiservices/${version}.ark.mckinsey.com`;
      const { body } = await this.oracle.client.send({ path }, signal);
      const { status } = body as { status?: { conditions?: readonly Condition[] } };
      const found = status?.conditions?.find(({ type }) => type === "Available");
      all.push(found?.status === "True" ? "True" : (found?.reason ?? "unknown"));
    }
    return all;
  }

  /** Resolves when the host says this of all our APIServices; it is made to look, and not within a minute. */
  async untilAvailability(wanted: string, signal: AbortSignal): Promise<void> {
    let [nextMs, pauseMs] = [performance.now(), nudgeMsMin];
    await until(async () => {
      // Not while it looks: it could not write what it found, and would wait before it looks again. How long it looks it alone knows.
      if (performance.now() >= nextMs) {
        await this.#nudge(signal);
        nextMs = performance.now() + pauseMs;
        pauseMs *= 2;
      }
      return (await this.availability(signal)).every((one) => one === wanted);
    }, signal);
  }

  async #nudge(signal: AbortSignal): Promise<void> {
    for (const { version } of versions) {
      const path = `/apis/apiregistration.k8s.io/v1/apiservices/${version}.${group}`;
      const body = { metadata: { annotations: { nudged: String(performance.now()) } } };
      const headers = { "content-type": "application/merge-patch+json" };
      await this.oracle.client.send({ method: "PATCH", path, body, headers }, signal);
    }
  }

  /** And known to its discovery, which reads our documents a moment later. */
  async untilAvailable(signal: AbortSignal): Promise<void> {
    await until(
      async () => (await this.availability(signal)).every((one) => one === "True"),
      signal,
    );
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    await until(async () => {
      const request = { path: "/apis", headers: { accept } };
      const { body } = await this.oracle.client.send(request, signal);
      const { items } = body as Groups;
      const ours = items.find(({ metadata }) => metadata.name === "ark.mckinsey.com");
      const known = ours?.versions.filter(({ resources = [] }) => resources.length > 0) ?? [];
      return known.length === versions.length;
    }, signal);
  }

  /** A client certificate that only the host's front proxy could have. */
  async frontProxy(name = "front-proxy-client"): Promise<KeyPair> {
    return await this.oracle.frontProxyAuthority.issue({ name });
  }

  owns(owned: AsyncDisposableStack): void {
    this.#owned = owned;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.disposeAsync();
  }
}

interface Groups {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly { readonly resources?: readonly object[] }[];
  }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}
